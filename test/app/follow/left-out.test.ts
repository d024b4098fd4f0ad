/** Which heights below a block count as left out, whom they are waited for, and how long. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LeftOutFacts, waitsForLeftOut } from '../../../src/app/follow/left-out.ts'
import type { PendingBlock } from '../../../src/app/follow/pending-blocks.ts'
import { pendingBlock } from '../support/pending-block.ts'

interface Case {
  readonly base?: PendingBlock
  readonly stored?: readonly PendingBlock[]
  readonly doneBelow?: number
  readonly lowestWanted?: number
  /** The lowest height of which a Host may have rows; by default none has any. */
  readonly tail?: number
  /** Heights of which Hosts signed rows. */
  readonly signed?: Readonly<Record<string, number>>
  /** How long nothing has come of what begins at a height. */
  readonly leftOutMs?: Readonly<Record<number, number>>
}

/** Those that the block of height 9 waits for, where height 5 is the lowest that is followed. */
function waits(given: Case, block: PendingBlock = pendingBlock(9)): readonly string[] | null {
  const { base = null, stored = [], doneBelow = null, lowestWanted = 5, signed = {} } = given
  const hashes = new Map(stored.map(({ number, hash }) => [number, hash]))
  const nowMs = 1_000_000
  const facts: LeftOutFacts = {
    ...{ base, lowestWanted, nowMs, patience: { unseenMs: 10_000 } },
    storedHash: (number) => hashes.get(number),
    doneBelow: () => doneBelow,
    mayHave: (number) => number >= (given.tail ?? Infinity),
    signersOf: (from, to) =>
      Object.entries(signed).flatMap(([host, at]) => (at >= from && at <= to ? [host] : [])),
    leftOutSinceMs: (from) => nowMs - (given.leftOutMs?.[from] ?? 1_000_000),
  }
  return waitsForLeftOut(facts, block)
}

test('what lies between a block and what it has to stand on is waited for, from its signers', () => {
  const signed = { A: 6, B: 7, C: 8, D: 9, below: 5 }
  const leftOutMs = { 6: 59_999 }
  const signers = ['A', 'B', 'C']
  assert.deepEqual(waits({ base: pendingBlock(5), signed, leftOutMs }), signers)
  assert.deepEqual(waits({ doneBelow: 5, signed, leftOutMs }), signers)
  assert.deepEqual(waits({ lowestWanted: 6, signed, leftOutMs }), signers)
  assert.equal(waits({ base: pendingBlock(5), signed, leftOutMs: { 6: 60_000 } }), null)
  assert.deepEqual(waits({ doneBelow: 7, signed, leftOutMs: { 8: 0 } }), ['C'], 'a single height')
})

test('what nobody signed is waited for where a Host may have it, up to the height below', () => {
  const leftOutMs = { 5: 9_999 }
  assert.deepEqual(waits({ tail: 8, leftOutMs }), [])
  assert.equal(waits({ tail: 9, leftOutMs }), null)
  assert.equal(waits({ tail: 8, leftOutMs: { 5: 10_000 } }), null)
})

test('a block on the height that it has to stand on waits for nothing', () => {
  const signed = { A: 8, B: 9 }
  const below = pendingBlock(8)
  const leftOutMs = { 9: 0 }
  assert.equal(waits({ base: below, stored: [below], signed, tail: 0, leftOutMs }), null)
  assert.equal(waits({ doneBelow: 8, signed, tail: 0, leftOutMs }), null)
  assert.equal(waits({ lowestWanted: 9, signed, tail: 0, leftOutMs }), null)
})

test('a block on another one than is stored below waits for those that signed either height', () => {
  const signed = { below: 7, A: 8, B: 9, above: 10 }
  const stored = [pendingBlock(8, { branch: 'b' })]
  assert.deepEqual(waits({ doneBelow: 8, stored, signed }), ['A', 'B'])
  assert.deepEqual(waits({ base: pendingBlock(8), stored, signed }), ['A', 'B'])
})
