import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { encode } from '@ipld/dag-cbor'
import fc from 'fast-check'
import { sealDigest, sealRoot } from '../../src/primitives/seal.ts'
import { oracleRoot } from './oracle.ts'

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })
const cid = hash.map((digest) => Buffer.from([0x01, 0x71, 0x12, 0x20, ...digest]))

test('a seal signs SHA-256 of tag, network, number, block hash, root and count in DAG-CBOR', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), hash, hash, fc.nat(), (blockNumber, block, root, cidCount) => {
      const network = 'Ethereum__Mainnet'
      const signed = encode(['viewmesh/seal/1', network, blockNumber, block, root, cidCount])
      const digest = sealDigest({
        network,
        blockNumber,
        blockHash: `0x${Buffer.from(block).toString('hex')}`,
        merkleRoot: Buffer.from(root).toString('hex'),
        cidCount,
      })
      assert.deepEqual(Buffer.from(digest), createHash('sha256').update(signed).digest())
    }),
  )
})

test('a malformed hash throws, and never makes a signature over something else', () => {
  const statement = {
    network: 'Local__Devnet',
    blockNumber: 1,
    blockHash: '0x12',
    merkleRoot: '00'.repeat(32),
    cidCount: 1,
  }
  assert.throws(() => sealDigest(statement), /broken invariant: a seal’s hashes have 32 bytes/)
})

test('the root is over the CIDs in byte order, whatever order they come in', () => {
  fc.assert(
    fc.property(fc.array(cid, { maxLength: 60, size: 'max' }), (cids) => {
      const { root, count, sorted } = sealRoot(cids)
      const expected = [...cids].sort(Buffer.compare)
      assert.deepEqual(sorted, expected)
      assert.equal(root, oracleRoot(expected).toString('hex'))
      assert.equal(count, cids.length)
    }),
  )
})

test('CIDs that share their first bytes, and equal ones, are in byte order too', () => {
  const close = fc
    .tuple(fc.constantFrom(0, 1, 127, 128, 255), fc.nat(31))
    .map(([byte, at]) => Buffer.alloc(36).fill(byte, 4 + at, 5 + at))
  fc.assert(
    fc.property(fc.array(close, { maxLength: 40, size: 'max' }), (cids) => {
      assert.deepEqual(sealRoot(cids).sorted, [...cids].sort(Buffer.compare))
    }),
  )
})
