/** Proofs that a View's rows are what a Host signed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  blockRoot,
  type LeafProof,
  proveLeaves,
  sortLeaves,
  type ViewLeaf,
  verifyLeaf,
} from '../../src/row-votes/view-leaf.ts'
import { anyLeaves, leafOf } from './arbitrary-statement.ts'

function proofAt(leaves: readonly ViewLeaf[], at: number): LeafProof {
  const [proof = assert.fail()] = proveLeaves(leaves, (leaf) => leaf === leaves[at])
  return proof
}

test('every leaf is proven, and a proof is of no other leaf, place, path or root', () => {
  fc.assert(
    fc.property(anyLeaves, fc.nat(), fc.nat(), (leaves, some, other) => {
      const root = blockRoot(leaves)
      const index = some % leaves.length
      const proof = proofAt(leaves, index)
      assert.ok(verifyLeaf(proof, root))
      const another = leaves[other % leaves.length] ?? assert.fail()
      const isOther = other % leaves.length !== index
      assert.equal(verifyLeaf({ ...proof, leaf: another }, root), !isOther)
      assert.ok(
        !verifyLeaf({ ...proof, leaf: { ...proof.leaf, count: proof.leaf.count + 1 } }, root),
      )
      assert.ok(!verifyLeaf({ ...proof, path: [...proof.path, Buffer.alloc(32)] }, root))
      assert.ok(!verifyLeaf(proof, leafOf(1).rowsRoot))
      const foreign = proofAt(leaves, other % leaves.length)
      assert.equal(verifyLeaf({ ...foreign, leaf: proof.leaf }, root), !isOther)
    }),
  )
})

test('the rows of a View with one leaf are no leaf of the block itself', () => {
  const leaves = [leafOf(1)]
  const { rowsRoot } = leafOf(1)
  assert.notEqual(blockRoot(leaves), rowsRoot)
  assert.deepEqual(
    proveLeaves(leaves, () => false),
    [],
  )
})

test('the root does not depend on the order in which Views were done', () => {
  const leaves = [3, 1, 2].map(leafOf)
  assert.deepEqual(
    sortLeaves(leaves).map(({ count }) => count),
    [1, 2, 3],
  )
  assert.equal(blockRoot(sortLeaves(leaves)), blockRoot(sortLeaves(leaves.toReversed())))
})
