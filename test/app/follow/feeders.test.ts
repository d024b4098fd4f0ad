/** Which Host feeds which View, and when another one takes its place. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkFeeders,
  fedBy,
  fillPlaces,
  keepServed,
  leavePlaces,
  takePlaces,
} from '../../../src/app/follow/feeders.ts'
import { linkOf, otherView as other, roomOf, view, welcomed } from '../support/link-room.ts'
import { clockOf } from '../support/test-clock.ts'

test('the first Host that is reached feeds every View that it may have and that is known', () => {
  const room = roomOf(['A'], { views: [view, other, 'unknown', 'not served'] })
  const a = linkOf(room, 'A')
  Object.assign(a, {
    isOpen: false,
    views: new Map([['not served', welcomed('', { state: 'unknown' })]]),
  })
  room.progress('unknown', { isKnown: false })
  takePlaces(room.links, a)
  assert.deepEqual(fedBy(room.links, a), new Set([view, other]))
})

test('a Host that is reached takes no place that another one has, or can have', () => {
  const room = roomOf(['A', 'B'], { views: [view, other] })
  const [a, b] = [linkOf(room, 'A'), linkOf(room, 'B')]
  a.views = new Map([[view, welcomed(view)]])
  b.isOpen = false
  takePlaces(room.links, b)
  assert.deepEqual([room.feeder(view), room.feeder(other)], [undefined, 'B'])
  a.views = new Map()
  takePlaces(room.links, a)
  assert.equal(room.feeder(other), 'B')
})

test('a Host leaves its places when it is gone, and those of Views that it does not have', () => {
  const room = roomOf(['A'], { views: [view, other] })
  const a = linkOf(room, 'A')
  fillPlaces(room.links)
  assert.deepEqual([room.feeder(view), room.feeder(other)], ['A', 'A'])
  a.views = new Map([[view, welcomed(view)]])
  keepServed(room.links, a)
  assert.deepEqual([room.feeder(view), room.feeder(other)], ['A', undefined])
  a.views = new Map([[view, welcomed(view, { state: 'unknown' })]])
  keepServed(room.links, a)
  assert.equal(room.feeder(view), undefined)
  a.views = new Map([[view, welcomed(view)]])
  fillPlaces(room.links)
  leavePlaces(room.links, a)
  assert.equal(room.feeder(view), undefined)
})

test('of the Hosts in reach the one that begins lowest feeds, then the fastest', () => {
  const room = roomOf(['away', 'none', 'high', 'slow', 'fast'])
  linkOf(room, 'away').isOpen = false
  linkOf(room, 'none').views = new Map([[view, welcomed(view, { state: 'unknown' })]])
  linkOf(room, 'high').views = new Map([[view, welcomed(view, { tail: 9 })]])
  linkOf(room, 'slow').rates.set(view, { rate: 0.5, atMs: performance.now() })
  for (const best of ['fast', 'slow', 'high']) {
    fillPlaces(room.links)
    assert.equal(room.feeder(), best)
    linkOf(room, best).isOpen = false
    leavePlaces(room.links, linkOf(room, best))
  }
  fillPlaces(room.links)
  assert.equal(room.feeder(), undefined)
})

test('where a Host begins does not count below what is stored', () => {
  const room = roomOf(['low', 'high', 'above'])
  for (const [name, tail] of [
    ['high', 9],
    ['above', 10],
  ] as const) {
    const link = linkOf(room, name)
    link.views = new Map([[view, welcomed(view, { tail })]])
    link.rates.set(view, { rate: 5 * tail, atMs: performance.now() })
  }
  room.progress(view, { stored: 8 })
  fillPlaces(room.links)
  assert.equal(room.feeder(), 'high')
})

test('a stream ends when its Host feeds other Views than it brings', () => {
  const room = roomOf(['A', 'B'])
  const [a, b] = [linkOf(room, 'A'), linkOf(room, 'B')]
  a.fed = new Set([view])
  fillPlaces(room.links)
  assert.deepEqual(
    [a, b].map(({ changingRole }) => changingRole.signal.aborted),
    [false, false],
  )
  a.fed = new Set([other])
  b.fed = new Set([view])
  fillPlaces(room.links)
  assert.deepEqual(
    [a, b].map(({ changingRole }) => changingRole.signal.aborted),
    [true, true],
  )
})

test('a stream that has not begun is not ended, whatever its Host will feed', () => {
  const room = roomOf(['A', 'B'])
  const b = linkOf(room, 'B')
  Object.assign(b, { isOpen: false, fed: new Set([view]) })
  fillPlaces(room.links)
  assert.deepEqual([room.feeder(), b.changingRole.signal.aborted], ['A', false])
})

test('nothing is fed any more once it is closed', () => {
  const room = roomOf(['A'])
  room.links.closing.abort()
  fillPlaces(room.links)
  assert.equal(room.feeder(), undefined)
})

test('a Host that sends other rows than another one in reach signed is replaced, and avoided', () => {
  const room = roomOf(['A', 'B'])
  fillPlaces(room.links)
  room.progress(view, { differing: ['A', 'a stranger'] })
  checkFeeders(room.links)
  assert.equal(room.feeder(), 'A', 'its own word is not that of another one')
  room.progress(view, { differing: ['B'] })
  checkFeeders(room.links)
  room.progress(view, { differing: [] })
  assert.equal(room.feeder(), 'B')
  leavePlaces(room.links, linkOf(room, 'B'))
  takePlaces(room.links, linkOf(room, 'A'))
  assert.equal(room.feeder(), undefined)
  fillPlaces(room.links)
  assert.equal(room.feeder(), 'B')
  linkOf(room, 'B').isOpen = false
  leavePlaces(room.links, linkOf(room, 'B'))
  fillPlaces(room.links)
  assert.equal(room.feeder(), 'A', 'an avoided one is better than none')
})

const impatient = { stallMs: -1 }

test('a Host by which nothing is stored is replaced once enough others have signed more', () => {
  const room = roomOf(['A', 'B', 'C'], { minimumHosts: 2, patience: impatient })
  fillPlaces(room.links)
  const checked = (): string | undefined => {
    checkFeeders(room.links)
    return room.feeder()
  }
  room.sign(linkOf(room, 'B'), 0)
  room.progress(view, { stored: 0 })
  room.sign(linkOf(room, 'A'), 1)
  assert.equal(checked(), 'A', 'only itself signed more')
  room.sign(linkOf(room, 'A'), 0)
  room.sign(linkOf(room, 'C'), 1)
  assert.equal(checked(), 'A', 'one is not enough')
  room.sign(linkOf(room, 'A'), 1)
  room.sign(linkOf(room, 'C'), 0)
  room.sign(linkOf(room, 'B'), 1)
  room.progress(view, { isFailed: true })
  assert.equal(checked(), 'A', 'none has rows where the View failed')
  room.progress(view, { isFailed: false })
  assert.notEqual(checked(), 'A')
})

test('a Host by which nothing is stored stays where it alone signed more', () => {
  const room = roomOf(['A', 'B'], { patience: impatient })
  fillPlaces(room.links)
  room.sign(linkOf(room, 'A'), 1)
  checkFeeders(room.links)
  assert.equal(room.feeder(), 'A')
  room.sign(linkOf(room, 'B'), 1)
  checkFeeders(room.links)
  assert.equal(room.feeder(), 'B')
})

test('a Host by which nothing is stored stays where those that signed more are away', () => {
  const room = roomOf(['A', 'B', 'C'], { patience: impatient })
  fillPlaces(room.links)
  room.sign(linkOf(room, 'C'), 1)
  linkOf(room, 'C').isOpen = false
  checkFeeders(room.links)
  assert.equal(room.feeder(), 'A')
})

test('a Host is replaced once enough others in reach say that what it goes on from gave way', () => {
  const room = roomOf(['A', 'B', 'C'], { minimumHosts: 2, patience: impatient })
  fillPlaces(room.links)
  const checked = (): string | undefined => {
    checkFeeders(room.links)
    return room.feeder()
  }
  room.progress(view, { leaving: ['A', 'B', 'a stranger'] })
  assert.equal(checked(), 'A')
  room.progress(view, { leaving: ['B', 'C'] })
  linkOf(room, 'C').isOpen = false
  assert.equal(checked(), 'A', 'one that is away may have changed its mind')
  linkOf(room, 'C').isOpen = true
  assert.equal(checked(), 'B')
})

test('a Host by which something was stored just now is not replaced', () => {
  const room = roomOf(['A', 'B'])
  fillPlaces(room.links)
  for (const name of ['A', 'B']) room.sign(linkOf(room, name), 5)
  room.progress(view, { leaving: ['B'] })
  checkFeeders(room.links)
  assert.equal(room.feeder(), 'A')
})

test('a View that has no room for blocks is not fed for a while, so that it holds up no other', () => {
  const room = roomOf(['A'], { views: [view, other], patience: { fullMs: -1 } })
  fillPlaces(room.links)
  room.progress(view, { isFull: true })
  for (let check = 0; check < 3; check++) checkFeeders(room.links)
  assert.deepEqual([room.feeder(view), room.feeder(other)], [undefined, 'A'])
  room.progress(view, { isFull: false })
  checkFeeders(room.links)
  assert.equal(room.feeder(view), 'A')
})

test('a View that has no room for blocks is not the fault of the Host that feeds it', () => {
  const room = roomOf(['A', 'B'], { views: [view, other], patience: { fullMs: -1 } })
  fillPlaces(room.links)
  room.progress(view, { isFull: true, differing: ['B'] })
  checkFeeders(room.links)
  const { avoidedUntilMs, rates } = linkOf(room, 'A')
  assert.deepEqual([room.feeder(), avoidedUntilMs.size, rates.size], [undefined, 0, 0])
})

test('a View that is the only one holds up no other, and is fed on', () => {
  const room = roomOf(['A'], { patience: { fullMs: -1 } })
  fillPlaces(room.links)
  room.progress(view, { isFull: true })
  checkFeeders(room.links)
  assert.equal(room.feeder(), 'A')
})

test('a Host is replaced five seconds after the last block that was stored, and not before', (t) => {
  const { pass } = clockOf(t)
  const room = roomOf(['A', 'B'])
  fillPlaces(room.links)
  room.sign(linkOf(room, 'B'), 9)
  const checkedAfter = (ms: number): string | undefined => {
    pass(ms)
    checkFeeders(room.links)
    return room.feeder()
  }
  room.progress(view, { stored: 0 })
  assert.deepEqual([4_000, 5_000, 1].map(checkedAfter), ['A', 'A', 'B'])
})

test('a Host that was replaced is avoided for a minute, of two the one that was left first less', (t) => {
  const { pass } = clockOf(t)
  const room = roomOf(['A', 'B'])
  const [a, b] = [linkOf(room, 'A'), linkOf(room, 'B')]
  fillPlaces(room.links)
  room.progress(view, { differing: ['B'] })
  checkFeeders(room.links)
  room.progress(view, { differing: ['A'] })
  pass(1)
  checkFeeders(room.links)
  assert.equal(room.feeder(), 'A')
  for (const link of [a, b]) {
    leavePlaces(room.links, link)
    link.isOpen = false
  }
  pass(59_998)
  takePlaces(room.links, a)
  assert.equal(room.feeder(), undefined)
  pass(1)
  takePlaces(room.links, b)
  assert.equal(room.feeder(), undefined)
  takePlaces(room.links, a)
  assert.equal(room.feeder(), 'A')
})

test('a Host that was replaced is thought slow for ten minutes, beside one that was not tried', (t) => {
  const { pass } = clockOf(t)
  const secondAfter = (ms: number): string | undefined => {
    const room = roomOf(['A', 'B', 'C'])
    fillPlaces(room.links)
    room.progress(view, { differing: ['B'] })
    checkFeeders(room.links)
    assert.equal(room.feeder(), 'B')
    pass(ms)
    leavePlaces(room.links, linkOf(room, 'B'))
    linkOf(room, 'B').isOpen = false
    fillPlaces(room.links)
    return room.feeder()
  }
  assert.deepEqual([60_000, 599_999, 600_000].map(secondAfter), ['C', 'C', 'A'])
})

test('a View without room is fed no more after ten seconds, for ten minutes or until it has room', (t) => {
  const { pass } = clockOf(t)
  const room = roomOf(['A'], { views: [view, other] })
  fillPlaces(room.links)
  const fedAfter = (ms: number): boolean => {
    pass(ms)
    checkFeeders(room.links)
    return room.feeder() !== undefined
  }
  room.progress(view, { isFull: true })
  assert.deepEqual([10_000, 1].map(fedAfter), [true, false])
  assert.deepEqual([0, 599_999, 1].map(fedAfter), [false, false, true])
  assert.equal(fedAfter(10_001), false)
  room.progress(view, { isFull: false })
  assert.equal(fedAfter(0), true)
  leavePlaces(room.links, linkOf(room, 'A'))
  room.progress(view, { isFull: true })
  assert.equal(fedAfter(1), true, 'it had room in between')
})

test('a Host that sends other rows feeds on where no other one has the View', () => {
  const room = roomOf(['A', 'B'])
  const [a, b] = [linkOf(room, 'A'), linkOf(room, 'B')]
  b.views = new Map()
  fillPlaces(room.links)
  room.progress(view, { differing: ['B'] })
  checkFeeders(room.links)
  assert.deepEqual([room.feeder(), a.avoidedUntilMs.size, a.rates.size], ['A', 0, 0])
})
