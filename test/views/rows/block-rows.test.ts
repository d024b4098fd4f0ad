import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode } from '@ipld/dag-cbor'
import fc from 'fast-check'
import { ServiceError } from '../../../src/errors.ts'
import {
  type BlockRows,
  blockRowsBytes,
  decodeBlockRows,
  decodeFailure,
  encodeBlockRows,
  encodeFailure,
} from '../../../src/views/rows/block-rows.ts'
import { emptyRowsRoot } from '../../../src/views/rows/rows.ts'
import { namedHash } from '../../support/chain/opaque-blocks.ts'

const bytes = fc.uint8Array({ maxLength: 40, size: 'max' }).map((each) => Buffer.from(each))
const place = fc.nat(2 ** 16 - 1)
const rows = fc
  .record({
    count: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
    mismatches: fc.nat(),
    root: fc.nat().map((seed) => namedHash(`root ${seed}`).slice(2)),
    bytes: bytes.filter(({ length }) => length > 0),
    terms: fc.array(fc.record({ field: place, chunk: place, value: bytes })),
  })
  .map((each) => ({ rows: each }))
const none = {
  rows: { count: 0, mismatches: 0, root: emptyRowsRoot, bytes: Buffer.alloc(0), terms: [] },
}
const failed = fc
  .oneof(
    bytes,
    fc.nat(3_000).map((length) => Buffer.alloc(length, 'x')),
  )
  .map((failure) => ({ failure }))
const blocks: fc.Arbitrary<BlockRows[]> = fc.array(
  fc
    .tuple(fc.nat({ max: 2 ** 48 - 2 }), fc.oneof(rows, failed, fc.constant(none)))
    .map(([height, made]) => {
      const documentsRoot = namedHash(`documents ${height}`).slice(2)
      return { height, blockHash: namedHash(`${height}`), documentsRoot, ...made }
    }),
)

function readOrRefused(encoded: Uint8Array): BlockRows[] | null {
  try {
    return decodeBlockRows(encoded)
  } catch (error) {
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, 'VIEWS_ROW_MALFORMED')
    assert.ok(error.remedy !== undefined)
    return null
  }
}

test('rows and failures of any blocks are read back from their bytes', () => {
  fc.assert(
    fc.property(blocks, (made) => {
      const plain = JSON.stringify(decodeBlockRows(encodeBlockRows(made)))
      assert.equal(plain, JSON.stringify(made))
    }),
  )
})

test('bytes that are cut off or followed by others are refused', () => {
  fc.assert(
    fc.property(blocks, fc.nat(), (made, cut) => {
      const encoded = encodeBlockRows(made)
      assert.equal(readOrRefused(encoded.subarray(0, cut % encoded.length)), null)
      assert.equal(readOrRefused(Buffer.concat([encoded, Buffer.of(0)])), null)
    }),
  )
})

test('any other bytes are refused or read, and claim no memory that they do not have', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100, size: 'max' }), (any) => void readOrRefused(any)),
  )
  for (const hex of ['9bffffffffffffff', '9a7fffffff', '81861b00ffffffffffffff', '81860058'])
    assert.equal(readOrRefused(Buffer.from(hex, 'hex')), null)
})

test('a block is taken with numbers and hashes at their bounds, and refused beyond them', () => {
  const [hash, empty] = [Buffer.alloc(32, 1), Buffer.alloc(0)]
  const failed = [7, hash, hash, Buffer.of(9)]
  const done = [7, hash, hash, 1, 0, hash, Buffer.of(9), [0, 0, empty]]
  const taken = [
    [failed, done, failed],
    [done.with(0, 2 ** 48 - 2), failed.with(0, 0)],
    [done.with(3, 2 ** 32 - 1)],
    [done.with(3, 0).with(6, empty)],
    [done.with(7, [])],
    [done.with(7, [2 ** 16 - 1, 0, hash, 0, 2 ** 16 - 1, hash])],
  ]
  for (const each of taken) assert.equal(readOrRefused(encode(each))?.length, each.length)
  const refused = [
    done.with(0, 2 ** 48 - 1),
    failed.with(0, 2 ** 48 - 1),
    done.with(3, 2 ** 32),
    done.with(3, 0),
    done.with(6, empty),
    done.with(7, [2 ** 16, 0, hash]),
    done.with(7, [0, 2 ** 16, hash]),
    done.with(7, [0, 0]),
    ...[1, 2, 5].flatMap((place) =>
      [31, 33].map((length) => done.with(place, Buffer.alloc(length))),
    ),
    ...[0, 3, 4].map((place) => done.with(place, -1)),
    ...[
      [-1, 0, hash],
      [0, -1, hash],
      [0, 0, 1],
    ].map((term) => done.with(7, term)),
  ]
  for (const each of refused) assert.equal(readOrRefused(encode([each])), null)
  for (const [block, fields] of [
    [failed, 3],
    [failed, 8],
    [done, 4],
    [done, 7],
    [done, 9],
  ] as const) {
    const bytes = encode([block])
    bytes[1] = 0x80 + fields
    assert.equal(readOrRefused(bytes), null)
  }
})

test('terms are refused where their list names more parts than there are, or half a term', () => {
  const term = Buffer.from(encode([1, 2, Buffer.alloc(32, 3)])).subarray(1)
  const hash = Buffer.alloc(32, 1)
  const block = Buffer.from(encode([[7, hash, hash, 1, 0, hash, Buffer.of(9), []]])).subarray(0, -1)
  const read = (head: string) =>
    readOrRefused(Buffer.concat([block, Buffer.from(head, 'hex'), term]))
  assert.equal(read('83')?.length, 1)
  for (const head of ['80', '82', '84', '85', '86', '9b0000030000000000'])
    assert.equal(read(head), null, head)
})

test('a block counts 180 bytes and its rows or failure, each of its terms 128 and its value', () => {
  const block = { height: 1, blockHash: namedHash('1'), documentsRoot: emptyRowsRoot }
  assert.equal(blockRowsBytes({ ...block, failure: Buffer.alloc(7) }), 187)
  const terms = [3, 5].map((length) => ({ field: 0, chunk: 0, value: Buffer.alloc(length) }))
  const made = { ...none.rows, bytes: Buffer.alloc(11), terms }
  assert.equal(blockRowsBytes({ ...block, rows: made }), 180 + 11 + (128 + 3) + (128 + 5))
})

test('a failure is read back with the text, remedy and attempts that were stored', () => {
  const failure = {
    code: 'LENS_TIMEOUT',
    message: 'It took “too long”.',
    remedy: null,
    attempts: 3,
  }
  assert.deepEqual(decodeFailure(encodeFailure(failure)), failure)
})

test('blocks never take more bytes than they count for', () => {
  fc.assert(
    fc.property(blocks, (made) => {
      const counted = made.reduce((sum, block) => sum + blockRowsBytes(block), 9)
      assert.ok(encodeBlockRows(made).length <= counted)
    }),
  )
})
