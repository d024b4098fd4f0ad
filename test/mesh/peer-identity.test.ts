/** Who a peer proves to be, and what proves nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proveIdentity } from '../../src/mesh/identity-proof.ts'
import { provenIdentity } from '../../src/mesh/peer-identity.ts'
import { encodeIdentityProof, identityDigest } from '../../src/primitives/identity-proof.ts'
import { testNetwork, testSigner } from '../support/chain/sealed-blocks.ts'

const signer = testSigner('a peer')
const peerId = '12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN'
const statement = { network: testNetwork, role: 'host', peerId } as const
const connection = { network: testNetwork, peer: peerId }

test('a peer is the Host or the Generator whose key signed its peer ID', () => {
  const { identity } = signer
  for (const role of ['host', 'generator'] as const) {
    const proof = proveIdentity(signer, { ...statement, role })
    assert.deepEqual(provenIdentity(proof, connection), { role, identity })
  }
})

test('a proof of another peer or of another network proves nothing', () => {
  const proof = proveIdentity(signer, statement)
  assert.equal(provenIdentity(proof, { ...connection, peer: `${peerId}M` }), null)
  assert.equal(provenIdentity(proof, { ...connection, network: 'Ethereum__Sepolia' }), null)
})

test('a proof that names another network than its key signed proves nothing', () => {
  const proof = encodeIdentityProof({
    network: 'Ethereum__Sepolia',
    role: 'host',
    signatureType: signer.type,
    signatureIdentity: signer.identity,
    signatureValue: signer.sign(identityDigest(statement)),
  })
  assert.equal(provenIdentity(proof, connection), null)
})

test('an answer that is no proof proves nothing', () => {
  for (const hex of ['', 'ff'])
    assert.equal(provenIdentity(Buffer.from(hex, 'hex'), connection), null)
})
