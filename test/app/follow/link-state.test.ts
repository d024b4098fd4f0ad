/** What an application keeps of a Host when it greets, and when its stream ends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StreamEnd } from '../../../src/app/follow/host-stream.ts'
import { createLink, type Link, noteEnd, noteWelcome } from '../../../src/app/follow/link-state.ts'
import { otherView, view, welcomed } from '../support/link-room.ts'
import { clockOf } from '../support/test-clock.ts'

test('of a peer that was not reached yet nothing is known', () => {
  const { changingRole, ...link } = createLink('a peer')
  assert.equal(changingRole.signal.aborted, false)
  assert.deepEqual(link, {
    ...{ peer: 'a peer', identity: null, isOpen: false, head: null, views: new Map() },
    ...{ error: null, isRefused: false, failures: 0, hadProgress: false, floor: 0 },
    ...{ sinceMs: null, openedMs: 0, fed: new Set(), unheardAsks: 0 },
    ...{ avoidedUntilMs: new Map(), rates: new Map() },
  })
})

test('a welcome says which Host it is and how it has the Views, and what was wrong is over', (t) => {
  clockOf(t, 7_000)
  const link = { ...createLink('a peer'), error: 'it was away', isRefused: true }
  const views = [welcomed(view, { head: 5 }), welcomed(otherView, { head: null })]
  noteWelcome(link, { identity: 'a Host', genesis: null, views })
  assert.deepEqual(link, {
    ...createLink('a peer'),
    ...{ changingRole: link.changingRole, identity: 'a Host', isOpen: true, head: 5 },
    ...{ openedMs: 7_000, sinceMs: 7_000 },
    views: new Map(views.map((each) => [each.view, each])),
  })
})

test('a Host is followed since the first of its streams that follow each other', (t) => {
  const { pass } = clockOf(t, 1_000)
  const link = createLink('a peer')
  const welcome = { identity: 'a Host', genesis: null, views: [] }
  noteWelcome(link, welcome)
  pass(1_000)
  noteWelcome(link, welcome)
  assert.deepEqual([link.sinceMs, link.openedMs], [1_000, 2_000])
})

test('the head of a Host is the highest of its Views, and null before the first block', () => {
  const headOf = (...heads: (number | null)[]): number | null => {
    const link = createLink('a peer')
    const views = heads.map((head, index) => welcomed(`${index}`, { head }))
    noteWelcome(link, { identity: 'a Host', genesis: null, views })
    return link.head
  }
  assert.deepEqual(
    [headOf(), headOf(null), headOf(null, 0), headOf(3, 7, null), headOf(7, 3)],
    [null, null, 0, 7, 7],
  )
})

const end = (error: StreamEnd['error'], tail: number | null = null): StreamEnd => ({
  ...{ kind: 'error', error, tail },
})

/** What the end of a stream leaves of a Host. */
function ended(last: StreamEnd, given: Partial<Link> = {}): readonly unknown[] {
  const link = { ...createLink('a peer'), failures: 3, ...given }
  const isSoon = noteEnd(link, last)
  return [isSoon ? 'at once' : 'later', link.failures, link.floor]
}

test('why a stream ended is said in a sentence', () => {
  const texts = (['busy', 'unknown', 'pruned', 'slow', 'unavailable'] as const).map((error) => {
    const link = createLink('a peer')
    noteEnd(link, end(error))
    return link.error
  })
  assert.deepEqual(texts, [
    'The Host serves as many applications as it can.',
    'The Host has none of the Views, or computes their rows for each query.',
    'The Host no longer has what comes next; what it has is followed.',
    'The Host ended the stream, since this application read too slowly.',
    'The Host is stopping.',
  ])
})

test('a Host that pruned what comes next is asked above that at once, and again after progress', () => {
  assert.deepEqual(ended(end('pruned', 7)), ['at once', 3, 7])
  assert.deepEqual(ended(end('pruned', 7), { floor: 5 }), ['later', 4, 7])
  assert.deepEqual(ended(end('pruned', 7), { floor: 5, hadProgress: true }), ['at once', 3, 7])
})

test('a Host that names no height above the one that it named before is asked later', () => {
  const hadProgress = true
  for (const tail of [7, 6, null])
    assert.deepEqual(ended(end('pruned', tail), { floor: 7, hadProgress }), ['later', 4, 7])
  assert.deepEqual(ended(end('pruned', 0), { hadProgress }), ['later', 4, 0])
})

test('a Host that found the application slow is asked at once where something of use had come', () => {
  assert.deepEqual(ended(end('slow', 9), { hadProgress: true }), ['at once', 3, 0])
  assert.deepEqual(ended(end('slow')), ['later', 4, 0])
})

test('a Host that is busy, stopping, or has none of the Views is asked later', () => {
  for (const error of ['busy', 'unknown', 'unavailable'] as const)
    assert.deepEqual(ended(end(error, 9), { hadProgress: true }), ['later', 4, 0])
})
