import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encode } from '@ipld/dag-cbor'
import fc from 'fast-check'
import { ServiceError } from '../../../src/errors.ts'
import { readRow } from '../../../src/views/rows/row-codec.ts'
import { rowLimits } from '../../../src/views/rows/row-limits.ts'
import { parseRowType } from '../../../src/views/rows/row-type.ts'
import {
  createStreamPacker,
  decodeStreamPiece,
  type StreamBlock,
} from '../../../src/views/rows/streamed-rows.ts'

const rowType = parseRowType('type V { s: String n: Int j: JSON }')
const block = (height: number): StreamBlock => ({
  height,
  blockHash: `0x${height.toString(16).padStart(64, '0')}`,
})

/** Blocks, places and values of all rows of a piece. */
function rowsOf(bytes: Uint8Array, first: number) {
  return decodeStreamPiece(bytes, first).flatMap(({ block: of, chunk }) =>
    Array.from({ length: chunk.length }, (_, index) => ({
      of,
      position: chunk.first + index,
      values: readRow(chunk.values(chunk.first + index)).values,
    })),
  )
}

const arbitraryBlock = fc.option(fc.integer({ min: 0, max: 2 ** 40 }).map(block), { nil: null })
const arbitraryRow = fc.record({
  of: arbitraryBlock,
  s: fc.option(fc.string(), { nil: null }),
  n: fc.option(fc.maxSafeInteger(), { nil: null }),
  source: fc.option(fc.json(), { nil: null }),
})

test('rows of a stream come out of their pieces as they went in, numbered on', () => {
  const check = fc.property(
    fc.array(arbitraryRow, { maxLength: 40, size: 'max' }),
    fc.nat(1_000),
    (rows, first) => {
      const packer = createStreamPacker(rowType)
      for (const { of, s, n, source } of rows) packer.add({ s, n }, of, source)
      assert.deepEqual(
        rowsOf(packer.take(), first),
        rows.map(({ of, s, n, source }, index) => ({
          of,
          position: first + index,
          values: [s, n === 0 ? 0 : n, null, ...(source === null ? [] : [source])],
        })),
      )
      assert.deepEqual(decodeStreamPiece(packer.take(), 0), [])
    },
  )
  fc.assert(check)
})

test('values that are not of the type are null and counted', () => {
  const packer = createStreamPacker(rowType)
  packer.add({ s: 1, n: 'x', j: { a: 1 } }, block(1), null)
  assert.deepEqual(rowsOf(packer.take(), 0)[0]?.values, [null, null, { a: 1 }])
  assert.equal(packer.mismatches, 2)
})

test('neighbouring rows of one block are one group, and what is taken is gone', () => {
  const packer = createStreamPacker(rowType)
  const blocks = [null, null, block(1), block(1), block(2), null, block(2)]
  for (const each of blocks) packer.add({}, each, null)
  assert.ok(packer.bytes > 0)
  assert.deepEqual(
    decodeStreamPiece(packer.take(), 5).map(({ block: of, chunk }) => [
      of,
      chunk.first,
      chunk.length,
    ]),
    [
      [null, 5, 2],
      [block(1), 7, 2],
      [block(2), 9, 1],
      [null, 10, 1],
      [block(2), 11, 1],
    ],
  )
  assert.equal(packer.bytes, 0)
  packer.add({}, block(2), null)
  assert.equal(packer.bytes, 6)
  assert.equal(decodeStreamPiece(packer.take(), 0).length, 1)
})

test('a row is taken up to its limit, and the text of its source does not count', () => {
  /** Bytes of the row beside its text; a source takes up to 9 with its length. */
  const [beside, source] = [10, 9]
  const longest = 'x'.repeat(rowLimits.rowBytes - beside + source)
  const packer = createStreamPacker(rowType)
  packer.add({ s: longest }, null, null)
  assert.equal(packer.bytes, rowLimits.rowBytes + source)
  for (const text of ['é'.repeat(9), longest]) packer.add({ s: longest.slice(source) }, null, text)
  const refusal = { code: 'LENS_OUTPUT_LIMIT', message: 'a row takes more than 262144 bytes' }
  for (const text of [null, '', longest])
    assert.throws(() => packer.add({ s: `${longest}x` }, null, text), refusal)
})

describe('a piece that is damaged', () => {
  const packer = createStreamPacker(rowType)
  for (let height = 0; height < 5; height++)
    packer.add({ s: 'text', n: height }, height === 4 ? null : block(height >> 1), '{}')
  const whole = packer.take()

  test('is refused or read as other rows, and nothing else happens', () => {
    const check = fc.property(
      fc.nat(whole.length - 1),
      fc.nat(255),
      fc.nat(whole.length),
      (at, value, length) => {
        const damaged = whole.slice(0, length)
        if (at < damaged.length) damaged[at] = value
        try {
          rowsOf(damaged, 0)
        } catch (error) {
          assert.ok(error instanceof ServiceError, String(error))
        }
      },
    )
    fc.assert(check, { numRuns: 2_000 })
  })

  test('is refused for a group without rows, with too few bytes, or with a hash of another length', () => {
    const row = [4, 0, 0, 0, 0x82, 0xf6, 0x81, 0xf6]
    const group = [7, Buffer.alloc(32), 1, Buffer.from(row)]
    assert.equal(
      decodeStreamPiece(encode([...group, ...group.with(1, Buffer.alloc(0))]), 0).length,
      2,
    )
    const ofNothing = decodeStreamPiece(encode(group.with(3, Buffer.alloc(4))), 0)
    assert.deepEqual([...(ofNothing[0]?.chunk.values(0) ?? [0])], [])
    const refused = [
      group.with(0, -1),
      group.with(1, 0),
      group.with(1, Buffer.alloc(31)),
      group.with(1, Buffer.alloc(33)),
      group.with(2, 0),
      group.with(2, -1),
      group.with(2, 3),
      group.with(3, 0),
      group.slice(0, 3),
      [...group, 1],
    ]
    for (const fields of refused)
      assert.throws(() => decodeStreamPiece(encode(fields), 0), { code: 'VIEWS_ROW_MALFORMED' })
    const counted = [4, 5, 6, 7].map((fields) => {
      const two = encode([...group, ...group])
      two[0] = 0x80 + fields
      return two
    })
    for (const damaged of [...counted, encode(7), Buffer.concat([encode(group), Buffer.of(0)])])
      assert.throws(() => decodeStreamPiece(damaged, 0), { code: 'VIEWS_ROW_MALFORMED' })
  })

  test('is refused when it is no piece at all', () => {
    const refused = fc.property(fc.uint8Array({ maxLength: 64, size: 'max' }), (bytes) => {
      try {
        decodeStreamPiece(bytes, 0)
      } catch (error) {
        assert.ok(error instanceof ServiceError, String(error))
      }
    })
    fc.assert(refused, { numRuns: 2_000 })
  })
})
