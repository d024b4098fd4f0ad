/** The messages by which Hosts fetch from each other what they signed of the rows of Views. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { encode } from '@ipld/dag-cbor'
import fc from 'fast-check'
import { voteLimits } from '../../src/primitives/vote-exchange.ts'
import { maxStatementBytes } from '../../src/row-votes/row-statement.ts'
import {
  decodeRowVoteRequest,
  decodeStatementsAnswer,
  encodeRowVoteRequest,
  encodeStatementsAnswer,
  maxStatements,
  type RowVoteRequest,
  type StatementsAnswer,
  statementsDigest,
} from '../../src/row-votes/row-vote-exchange.ts'

const refusal = { code: 'PRIMITIVES_MESSAGE_MALFORMED' }
const host = 'ab'.repeat(33)
const identity = fc.constantFrom(host, '02'.repeat(32))
const heights = fc
  .tuple(fc.nat(2 ** 31 - 5_000), fc.nat(voteLimits.maxHeights - 1))
  .map(([from, length]) => ({ from, to: from + length }))
const request: fc.Arbitrary<RowVoteRequest> = fc.oneof(
  fc
    .tuple(heights, fc.array(identity, { maxLength: 4 }))
    .map(([range, identities]) => ({ kind: 'digests', ...range, identities }) as const),
  fc
    .tuple(heights, identity)
    .map(([range, who]) => ({ kind: 'statements', identity: who, ...range }) as const),
)
const answer: fc.Arbitrary<StatementsAnswer> = fc.record(
  {
    statements: fc.array(fc.uint8Array({ maxLength: 300, size: 'max' }), { maxLength: 5 }),
    next: fc.option(fc.nat(2 ** 31 - 1)),
  },
  { noNullPrototype: true },
)

test('requests and answers about rows are read as they were written', () => {
  fc.assert(
    fc.property(request, (given) => {
      assert.deepEqual(decodeRowVoteRequest(encodeRowVoteRequest(given)), given)
    }),
  )
  fc.assert(
    fc.property(answer, (given) => {
      assert.deepEqual(decodeStatementsAnswer(encodeStatementsAnswer(given)), given)
    }),
  )
})

test('requests and answers about rows are the DAG-CBOR of the lists that the protocol names', () => {
  const key = Buffer.from(host, 'hex')
  const statement = Buffer.from('ff', 'hex')
  const cases: [Uint8Array, unknown][] = [
    [
      encodeRowVoteRequest({ kind: 'digests', from: 3, to: 70, identities: [host] }),
      ['digests', 3, 70, [key]],
    ],
    [
      encodeRowVoteRequest({ kind: 'statements', identity: host, from: 3, to: 70 }),
      ['statements', key, 3, 70],
    ],
    [
      encodeStatementsAnswer({ statements: [statement], next: null }),
      ['statements', [statement], null],
    ],
    [encodeStatementsAnswer({ statements: [], next: 9 }), ['statements', [], 9]],
  ]
  for (const [message, value] of cases)
    assert.deepEqual(Buffer.from(message), Buffer.from(encode(value)))
})

test('a request about rows has a range of 1,024 heights at most', () => {
  const of = (length: number): Uint8Array =>
    encodeRowVoteRequest({ kind: 'statements', identity: host, from: 5, to: 5 + length - 1 })
  assert.equal(decodeRowVoteRequest(of(1_024)).to, 1_028)
  assert.throws(() => decodeRowVoteRequest(of(1_025)), refusal)
  assert.throws(() => decodeRowVoteRequest(of(0)), refusal)
})

test('an answer has at most 256 statements, each within its limit, and 512 KiB', () => {
  const of = (count: number, bytes: number): Uint8Array => {
    const statements = Array.from({ length: count }, () => new Uint8Array(bytes))
    return encodeStatementsAnswer({ statements, next: null })
  }
  assert.equal(decodeStatementsAnswer(of(maxStatements, 9)).statements.length, maxStatements)
  assert.throws(() => decodeStatementsAnswer(of(maxStatements + 1, 9)), refusal)
  assert.equal(decodeStatementsAnswer(of(6, maxStatementBytes)).statements.length, 6)
  assert.throws(() => decodeStatementsAnswer(of(1, maxStatementBytes + 1)), refusal)
  assert.throws(() => decodeStatementsAnswer(of(7, maxStatementBytes)), refusal)
})

test('any bytes are refused, or exactly the message about rows that they hold', () => {
  const flipped = fc
    .oneof(request.map(encodeRowVoteRequest), answer.map(encodeStatementsAnswer))
    .chain((message) =>
      fc.nat(8 * message.length - 1).map((bit) => {
        const copy = Uint8Array.from(message)
        copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        return copy
      }),
    )
  const bytes = fc.oneof(fc.uint8Array({ maxLength: 60, size: 'max' }), flipped)
  const readers = fc.constantFrom(
    (message: Uint8Array) => encodeRowVoteRequest(decodeRowVoteRequest(message)),
    (message: Uint8Array) => encodeStatementsAnswer(decodeStatementsAnswer(message)),
  )
  fc.assert(
    fc.property(bytes, readers, (message, readAgain) => {
      let again: Uint8Array
      try {
        again = readAgain(message)
      } catch (error) {
        assert.equal((error as { code?: unknown }).code, refusal.code)
        return
      }
      assert.deepEqual(Buffer.from(again), Buffer.from(message))
    }),
    { numRuns: 3_000 },
  )
})

test('a message about rows that says it has more items than it has is refused', () => {
  const asked = encodeRowVoteRequest({ kind: 'statements', identity: host, from: 3, to: 70 })
  const answered = encodeStatementsAnswer({ statements: [], next: 9 })
  for (const message of [asked, answered]) message[0] = (message[0] ?? 0) + 1
  assert.throws(() => decodeRowVoteRequest(asked), refusal)
  assert.throws(() => decodeStatementsAnswer(answered), refusal)
})

test('a digest is over block hash, runtime version in four bytes and root of each statement', () => {
  const [block, root] = ['12'.repeat(32), '34'.repeat(32)]
  const digest = (bytes: string): string =>
    createHash('sha256')
      .update(bytes, 'hex')
      .digest('hex')
      .slice(0, 2 * 16)
  const of = (runtime: number) => ({ blockHash: `0x${block}`, runtime, root })
  assert.equal(statementsDigest([of(300)]), digest(`${block}0000012c${root}`))
  assert.equal(
    statementsDigest([of(1), of(2 ** 31 - 1)]),
    digest(`${block}00000001${root}${block}7fffffff${root}`),
  )
})

test('a digest differs for another block, runtime or root, and for another order', () => {
  const one = { blockHash: `0x${'11'.repeat(32)}`, runtime: 1, root: '22'.repeat(32) }
  const other = { ...one, runtime: 2 }
  const lists = [
    [],
    [one],
    [other],
    [one, other],
    [other, one],
    [{ ...one, blockHash: `0x${'33'.repeat(32)}` }],
    [{ ...one, root: '44'.repeat(32) }],
  ]
  assert.equal(new Set(lists.map(statementsDigest)).size, lists.length)
  assert.equal(statementsDigest([one]), statementsDigest([{ ...one }]))
})
