/** What Generators and Hosts sign beside seals: bytes that are published and may never change. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { encode } from '@ipld/dag-cbor'
import fc from 'fast-check'
import { createSigner, isValidSignature } from '../../src/identity/signature.ts'
import {
  decodeHead,
  encodeHead,
  type Head,
  type HeadStatement,
  headDigest,
} from '../../src/primitives/head.ts'
import {
  decodeIdentityProof,
  encodeIdentityProof,
  type IdentityStatement,
  identityDigest,
} from '../../src/primitives/identity-proof.ts'
import type { Signature } from '../../src/primitives/signature.ts'

interface Vector<T> extends Signature {
  readonly statement: T
  readonly digest: string
  readonly privateKey: string
  readonly message: string
}

const path = new URL('../fixtures/primitives/statements.json', import.meta.url)
const { heads, identities } = JSON.parse(readFileSync(path, 'utf8')) as {
  heads: readonly Vector<HeadStatement>[]
  identities: readonly Vector<IdentityStatement>[]
}
const fromHex = (hex: string): Buffer => Buffer.from(hex.replace(/^0x/, ''), 'hex')
const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const refusal = { code: 'PRIMITIVES_MESSAGE_MALFORMED' }

function signatureItems(signature: Signature): unknown[] {
  const { signatureType, signatureIdentity, signatureValue } = signature
  return [signatureType, fromHex(signatureIdentity), fromHex(signatureValue)]
}

function headItems(head: HeadStatement): unknown[] {
  const { network, genesisHash, number, hash, sequence, nodeHeight } = head
  return [network, fromHex(genesisHash), number, fromHex(hash), sequence, nodeHeight]
}

describe('a signed head', () => {
  for (const vector of heads) {
    const { statement, signatureType, signatureIdentity, signatureValue, privateKey } = vector
    const signature = { signatureType, signatureIdentity, signatureValue }

    test(`has the bytes of its vector: ${signatureType}, ${statement.network}, ${statement.number}`, () => {
      const digest = headDigest(statement)
      assert.equal(toHex(digest), vector.digest)
      assert.equal(sha256(encode(['viewmesh/head/1', ...headItems(statement)])), vector.digest)
      const signer = createSigner({ type: signatureType, privateKey: fromHex(privateKey) })
      assert.equal(signer.identity, signatureIdentity)
      assert.equal(signer.sign(digest), signatureValue)
      assert.ok(isValidSignature(signatureType, signatureIdentity, digest, signatureValue))
      const message = encode([1, ...headItems(statement), ...signatureItems(signature)])
      assert.equal(toHex(encodeHead({ ...statement, ...signature })), vector.message)
      assert.equal(toHex(message), vector.message)
      assert.deepEqual(decodeHead(fromHex(vector.message)), { ...statement, ...signature })
    })
  }

  test('has numbers and a network up to their bounds', () => {
    const [vector] = heads
    assert.ok(vector !== undefined)
    const most = { number: 2 ** 31 - 1, nodeHeight: 2 ** 31 - 1, sequence: 2 ** 53 - 1 }
    const head = { ...decodeHead(fromHex(vector.message)), ...most, network: 'x'.repeat(130) }
    assert.deepEqual(decodeHead(encodeHead(head)), head)
    const long = Buffer.alloc(513)
    assert.throws(() => decodeHead(long), { facts: { why: 'it is longer than the limit' } })
    assert.throws(() => decodeHead(long.subarray(1)), { facts: { why: 'its form is unknown' } })
  })

  test('that no Generator makes is refused', async (t) => {
    const [vector] = heads
    assert.ok(vector !== undefined)
    const head: Head = decodeHead(fromHex(vector.message))
    const cases: [string, Partial<Head>][] = [
      ['a height that is no Int', { number: 2 ** 31 }],
      ['a height of its node that is no Int', { nodeHeight: 2 ** 48 - 1 }],
      ['a short hash', { hash: '0x1234' }],
      ['a short genesis hash', { genesisHash: '0x' }],
      ['a long network', { network: 'x'.repeat(131) }],
      ['a key of the other type', { signatureIdentity: 'ab'.repeat(32) }],
      ['no signature', { signatureValue: '' }],
    ]
    for (const [name, change] of cases) {
      await t.test(name, () =>
        assert.throws(() => decodeHead(encodeHead({ ...head, ...change })), refusal),
      )
    }
  })
})

describe('a proof of identity', () => {
  for (const vector of identities) {
    const { statement, signatureType, signatureIdentity, signatureValue, privateKey } = vector
    const signature = { signatureType, signatureIdentity, signatureValue }
    const { network, role, peerId } = statement

    test(`has the bytes of its vector: ${signatureType} of a ${role}`, () => {
      const digest = identityDigest(statement)
      assert.equal(toHex(digest), vector.digest)
      assert.equal(sha256(encode(['viewmesh/identity/1', network, role, peerId])), vector.digest)
      const signer = createSigner({ type: signatureType, privateKey: fromHex(privateKey) })
      assert.equal(signer.sign(digest), signatureValue)
      const proof = { network, role, ...signature }
      assert.equal(toHex(encodeIdentityProof(proof)), vector.message)
      const message = encode([1, network, role, ...signatureItems(signature)])
      assert.equal(toHex(message), vector.message)
      assert.deepEqual(decodeIdentityProof(fromHex(vector.message)), proof)
    })
  }

  test('of another role than generator and host is refused', () => {
    const [vector] = identities
    assert.ok(vector !== undefined)
    const proof = decodeIdentityProof(fromHex(vector.message))
    const message = encodeIdentityProof({ ...proof, role: 'relay' as 'host' })
    assert.throws(() => decodeIdentityProof(message), refusal)
  })
})

test('any bytes are refused, or exactly the message of what they hold', () => {
  const forms = [
    ...heads.map(({ message }) => ({
      message: fromHex(message),
      again: (bytes: Uint8Array) => encodeHead(decodeHead(bytes)),
    })),
    ...identities.map(({ message }) => ({
      message: fromHex(message),
      again: (bytes: Uint8Array) => encodeIdentityProof(decodeIdentityProof(bytes)),
    })),
  ]
  const changed = fc.constantFrom(...forms).chain(({ message, again }) =>
    fc
      .oneof(
        fc.nat(8 * message.length - 1).map((bit) => {
          const copy = Uint8Array.from(message)
          copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
          return copy
        }),
        fc.nat(message.length - 1).map((length) => message.subarray(0, length)),
        fc.uint8Array({ minLength: 1, maxLength: 4 }).map((tail) => Buffer.concat([message, tail])),
        fc.uint8Array({ maxLength: 300, size: 'max' }),
      )
      .map((bytes) => ({ bytes, again })),
  )
  fc.assert(
    fc.property(changed, ({ bytes, again }) => {
      let found: Uint8Array
      try {
        found = again(bytes)
      } catch (error) {
        assert.equal((error as { code?: unknown }).code, refusal.code)
        return
      }
      assert.deepEqual(Buffer.from(found), Buffer.from(bytes))
    }),
    { numRuns: 2000 },
  )
})
