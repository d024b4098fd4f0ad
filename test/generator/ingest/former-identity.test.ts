import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFormerIdentity, isAmongNewest } from '../../../src/generator/ingest/former-identity.ts'
import type { Seal } from '../../../src/primitives/seal.ts'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import { sealBlock, testSigner } from '../../support/chain/sealed-blocks.ts'

const [own, former] = [testSigner('own'), testSigner('former')]
const [block = assert.fail()] = createChain({ count: 1, shape: shapes.empty })
const [ours, theirs] = [own, former].map((signer) => sealBlock(block, signer).seal)
assert.ok(ours && theirs)
const at = (seal: Seal, second: number): Seal => ({
  ...seal,
  createdAt: `2026-01-01T00:00:0${second}Z`,
})

/** What is found in a store from height 1 whose newest blocks have these seals. */
const found = (...seals: readonly (readonly Seal[])[]) => {
  const range = { tail: 1, head: seals.length }
  const snapshot = { range: () => range, seals: (height: number) => seals[height - 1] ?? [] }
  return findFormerIdentity(snapshot, own.identity)
}
const by = (height: number) => ({ identity: former.identity, height })

test('the newest block that another identity sealed, or sealed before, is found', () => {
  assert.equal(findFormerIdentity({ range: () => null, seals: () => [] }, own.identity), null)
  assert.equal(found([ours], [ours], []), null)
  assert.deepEqual(found([theirs], [theirs], [ours], []), by(2))
  assert.deepEqual(found([at(ours, 2), at(theirs, 1)]), by(1))
})

test('a key that is back is not reported for what was sealed after it', () => {
  assert.equal(found([at(theirs, 2), at(ours, 1)]), null)
  assert.equal(found([at(theirs, 1), at(ours, 1)]), null)
})

test('blocks that are pruned, or that a thousand follow, are not reported any more', () => {
  const later = Array.from({ length: 999 }, () => [ours])
  assert.deepEqual(found([theirs], ...later), by(1))
  assert.equal(found([theirs], [ours], ...later), null)
  assert.equal(isAmongNewest(by(4), { tail: 5, head: 9 }), false)
  assert.equal(isAmongNewest(by(5), { tail: 5, head: 9 }), true)
})
