import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode } from '@ipld/dag-cbor'
import fc from 'fast-check'
import { ServiceError } from '../../src/errors.ts'
import type { Seal } from '../../src/primitives/seal.ts'
import {
  decodeSealedBlock,
  encodeSealedBlock,
  type SealedBlock,
} from '../../src/primitives/sealed-block.ts'

const hex = (length: number): fc.Arbitrary<string> =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes) => Buffer.from(bytes).toString('hex'))

const common = {
  network: fc.constantFrom('Ethereum__Mainnet', 'Local__Devnet'),
  blockNumber: fc.nat(),
  blockHash: hex(32).map((digits) => `0x${digits}`),
  merkleRoot: hex(32),
  cidCount: fc.nat(),
  createdAt: fc.constantFrom('2026-01-02T03:04:05Z', '1999-12-31T23:59:59Z'),
}

const es256k = {
  signatureType: fc.constant('ES256K' as const),
  signatureIdentity: hex(33),
  signatureValue: fc.integer({ min: 8, max: 72 }).chain(hex),
}
const ed25519 = {
  signatureType: fc.constant('Ed25519' as const),
  signatureIdentity: hex(32),
  signatureValue: hex(64),
}
const seal: fc.Arbitrary<Seal> = fc.oneof(
  fc.record({ ...common, ...es256k }, { noNullPrototype: true }),
  fc.record({ ...common, ...ed25519 }, { noNullPrototype: true }),
)
const seals = fc.array(seal, { minLength: 1, maxLength: 4 })
const body = fc.option(fc.uint8Array({ maxLength: 300, size: 'max' }))

test('a message is decoded to the seals and the body it was made of', () => {
  fc.assert(
    fc.property(seals, body, (given, bytes) => {
      const decoded = decodeSealedBlock(encodeSealedBlock(given, bytes))
      assert.deepEqual(decoded.seals, given)
      assert.deepEqual(decoded.body, bytes === null ? null : Buffer.from(bytes))
    }),
  )
})

test('a message is the DAG-CBOR that the library makes of the same values', () => {
  const bytes = (text: string): Buffer => Buffer.from(text, 'hex')
  fc.assert(
    fc.property(seals, body, (given, content) => {
      const items = given.map((one) => [
        one.network,
        one.blockNumber,
        bytes(one.blockHash.slice(2)),
        bytes(one.merkleRoot),
        one.cidCount,
        one.signatureType,
        bytes(one.signatureIdentity),
        bytes(one.signatureValue),
        one.createdAt,
      ])
      assert.deepEqual(
        Buffer.from(encodeSealedBlock(given, content)),
        Buffer.from(encode([1, items, content])),
      )
    }),
  )
})

const [example] = fc.sample(seal, { numRuns: 1, seed: 1 })
const parts: Seal = example as Seal

test('a message is bounded before it is decoded', () => {
  const message = encodeSealedBlock([parts, parts], Buffer.alloc(100))
  const limits = { maxBytes: message.length, maxSeals: 2 }
  assert.equal(decodeSealedBlock(message, limits).seals.length, 2)
  for (const tighter of [{ maxBytes: message.length - 1 }, { maxSeals: 1 }]) {
    assert.throws(() => decodeSealedBlock(message, { ...limits, ...tighter }), {
      code: 'PRIMITIVES_MESSAGE_MALFORMED',
    })
  }
})

test('a seal has numbers, a network and a signature up to their bounds', () => {
  const bounds: Partial<Seal>[] = [
    { blockNumber: 2 ** 31 - 1 },
    { blockNumber: 0, cidCount: 0 },
    { cidCount: 2 ** 32 - 1 },
    { network: 'x'.repeat(130) },
    { signatureValue: 'ab' },
    { signatureValue: 'ab'.repeat(80) },
  ]
  for (const change of bounds) {
    const given = { ...parts, ...change }
    assert.deepEqual(decodeSealedBlock(encodeSealedBlock([given], null)).seals, [given])
  }
})

test('seals that no Generator makes are refused', async (t) => {
  const cases: [string, Partial<Seal>][] = [
    ['no signature', { signatureValue: '' }],
    ['a signature too long', { signatureValue: 'ab'.repeat(81) }],
    ['an unknown type', { signatureType: 'EdDSA' as Seal['signatureType'] }],
    ['a key of the other type', { signatureType: 'Ed25519', signatureIdentity: 'ab'.repeat(33) }],
    ['a height that is no Int', { blockNumber: 2 ** 31 }],
    ['a height that no key of the store holds', { blockNumber: 2 ** 48 }],
    ['a count beyond four bytes', { cidCount: 2 ** 32 }],
    ['a short hash', { blockHash: '0x1234' }],
    ['a short root', { merkleRoot: '1234' }],
    ['a long network', { network: 'x'.repeat(131) }],
    ['a local time', { createdAt: '2026-01-02T03:04:05+01:00' }],
    ['a time with fractions', { createdAt: '2026-01-02T03:04:05.6Z' }],
    ['a thirteenth month', { createdAt: '2026-13-02T03:04:05Z' }],
  ]
  for (const [name, change] of cases) {
    await t.test(name, () =>
      assert.throws(() => decodeSealedBlock(encodeSealedBlock([{ ...parts, ...change }], null)), {
        code: 'PRIMITIVES_MESSAGE_MALFORMED',
      }),
    )
  }
  await t.test('no seal at all', () =>
    assert.throws(() => decodeSealedBlock(encodeSealedBlock([], null)), {
      code: 'PRIMITIVES_MESSAGE_MALFORMED',
    }),
  )
})

test('any bytes are refused, or exactly the message of what they hold', () => {
  const message = encodeSealedBlock([parts], Buffer.alloc(20, 7))
  const flipped = fc.nat(8 * message.length - 1).map((bit) => {
    const copy = Uint8Array.from(message)
    copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    return copy
  })
  const cut = fc.nat(message.length - 1).map((length) => message.subarray(0, length))
  const longer = fc
    .uint8Array({ minLength: 1, maxLength: 4 })
    .map((tail) => Buffer.concat([message, tail]))
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array(), flipped, cut, longer), (bytes) => {
      const decoded = attempt(bytes)
      if (decoded === undefined) return
      assert.deepEqual(
        Buffer.from(encodeSealedBlock(decoded.seals, decoded.body)),
        Buffer.from(bytes),
      )
    }),
    { numRuns: 1500 },
  )
})

/** The message, or undefined when it was refused; any other failure is passed on. */
function attempt(bytes: Uint8Array): SealedBlock | undefined {
  try {
    return decodeSealedBlock(bytes)
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'PRIMITIVES_MESSAGE_MALFORMED') {
      return undefined
    }
    throw error
  }
}
