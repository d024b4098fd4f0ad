/** What a node signs for its registration, byte for byte, and its name as an identifier. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as dagCbor from '@ipld/dag-cbor'
import fc from 'fast-check'
import { base58btc } from 'multiformats/bases/base58'
import { didOfKey } from '../../src/identity/did-key.ts'
import {
  encodeRegistration,
  findRegistrationFault,
} from '../../src/identity/registration-message.ts'
import { createSigner } from '../../src/identity/signature.ts'

const hex = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => Buffer.from(bytes))

const statements = fc.record({
  chainId: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  role: fc.constantFrom('generator' as const, 'host' as const),
  address: hex(20).map((bytes) => `0x${bytes.toString('hex')}`),
  seconds: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
})

test('the message is the DAG-CBOR of tag, chain ID, role, address and seconds', () => {
  fc.assert(
    fc.property(statements, (statement) => {
      const { chainId, role, address, seconds } = statement
      const expected = dagCbor.encode(['viewmesh/registration/1', chainId, role, address, seconds])
      assert.deepEqual(new Uint8Array(encodeRegistration(statement)), expected)
    }),
  )
})

test('a proof holds for its own statement alone, whatever else is said', () => {
  const signer = createSigner({ type: 'ES256K', privateKey: new Uint8Array(32).fill(7) })
  const { identity: publicKey } = signer
  const did = didOfKey(publicKey)
  fc.assert(
    fc.property(statements, statements, fc.string(), (said, other, text) => {
      const message = encodeRegistration(said)
      const signature = signer.sign(message)
      const proof = { message: Buffer.from(message).toString('hex'), publicKey, signature, did }
      assert.equal(findRegistrationFault(proof, said), null)
      const isOther = JSON.stringify(other) !== JSON.stringify(said)
      assert.equal(findRegistrationFault(proof, other), isOther ? 'message' : null)
      const part = (name: keyof typeof proof) =>
        findRegistrationFault({ ...proof, [name]: text }, said)
      assert.deepEqual(
        [part('message'), part('publicKey'), part('signature'), part('did')],
        ['message', 'signature', 'signature', 'did'],
      )
    }),
  )
})

test('the identifier of a key is its multicodec in base58', () => {
  fc.assert(
    fc.property(hex(33), (key) => {
      const bytes = Buffer.concat([Buffer.from('e701', 'hex'), key])
      assert.equal(didOfKey(key.toString('hex')), `did:key:${base58btc.encode(bytes)}`)
    }),
  )
  assert.match(didOfKey(`02${'c2'.repeat(32)}`), /^did:key:zQ3s/)
})
