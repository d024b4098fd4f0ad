import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  createRootBuilder,
  inclusionPath,
  merkleRoot,
  merkleTree,
} from '../../src/primitives/merkle.ts'
import { oracleRoot } from './oracle.ts'

const leaf = fc.uint8Array({ maxLength: 40, size: 'max' })

test('the root of no leaves is SHA-256 of nothing', () => {
  assert.equal(
    Buffer.from(merkleRoot([])).toString('hex'),
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  )
})

test('the roots of the example trees of Certificate Transparency are those of its authors', () => {
  const leaves = [
    '',
    '00',
    '10',
    '2021',
    '3031',
    '40414243',
    '5051525354555657',
    '606162636465666768696a6b6c6d6e6f',
  ]
  const roots = [
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ]
  for (const [index, root] of roots.entries()) {
    const first = leaves.slice(0, index + 1).map((hex) => Buffer.from(hex, 'hex'))
    assert.equal(Buffer.from(merkleRoot(first)).toString('hex'), root)
  }
})

test('the root over any leaves is the one that RFC 9162 defines', () => {
  fc.assert(
    fc.property(fc.array(leaf, { maxLength: 70, size: 'max' }), (leaves) => {
      assert.deepEqual(Buffer.from(merkleRoot(leaves)), oracleRoot(leaves))
    }),
  )
})

test('the root over so many leaves as fill a tree, one fewer and one more, is that of RFC 9162', () => {
  for (const full of [16, 64, 128, 256, 1024]) {
    for (const count of [full - 1, full, full + 1]) {
      const leaves = Array.from({ length: count }, (_, index) => Buffer.from(`leaf ${index}`))
      const root = oracleRoot(leaves)
      assert.deepEqual(Buffer.from(merkleRoot(leaves)), root, `${count}`)
      const builder = createRootBuilder()
      for (const each of leaves) builder.add(each)
      assert.deepEqual(Buffer.from(builder.finish()), root, `${count}`)
    }
  }
})

test('every leaf leads to the root by its path, and no path is longer than the tree is high', () => {
  const node = (left: Uint8Array, right: Uint8Array): Uint8Array =>
    hash('sha256', Buffer.concat([Buffer.of(1), left, right]), 'buffer')
  /** RFC 9162, 2.1.3.2, with the size of each subtree instead of bits. */
  const rootFrom = (
    digest: Uint8Array,
    index: number,
    count: number,
    path: readonly Uint8Array[],
  ): Uint8Array => {
    const last = path.at(-1)
    if (last === undefined) return digest
    const left = 2 ** Math.ceil(Math.log2(count) - 1)
    const rest = path.slice(0, -1)
    return index < left
      ? node(rootFrom(digest, index, left, rest), last)
      : node(last, rootFrom(digest, index - left, count - left, rest))
  }
  fc.assert(
    fc.property(fc.array(leaf, { minLength: 1, maxLength: 40, size: 'max' }), (leaves) => {
      const tree = merkleTree(leaves)
      const root = oracleRoot(leaves)
      assert.deepEqual(Buffer.from(tree.at(-1) ?? []), root)
      for (const [index, each] of leaves.entries()) {
        const path = inclusionPath(tree, index)
        assert.ok(path.length <= Math.ceil(Math.log2(leaves.length)))
        const digest = hash('sha256', Buffer.concat([Buffer.of(0), each]), 'buffer')
        assert.deepEqual(Buffer.from(rootFrom(digest, index, leaves.length, path)), root)
      }
      assert.throws(() => inclusionPath(tree, leaves.length), /the leaf is in the tree/)
    }),
  )
})

test('a root that is built leaf by leaf is the same, and keeps nothing of the leaves', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 700, size: 'max' }), { maxLength: 150, size: 'max' }),
      (leaves) => {
        const builder = createRootBuilder()
        const shared = Buffer.alloc(700)
        for (const each of leaves) {
          shared.set(each)
          builder.add(shared.subarray(0, each.length))
        }
        assert.deepEqual(Buffer.from(builder.finish()), oracleRoot(leaves))
      },
    ),
  )
})
