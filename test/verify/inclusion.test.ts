import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { inclusionPath, merkleRoot, merkleTree } from '../../src/primitives/merkle.ts'
import { verifyInclusion } from '../../src/verify/inclusion.ts'

const leaf = fc.uint8Array({ maxLength: 40, size: 'max' })
const leavesAndIndex = fc
  .array(leaf, { minLength: 1, maxLength: 70, size: 'max' })
  .chain((leaves) => fc.tuple(fc.constant(leaves), fc.nat(leaves.length - 1)))

test('any leaf has a proof of logarithmic length to the root', () => {
  fc.assert(
    fc.property(leavesAndIndex, ([leaves, index]) => {
      const proof = inclusionPath(merkleTree(leaves), index)
      const found = leaves[index] ?? new Uint8Array()
      assert.ok(proof.length <= Math.ceil(Math.log2(leaves.length)))
      assert.ok(verifyInclusion(found, index, leaves.length, proof, merkleRoot(leaves)))
    }),
  )
})

test('a proof fails for another leaf, index, count, sibling or root', () => {
  fc.assert(
    fc.property(leavesAndIndex, fc.nat(255), ([leaves, index], bit) => {
      const count = leaves.length
      const proof = inclusionPath(merkleTree(leaves), index)
      const found = leaves[index] ?? new Uint8Array()
      const root = merkleRoot(leaves)
      const holds = (...changed: Parameters<typeof verifyInclusion>): boolean =>
        verifyInclusion(...changed)
      assert.ok(!holds(Uint8Array.of(...found, 1), index, count, proof, root))
      assert.ok(!holds(found, count, count, proof, root))
      assert.ok(!holds(found, -1, count, proof, root))
      assert.ok(!holds(found, 0.5, count, proof, root))
      assert.ok(!holds(found, index, 2 * count + 1, proof, root))
      assert.ok(!holds(found, index, count, [...proof, root], root))
      assert.ok(!holds(found, index, count, proof.slice(1), flipped(root, bit)))
      assert.ok(!holds(found, index, count, proof, flipped(root, bit)))
      assert.ok(!holds(found, index, count, proof, root.slice(1)))
      assert.ok(!holds(found, index, count, proof, Uint8Array.of(...root, 0)))
      for (const place of proof.keys()) {
        const bad = proof.map((node, at) => (at === place ? flipped(node, bit) : node))
        assert.ok(!holds(found, index, count, bad, root))
        const short = proof.map((node, at) => (at === place ? node.slice(1) : node))
        assert.ok(!holds(found, index, count, short, root))
      }
    }),
    { numRuns: 50 },
  )
})

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  return bytes.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
}
