/** The messages by which nodes find out which heads and seals they lack. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { encode } from '@ipld/dag-cbor'
import fc from 'fast-check'
import type { Seal } from '../../src/primitives/seal.ts'
import {
  decodeDigestsAnswer,
  decodeHeadsAnswer,
  decodeSealsAnswer,
  decodeVoteRequest,
  encodeDigestsAnswer,
  encodeHeadsAnswer,
  encodeSealsAnswer,
  encodeVoteRequest,
  type GroupDigest,
  groupDigest,
  type VoteRequest,
  voteLimits,
} from '../../src/primitives/vote-exchange.ts'

const refusal = { code: 'PRIMITIVES_MESSAGE_MALFORMED' }
const hex = (length: number): fc.Arbitrary<string> =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes) => Buffer.from(bytes).toString('hex'))
const identity = fc.oneof(hex(32), hex(33))
const range = fc
  .tuple(fc.nat({ max: 2 ** 31 - 5000 }), fc.nat({ max: voteLimits.maxHeights - 1 }))
  .map(([from, length]) => ({ from, to: from + length }))
const after = fc.option(
  fc.record(
    { height: fc.nat(), blockHash: hex(32).map((text) => `0x${text}`) },
    { noNullPrototype: true },
  ),
)
const request: fc.Arbitrary<VoteRequest> = fc.oneof(
  fc
    .array(identity, { maxLength: 4 })
    .map((identities) => ({ kind: 'heads', identities }) as const),
  fc
    .tuple(range, fc.array(identity, { maxLength: 4 }))
    .map(([heights, identities]) => ({ kind: 'digests', ...heights, identities }) as const),
  fc.tuple(identity, range, after).map(([who, heights, place]) => ({
    kind: 'seals' as const,
    identity: who,
    ...heights,
    after: place,
  })),
)
const digest: fc.Arbitrary<GroupDigest> = fc.record(
  { identity, group: fc.nat(), digest: hex(16) },
  { noNullPrototype: true },
)
const seal: fc.Arbitrary<Seal> = fc.record(
  {
    network: fc.constant('Local__Devnet'),
    blockNumber: fc.nat(),
    blockHash: hex(32).map((text) => `0x${text}`),
    merkleRoot: hex(32),
    cidCount: fc.nat(),
    signatureType: fc.constant('Ed25519' as const),
    signatureIdentity: hex(32),
    signatureValue: hex(64),
    createdAt: fc.constant('2026-01-02T03:04:05Z'),
  },
  { noNullPrototype: true },
)

test('requests and answers are read as they were written', () => {
  fc.assert(
    fc.property(request, (given) => {
      assert.deepEqual(decodeVoteRequest(encodeVoteRequest(given)), given)
    }),
  )
  fc.assert(
    fc.property(fc.array(digest, { maxLength: 5 }), (given) => {
      assert.deepEqual(decodeDigestsAnswer(encodeDigestsAnswer(given)), given)
    }),
  )
  fc.assert(
    fc.property(fc.array(seal, { maxLength: 3 }), fc.boolean(), (seals, more) => {
      assert.deepEqual(decodeSealsAnswer(encodeSealsAnswer({ seals, more })), { seals, more })
    }),
  )
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 300, size: 'max' }), { maxLength: 3 }),
      (heads) => {
        assert.deepEqual(decodeHeadsAnswer(encodeHeadsAnswer(heads)), heads)
      },
    ),
  )
})

test('requests and answers are the DAG-CBOR of the lists that the protocol names', () => {
  const key = 'ab'.repeat(32)
  const bytes = Buffer.from(key, 'hex')
  const cases: [Uint8Array, unknown][] = [
    [encodeVoteRequest({ kind: 'heads', identities: [key] }), ['heads', [bytes]]],
    [
      encodeVoteRequest({ kind: 'digests', from: 3, to: 70, identities: [] }),
      ['digests', 3, 70, []],
    ],
    [
      encodeVoteRequest({
        kind: 'seals',
        identity: key,
        from: 3,
        to: 70,
        after: { height: 5, blockHash: `0x${key}` },
      }),
      ['seals', bytes, 3, 70, [5, bytes]],
    ],
    [
      encodeDigestsAnswer([{ identity: key, group: 7, digest: 'cd'.repeat(16) }]),
      ['digests', [[bytes, 7, Buffer.from('cd'.repeat(16), 'hex')]]],
    ],
    [encodeSealsAnswer({ seals: [], more: true }), ['seals', [], true]],
    [encodeHeadsAnswer([Buffer.from('ff', 'hex')]), ['heads', [Buffer.from('ff', 'hex')]]],
  ]
  for (const [message, value] of cases)
    assert.deepEqual(Buffer.from(message), Buffer.from(encode(value)))
})

test('a list of the protocol with one item more is refused, whatever stands around it', () => {
  const [key, half] = [Buffer.alloc(32, 0xab), Buffer.alloc(16, 0xcd)]
  const cases: [(bytes: Uint8Array) => unknown, whole: unknown, ...longer: unknown[]][] = [
    [decodeVoteRequest, ['heads', [key]], ['heads', [key], 1]],
    [decodeVoteRequest, ['digests', 3, 70, []], ['digests', 3, 70, [], 1]],
    [
      decodeVoteRequest,
      ['seals', key, 3, 70, [5, key]],
      ['seals', key, 3, 70, [5, key], 1],
      ['seals', key, 3, 70, [5, key, 1]],
    ],
    [
      decodeDigestsAnswer,
      ['digests', [[key, 7, half]]],
      ['digests', [[key, 7, half]], 1],
      ['digests', [[key, 7, half, 1]]],
    ],
    [decodeSealsAnswer, ['seals', [], true], ['seals', [], true, 1]],
    [decodeHeadsAnswer, ['heads', [key]], ['heads', [key], 1]],
  ]
  for (const [decode, whole, ...longer] of cases) {
    decode(encode(whole))
    for (const value of longer) assert.throws(() => decode(encode(value)), refusal)
  }
})

test('a list is refused whose head promises one item more than there are', () => {
  const [key, half] = [Buffer.alloc(32, 0xab), Buffer.alloc(16, 0xcd)]
  const cases: [(bytes: Uint8Array) => unknown, whole: unknown, lists: number][] = [
    [decodeVoteRequest, ['heads', [key]], 2],
    [decodeVoteRequest, ['digests', 3, 70, [key]], 2],
    [decodeVoteRequest, ['seals', key, 3, 70, [5, key]], 2],
    [decodeDigestsAnswer, ['digests', [[key, 7, half]]], 3],
    [decodeSealsAnswer, ['seals', [], true], 2],
    [decodeHeadsAnswer, ['heads', [key]], 2],
  ]
  for (const [decode, whole, lists] of cases) {
    const bytes = encode(whole)
    decode(bytes)
    const heads = [...bytes.entries()].filter(([, byte]) => byte >>> 5 === 4)
    assert.equal(heads.length, lists)
    for (const [at, head] of heads)
      assert.throws(() => decode(bytes.with(at, head + 1)), refusal, `${whole} ${at}`)
  }
})

test('a request of another kind is refused, whatever its form', () => {
  const key = Buffer.alloc(32, 0xab)
  const unknown = { ...refusal, facts: { why: 'a request is unknown' } }
  for (const request of [
    ['tails', [key]],
    ['tails', 3, 70, [key]],
    ['tails', key, 3, 70, null],
    ['heads', key, 3],
    ['seals', [key]],
    ['digests', [key]],
  ])
    assert.throws(() => decodeVoteRequest(encode(request)), unknown)
  for (const request of [['heads'], ['seals', key, 3, 70, null, 1]])
    assert.throws(() => decodeVoteRequest(encode(request)), {
      facts: { why: 'a request has a wrong length' },
    })
})

test('a height is refused that is no number, or not in its shortest form', () => {
  const message = (heights: string): Buffer =>
    Buffer.concat([encode(['digests']).with(0, 0x84), Buffer.from(`${heights}80`, 'hex')])
  assert.deepEqual(decodeVoteRequest(message('031846')), {
    kind: 'digests',
    from: 3,
    to: 70,
    identities: [],
  })
  for (const heights of [
    '18031846',
    '1900031846',
    '03190046',
    '221846',
    'f61846',
    '411846',
    '03f6',
  ])
    assert.throws(() => decodeVoteRequest(message(heights)), refusal, heights)
})

test('one request is bounded', async (t) => {
  const key = 'ab'.repeat(33)
  const many = (count: number): string[] => Array.from({ length: count }, () => key)
  const cases: [string, VoteRequest][] = [
    ['more identities', { kind: 'heads', identities: many(voteLimits.maxIdentities + 1) }],
    ['more heights', { kind: 'digests', from: 0, to: voteLimits.maxHeights, identities: [] }],
    ['a range that ends before it begins', { kind: 'digests', from: 9, to: 8, identities: [] }],
    ['more digests', { kind: 'digests', from: 63, to: 1_086, identities: many(64) }],
    [
      'heights that are no Int',
      { kind: 'seals', identity: key, from: 2 ** 31, to: 2 ** 31, after: null },
    ],
  ]
  for (const [name, given] of cases)
    await t.test(name, () => {
      assert.throws(() => decodeVoteRequest(encodeVoteRequest(given)), refusal)
    })
  const largest: VoteRequest = { kind: 'digests', from: 64, to: 1_087, identities: many(64) }
  assert.deepEqual(decodeVoteRequest(encodeVoteRequest(largest)), largest)
  const long = Buffer.alloc(voteLimits.maxRequestBytes + 1)
  assert.throws(() => decodeVoteRequest(long), { facts: { why: 'it is longer than the limit' } })
  assert.throws(() => decodeVoteRequest(long.subarray(1)), {
    facts: { why: 'a request has a wrong length' },
  })
})

test('one answer is bounded, and no item of it is of another kind', () => {
  const [key, half] = [Buffer.alloc(32, 0xab), Buffer.alloc(16, 0xcd)]
  const digest = [key, 2 ** 31 - 1, half]
  const written: Seal = {
    network: 'Local__Devnet',
    blockNumber: 1,
    blockHash: `0x${'11'.repeat(32)}`,
    merkleRoot: '22'.repeat(32),
    cidCount: 1,
    signatureType: 'Ed25519',
    signatureIdentity: '33'.repeat(32),
    signatureValue: '44'.repeat(64),
    createdAt: '2026-01-02T03:04:05Z',
  }
  const seals = (count: number, more: boolean): Uint8Array =>
    encodeSealsAnswer({ seals: Array<Seal>(count).fill(written), more })
  const { maxDigests, maxHeads, maxSeals } = voteLimits
  assert.equal(decodeHeadsAnswer(encode(['heads', Array(maxHeads).fill(key)])).length, maxHeads)
  assert.equal(decodeHeadsAnswer(encode(['heads', [Buffer.alloc(512)]]))[0]?.length, 512)
  const digests = decodeDigestsAnswer(encode(['digests', Array(maxDigests).fill(digest)]))
  assert.equal(digests.length, maxDigests)
  assert.equal(decodeSealsAnswer(seals(maxSeals, false)).seals.length, maxSeals)
  const refused: [(bytes: Uint8Array) => unknown, ...Uint8Array[]][] = [
    [
      decodeHeadsAnswer,
      encode(['heads', Array(maxHeads + 1).fill(key)]),
      encode(['heads', [Buffer.alloc(513)]]),
      encode(['heads', ['text']]),
      encode(['seals', [key]]),
    ],
    [
      decodeDigestsAnswer,
      encode(['digests', Array(maxDigests + 1).fill(digest)]),
      encode(['digests', [digest.with(1, 2 ** 31)]]),
      encode(['digests', [digest.with(2, Buffer.alloc(15))]]),
      encode(['digests', [digest.with(2, Buffer.alloc(17))]]),
      encode(['heads', [digest]]),
    ],
    [
      decodeSealsAnswer,
      seals(maxSeals + 1, true),
      encode(['seals', [], null]),
      encode(['seals', [], 1]),
      encode(['heads', [], true]),
      encode(['seals', [], true]).subarray(0, -1),
    ],
  ]
  for (const [decode, ...answers] of refused)
    for (const bytes of answers) assert.throws(() => decode(bytes), refusal)
})

test('any bytes are refused or read, and nothing else is thrown', () => {
  const decoders = [decodeVoteRequest, decodeDigestsAnswer, decodeSealsAnswer, decodeHeadsAnswer]
  const likely = fc.array(
    fc.oneof(fc.nat(255), fc.constantFrom(0x82, 0x83, 0x84, 0x85, 0x65, 0x66, 0x67, 0xf4, 0xf6)),
    { maxLength: 60, size: 'max' },
  )
  const changed = request.chain((given) => {
    const message = encodeVoteRequest(given)
    return fc.nat(8 * message.length - 1).map((bit) => {
      const copy = Uint8Array.from(message)
      copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      return copy
    })
  })
  const bytes = fc.oneof(
    likely.map((list) => Uint8Array.from(list)),
    changed,
  )
  fc.assert(
    fc.property(bytes, fc.constantFrom(...decoders), (message, decode) => {
      try {
        decode(message)
      } catch (error) {
        assert.equal((error as { code?: unknown }).code, refusal.code)
      }
    }),
    { numRuns: 3000 },
  )
})

test('a digest differs for other blocks, other roots and another order', () => {
  const one = { blockHash: `0x${'11'.repeat(32)}`, merkleRoot: '22'.repeat(32) }
  const other = { blockHash: `0x${'33'.repeat(32)}`, merkleRoot: '44'.repeat(32) }
  const digests = [[], [one], [other], [one, other], [other, one], [{ ...one, merkleRoot: '55' }]]
  assert.equal(new Set(digests.map(groupDigest)).size, digests.length)
  assert.equal(groupDigest([one]), groupDigest([{ ...one }]))
})

test('a digest is SHA-256 of block hashes and roots, of which 16 bytes are kept', () => {
  const seals = ['1', '3'].map((digit) => ({
    blockHash: `0x${digit.repeat(64)}`,
    merkleRoot: String(Number(digit) + 1).repeat(64),
  }))
  const bytes = Buffer.from(['11', '22', '33', '44'].map((byte) => byte.repeat(32)).join(''), 'hex')
  const whole = createHash('sha256').update(bytes).digest('hex')
  assert.equal(groupDigest(seals), whole.slice(0, 32))
})
