/** Which Hosts are asked again for what they have and signed, and when. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { askAgain } from '../../../src/app/follow/ask-again.ts'
import type { Link } from '../../../src/app/follow/link-state.ts'
import { linkOf, otherView, type Room, roomOf, view, welcomed } from '../support/link-room.ts'

interface Asking {
  readonly room: Room
  readonly link: Link
  /** Checks so long after the stream was opened; true where the Host is asked again, by another stream. */
  check(afterMs: number): boolean
}

/** A Host that has `view`, whose stream is open, and that has it up to height 9. */
function openAsking(t: TestContext, views: readonly string[] = [view]): Asking {
  const openedMs = 1_000_000
  let nowMs = openedMs
  t.mock.method(performance, 'now', () => nowMs)
  const room = roomOf(['A'], { views })
  const link = linkOf(room, 'A')
  Object.assign(link, { openedMs, head: 9, views: new Map([[view, welcomed(view)]]) })
  return {
    room,
    link,
    check: (afterMs) => {
      nowMs = openedMs + afterMs
      link.changingRole = new AbortController()
      askAgain(room.links)
      return link.changingRole.signal.aborted
    },
  }
}

test('a Host whose signature a block lacks is asked again after ten seconds', (t) => {
  const { room, link, check } = openAsking(t)
  assert.equal(check(1_000_000), false, 'nothing lacks its signature')
  room.unheard(link, 9)
  assert.deepEqual([check(9_999), check(10_000)], [false, true])
  const two = openAsking(t, [otherView, view])
  two.link.views = new Map([view, otherView].map((each) => [each, welcomed(each)]))
  two.room.unheard(two.link, 9)
  assert.deepEqual([two.check(9_999), two.check(10_000)], [false, true], 'of one of two Views')
})

test('a Host that is asked in vain is asked after twice the time, up to 32 times as long', (t) => {
  const { room, link, check } = openAsking(t)
  room.unheard(link, 9)
  for (const seconds of [10, 20, 40, 80, 160, 320, 320])
    assert.deepEqual([check(seconds * 1_000 - 1), check(seconds * 1_000)], [false, true])
  room.unheard(link, null)
  assert.equal(check(400_000), false)
  room.unheard(link, 9)
  assert.deepEqual([check(9_999), check(10_000)], [false, true])
})

test('a Host is not asked for the signature of a block that it does not have yet', (t) => {
  const { room, link, check } = openAsking(t)
  room.unheard(link, 10)
  assert.equal(check(1_000_000), false)
  link.head = 10
  assert.equal(check(1_000_000), true)
  link.head = null
  room.unheard(link, 0)
  assert.equal(check(1_000_000), false)
})

test('a Host that is away, unknown, or has not the View is not asked for its signature', (t) => {
  for (const change of [{ isOpen: false }, { identity: null }, { views: new Map() }]) {
    const { room, link, check } = openAsking(t)
    room.links.feeding.set(view, { link, stored: { number: 0, sinceMs: 0 }, late: null, due: -1 })
    room.unheard(link, 9)
    Object.assign(link, change)
    assert.equal(check(1_000_000), false, JSON.stringify(change))
  }
})

test('a Host without a View is asked again after half a minute, unless another one feeds it', (t) => {
  const { room, link, check } = openAsking(t, [view, otherView])
  assert.deepEqual([check(29_999), check(30_000)], [false, true])
  const place = { link, stored: { number: 0, sinceMs: 0 }, late: null, due: -1 }
  room.links.feeding.set(otherView, place)
  assert.equal(check(1_000_000), false)
  room.links.feeding.delete(otherView)
  link.views = new Map([view, otherView].map((each) => [each, welcomed(each)]))
  assert.equal(check(1_000_000), false, 'it has both')
})
