import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fault, faultWeights } from '../../../src/p2p/limits/fault.ts'
import { createScoreTable } from '../../../src/p2p/peers/score.ts'

const limits = { banScore: -100, banMs: 600_000, maxRemembered: 3 }

function table(): { now: { ms: number }; scores: ReturnType<typeof createScoreTable> } {
  const now = { ms: 0 }
  return { now, scores: createScoreTable(limits, () => now.ms) }
}

test('four faults of the common weight end in a ban', () => {
  const { scores } = table()
  for (const expected of [-25, -50, -75]) {
    assert.deepEqual(scores.fault('p', 'rejected message'), { score: expected, banned: false })
  }
  assert.deepEqual(scores.fault('p', 'rejected message'), { score: -100, banned: true })
  assert(scores.isBanned('p'))
  assert.equal(scores.bans(), 1)
})

test('no fault is free and none bans at once', () => {
  for (const weight of Object.values(faultWeights)) assert(weight > 0 && weight < 100)
})

test('honest blocks and time restore slowly, and never above 0', () => {
  const { now, scores } = table()
  scores.fault('p', 'stalled reader')
  scores.honest('p')
  assert.equal(scores.score('p'), -19)
  now.ms += 5 * 60_000 - 1
  assert.equal(scores.score('p'), -15)
  now.ms += 1
  assert.equal(scores.score('p'), -14)
  for (let block = 0; block < 100; block += 1) scores.honest('p')
  scores.honest('somebody new')
  assert.equal(scores.score('p'), 0)
  assert.equal(scores.fault('p', 'stalled reader').score, -20)
  now.ms += 60 * 60_000
  assert.equal(scores.score('p'), 0)
})

test('a ban ends, and a peer that comes back is half way to the next one', () => {
  const { now, scores } = table()
  const offend = (fault: Fault): boolean => scores.fault('p', fault).banned
  for (const isLast of [false, false, false, true]) assert.equal(offend('rejected message'), isLast)
  now.ms += limits.banMs - 1
  assert(scores.isBanned('p'))
  now.ms += 1
  assert(!scores.isBanned('p'))
  assert.equal(scores.score('p'), -40)
  assert(!offend('oversize message'))
  assert(offend('rejected message'))
})

test('what a banned peer does counts down to the threshold, and makes no second ban of it', () => {
  const { now, scores } = table()
  for (const expected of [false, true, false, false])
    assert.equal(scores.fault('p', 'oversize message').banned, expected)
  assert.equal(scores.score('p'), -100)
  assert.equal(scores.bans(), 1)
  now.ms += limits.banMs
  assert.equal(scores.bans(), 0)
})

test('the table is bounded: the peer heard of longest ago is forgotten first', () => {
  const { scores } = table()
  for (const peer of ['a', 'b', 'c', 'd']) scores.fault(peer, 'reported')
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((peer) => scores.score(peer)),
    [0, -25, -25, -25],
  )
})

test('a peer whose score is mended takes no place in the table', () => {
  const { scores } = table()
  for (const peer of ['a', 'b']) scores.fault(peer, 'reported')
  scores.fault('mended', 'unread gossip')
  for (let block = 0; block < 10; block += 1) scores.honest('mended')
  scores.fault('c', 'reported')
  assert.deepEqual(
    ['a', 'b', 'c', 'mended'].map((peer) => scores.score(peer)),
    [-25, -25, -25, 0],
  )
})
