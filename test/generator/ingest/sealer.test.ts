import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSealer } from '../../../src/generator/ingest/sealer.ts'
import { isValidSignature } from '../../../src/identity/signature.ts'
import { sealDigest } from '../../../src/primitives/seal.ts'
import type { BlockHeader } from '../../../src/store/store.ts'
import { testNetwork, testSigner } from '../../support/chain/sealed-blocks.ts'

const header: BlockHeader = {
  number: 7,
  hash: `0x${'ab'.repeat(32)}`,
  parentHash: `0x${'cd'.repeat(32)}`,
  root: 'ef'.repeat(32),
  count: 12,
  timestamp: 1_700_000_000,
  sections: { Block: 1, Transaction: 4, AccessListEntry: 2, Log: 5 },
  bodyBytes: 1_000,
}
const signer = testSigner('sealer')
const nowMs = (): number => Date.parse('2026-05-11T10:59:54.789Z')
const seal = createSealer(testNetwork, { signer, nowMs })

test('a seal states network, number, hash, root and count, and its signature verifies', () => {
  const made = seal(header, [])
  assert.deepEqual(
    { ...made, signatureValue: '' },
    {
      network: testNetwork,
      blockNumber: 7,
      blockHash: header.hash,
      merkleRoot: header.root,
      cidCount: 12,
      signatureType: 'ES256K',
      signatureIdentity: signer.identity,
      signatureValue: '',
      createdAt: '2026-05-11T10:59:54Z',
    },
  )
  const { signatureType, signatureIdentity, signatureValue } = made
  assert.ok(isValidSignature(signatureType, signatureIdentity, sealDigest(made), signatureValue))
})

test('a known seal of the same block and root is used again', () => {
  const known = { ...seal(header, []), createdAt: '2020-01-01T00:00:00Z' }
  assert.equal(seal(header, [known]), known)
})

test('seals of others, of another root or of another block are not', () => {
  const own = seal(header, [])
  for (const change of [
    { signatureIdentity: testSigner('other').identity },
    { merkleRoot: '00'.repeat(32) },
    { blockHash: header.parentHash },
  ])
    assert.deepEqual(seal(header, [{ ...own, ...change }]), own)
})
