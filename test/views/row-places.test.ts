import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ServiceError } from '../../src/errors.ts'
import { createByteWriter } from '../../src/primitives/cbor.ts'
import {
  openRowPlaces,
  readRowValue,
  sourcePlace,
  valuePlace,
  writeRow,
} from '../../src/views/row-codec.ts'
import { parseRowType } from '../../src/views/row-type.ts'
import { type JsonValue, toRow } from '../../src/views/row-values.ts'

const jsonType = parseRowType('type T { x: JSON }')
const row = fc.tuple(
  fc.array(fc.jsonValue({ stringUnit: 'binary' }), { maxLength: 30, size: 'max' }),
  fc.option(fc.nat(), { nil: null }),
)

function written(values: readonly JsonValue[], source: number | null): Buffer {
  const out = createByteWriter(1)
  writeRow(out, values, source)
  return out.bytes.subarray(0, out.at)
}

/** The values of rows whose only field has this JSON. */
const valuesOf = (json: unknown): readonly JsonValue[] => toRow(jsonType, { x: json }).values

test('any value of a row is found and read without those behind it, in any order', () => {
  fc.assert(
    fc.property(row, fc.nat(9), fc.infiniteStream(fc.nat(31)), ([all, source], before, asked) => {
      const values = all.flatMap((json) => valuesOf(JSON.parse(JSON.stringify(json))))
      const bytes = written(values, source)
      const chunk = Buffer.concat([Buffer.alloc(before, 0xff), bytes, Buffer.alloc(3, 0xff)])
      const end = before + bytes.length
      const places = openRowPlaces(chunk, before, end)
      for (const field of [...asked.take(3), ...values.keys()]) {
        const at = valuePlace(places, field)
        const found = at === undefined ? undefined : readRowValue(chunk, at, end)
        assert.deepEqual(found, values[field])
      }
      assert.equal(readRowValue(chunk, sourcePlace(places), end), source)
    }),
  )
})

test('what follows the value that is asked for is not looked at', () => {
  const bytes = written(valuesOf('first'), 7)
  bytes[2] = 0x82
  const places = openRowPlaces(bytes, 0, bytes.length)
  assert.equal(readRowValue(bytes, valuePlace(places, 0) ?? 0, bytes.length), 'first')
  assert.throws(() => readRowValue(bytes, valuePlace(places, 1) ?? 0, bytes.length), {
    code: 'VIEWS_ROW_MALFORMED',
  })
})

test('what is no row is refused where its values are read', () => {
  const isRefused = (bytes: Buffer): boolean => {
    try {
      const places = openRowPlaces(bytes, 0, bytes.length)
      readRowValue(bytes, sourcePlace(places), bytes.length)
      for (let field = 0; ; field++) {
        const at = valuePlace(places, field)
        if (at === undefined) return false
        readRowValue(bytes, at, bytes.length)
      }
    } catch (error) {
      assert.ok(error instanceof ServiceError && error.code === 'VIEWS_ROW_MALFORMED')
      return true
    }
  }
  for (const hex of [
    '',
    '82',
    '8200',
    '8200f6',
    '82001a',
    '82009affffffff',
    '8200bbff',
    '820081fb00',
    '8200816561',
  ])
    assert.ok(isRefused(Buffer.from(hex, 'hex')), hex)
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200, size: 'max' }),
      (bytes) => void isRefused(Buffer.from(bytes)),
    ),
  )
  const whole = written(valuesOf({ a: ['text', 1.5, -3, 2 ** 40] }), 3)
  for (let length = 0; length < whole.length; length++)
    assert.ok(isRefused(whole.subarray(0, length)))
})
