/** Which Host is late, and when another one that is faster takes its place. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkFeeders, fillPlaces } from '../../../src/app/follow/feeders.ts'
import { linkOf, type Room, roomOf, view } from '../support/link-room.ts'
import { clockOf } from '../support/test-clock.ts'

/** Checks so often while others have signed more than is stored. */
function checkLate(room: Room, times: number, top = 100): void {
  for (const link of room.links.links) room.sign(link, top)
  for (let check = 0; check < times; check++) checkFeeders(room.links)
}

test('a Host that stays late makes way for another one, untried ones first', () => {
  const room = roomOf(['A', 'B', 'C'])
  linkOf(room, 'B').rates.set(view, { rate: 50, atMs: performance.now() })
  linkOf(room, 'A').rates.set(view, { rate: 99, atMs: performance.now() })
  fillPlaces(room.links)
  assert.equal(room.feeder(), 'A')
  checkLate(room, 11)
  assert.equal(room.feeder(), 'A')
  checkFeeders(room.links)
  assert.equal(room.feeder(), 'C')
  checkLate(room, 12)
  assert.equal(room.feeder(), 'B', 'then the fastest of those that were measured')
})

test('a Host that is late stays where no other one was faster', () => {
  const room = roomOf(['A', 'B'])
  fillPlaces(room.links)
  linkOf(room, 'B').rates.set(view, { rate: 0, atMs: performance.now() })
  checkLate(room, 30)
  assert.equal(room.feeder(), 'A')
})

test('a Host that is late makes no way for one that is avoided, however fast that was', () => {
  const room = roomOf(['A', 'B'])
  fillPlaces(room.links)
  const b = linkOf(room, 'B')
  b.rates.set(view, { rate: 50, atMs: performance.now() })
  b.avoidedUntilMs.set(view, performance.now() + 60_000)
  checkLate(room, 30)
  assert.equal(room.feeder(), 'A')
})

test('a Host that is late makes way for one that is more than a quarter faster', (t) => {
  const { pass } = clockOf(t)
  const checkedBeside = (rate: number): unknown => {
    const room = roomOf(['A', 'B'])
    fillPlaces(room.links)
    linkOf(room, 'B').rates.set(view, { rate, atMs: performance.now() })
    for (const link of room.links.links) room.sign(link, 1_000)
    for (let stored = 18; stored <= 40; stored += 2) {
      pass(500)
      room.progress(view, { stored })
      checkFeeders(room.links)
    }
    return [room.feeder(), linkOf(room, 'A').rates.get(view)]
  }
  const measured = (): unknown => ({ rate: 4, atMs: performance.now() })
  assert.deepEqual(checkedBeside(5), ['A', measured()])
  assert.deepEqual(checkedBeside(5.001), ['B', measured()])
})

test('a Host is late below what as many have signed as have to agree', (t) => {
  const { pass } = clockOf(t)
  const feederAt = (stored: number): string | undefined => {
    const room = roomOf(['A', 'B', 'C'], { minimumHosts: 2 })
    fillPlaces(room.links)
    for (const [name, top] of [
      ['A', 3],
      ['B', 9],
      ['C', 5],
    ] as const)
      room.sign(linkOf(room, name), top)
    room.progress(view, { stored })
    for (let check = 0; check < 12; check++) {
      pass(100)
      checkFeeders(room.links)
    }
    return room.feeder()
  }
  assert.deepEqual([5, 4].map(feederAt), ['A', 'B'])
})

test('a Host that catches up in between is not late', () => {
  const room = roomOf(['A', 'B'])
  fillPlaces(room.links)
  checkLate(room, 11)
  room.progress(view, { stored: 100 })
  checkLate(room, 11, 200)
  assert.equal(room.feeder(), 'A')
})

test('what only a Host that is away, or the one that feeds, has signed makes nobody late', () => {
  const room = roomOf(['A', 'B', 'C'])
  fillPlaces(room.links)
  linkOf(room, 'C').isOpen = false
  for (const name of ['A', 'C']) room.sign(linkOf(room, name), 100)
  for (let check = 0; check < 30; check++) checkFeeders(room.links)
  assert.equal(room.feeder(), 'A')
  linkOf(room, 'B').identity = null
  for (let check = 0; check < 30; check++) checkFeeders(room.links)
  assert.equal(room.feeder(), 'A', 'of B it is not known who it is')
})

test('a Host that is alone, and late as well, makes way for the fastest rather than a new one', (t) => {
  const { pass } = clockOf(t)
  const room = roomOf(['A', 'B', 'C'])
  fillPlaces(room.links)
  linkOf(room, 'B').rates.set(view, { rate: 50, atMs: performance.now() })
  for (const link of room.links.links) room.sign(link, 100)
  for (let check = 0; check < 11; check++) {
    pass(100)
    checkFeeders(room.links)
  }
  room.progress(view, { differing: ['B'] })
  checkFeeders(room.links)
  assert.equal(room.feeder(), 'B')
  assert.equal(linkOf(room, 'C').avoidedUntilMs.size, 0, 'it did not feed in between')
})

test('nobody is late where fewer Hosts are known than have to agree', (t) => {
  const { pass } = clockOf(t)
  const room = roomOf(['A', 'B'], { minimumHosts: 2 })
  linkOf(room, 'A').identity = null
  fillPlaces(room.links)
  room.sign(linkOf(room, 'B'), 9)
  for (let check = 0; check < 30; check++) {
    pass(100)
    checkFeeders(room.links)
  }
  assert.equal(room.feeder(), 'A')
})
