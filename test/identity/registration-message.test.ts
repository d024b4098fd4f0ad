/** What a node signs for its registration, byte for byte, and its name as an identifier. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as dagCbor from '@ipld/dag-cbor'
import fc from 'fast-check'
import { base58btc } from 'multiformats/bases/base58'
import { didOfKey } from '../../src/identity/did-key.ts'
import { encodeRegistration } from '../../src/identity/registration-message.ts'

const hex = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => Buffer.from(bytes))

test('the message is the DAG-CBOR of tag, chain ID, role, address and seconds', () => {
  const statements = fc.record({
    chainId: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    role: fc.constantFrom('generator' as const, 'host' as const),
    address: hex(20).map((bytes) => `0x${bytes.toString('hex')}`),
    seconds: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  })
  fc.assert(
    fc.property(statements, (statement) => {
      const { chainId, role, address, seconds } = statement
      const expected = dagCbor.encode(['viewmesh/registration/1', chainId, role, address, seconds])
      assert.deepEqual(new Uint8Array(encodeRegistration(statement)), expected)
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
