import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ServiceError } from '../../src/errors.ts'
import {
  type BlockRows,
  blockRowsBytes,
  decodeBlockRows,
  encodeBlockRows,
} from '../../src/views/block-rows.ts'
import { emptyRowsRoot } from '../../src/views/rows.ts'
import { namedHash } from '../support/chain/opaque-blocks.ts'

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

test('blocks never take more bytes than they count for', () => {
  fc.assert(
    fc.property(blocks, (made) => {
      const counted = made.reduce((sum, block) => sum + blockRowsBytes(block), 9)
      assert.ok(encodeBlockRows(made).length <= counted)
    }),
  )
})
