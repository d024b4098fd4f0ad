import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  attestationsAt,
  attestationsOf,
  sealsOf,
  storedSealsOf,
  votesOf,
} from '../../../src/graphql/rows/block-seals.ts'
import { type BlockView, emptyMemo } from '../../../src/graphql/rows/block-view.ts'
import type { Seal } from '../../../src/primitives/seal.ts'
import { opaqueBlock, opaqueSeal } from '../../support/chain/opaque-blocks.ts'

const { header } = opaqueBlock(5)
const identities = ['02', '03', 'ab'].map((byte) => byte.repeat(32))
const [first = '', second = '', third = ''] = identities
const stored = identities.map((identity) => opaqueSeal(5, 'main', identity))
const otherRoot: Seal = { ...opaqueSeal(5, 'main', first), merkleRoot: 'cd'.repeat(32) }
const otherBlock = opaqueSeal(5, 'branch', second)
/** Of another block, whose documents it says are those of this one. */
const sameRoot: Seal = { ...otherBlock, merkleRoot: header.root }
const [one, two, three] = stored
assert.ok(one && two && three)

/** A store with `header` and these seals at its height. */
const storeOf = (seals: readonly Seal[]) =>
  ({ seals: () => seals, rowBlocks: { header: () => header } }) as never

const viewOf = (seals: readonly Seal[]): BlockView => {
  const session = { snapshot: storeOf(seals) } as never
  return { session, height: 5, header, memo: emptyMemo() }
}

test('seals of a block are those of its hash, and stored ones those of its documents', () => {
  const view = viewOf([otherRoot, otherBlock, one, two])
  assert.deepEqual(sealsOf(view), [otherRoot, one, two])
  assert.deepEqual(storedSealsOf(view), [one, two])
})

test('votes count each identity once for each root, those for what is stored first', () => {
  const view = viewOf([otherRoot, otherBlock, one, two, one, three])
  assert.deepEqual(votesOf(view), [
    { blockHash: header.hash, root: header.root, identities: [first, second, third] },
    { blockHash: header.hash, root: otherRoot.merkleRoot, identities: [first] },
    { blockHash: otherBlock.blockHash, root: otherBlock.merkleRoot, identities: [second] },
  ])
  assert.deepEqual([attestationsOf(view), attestationsAt(storeOf(stored), 5)], [3, 3])
})

test('seals over other documents or of another block are no attestations', () => {
  for (const seals of [[], [otherRoot], [otherBlock], [sameRoot], [otherBlock, otherRoot]])
    assert.deepEqual([attestationsOf(viewOf(seals)), attestationsAt(storeOf(seals), 5)], [0, 0])
  const none = { seals: () => [one], rowBlocks: { header: () => undefined } }
  assert.equal(attestationsAt(none as never, 5), 0)
})
