import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode } from '@ipld/dag-cbor'
import fc from 'fast-check'
import { ServiceError } from '../../../src/errors.ts'
import { createByteWriter } from '../../../src/primitives/cbor.ts'
import {
  openRowPlaces,
  type RowPlaces,
  readRow,
  readRowValue,
  sourcePlace,
  valuePlace,
  writeRow,
} from '../../../src/views/rows/row-codec.ts'
import { parseRowType } from '../../../src/views/rows/row-type.ts'
import { type JsonValue, maxJsonDepth, toRow } from '../../../src/views/rows/row-values.ts'

const jsonType = parseRowType('type T { x: JSON }')
const source = fc.option(fc.nat(), { nil: null })
const rowOfValues = fc.tuple(
  fc.array(fc.jsonValue({ stringUnit: 'binary' }), { maxLength: 30, size: 'max' }),
  source,
)

function written(values: Parameters<typeof writeRow>[1], from: number | null): Buffer {
  const out = createByteWriter(1)
  writeRow(out, values, from)
  return out.bytes.subarray(0, out.at)
}

/** The values of rows whose only field has this JSON. */
const valuesOf = (json: unknown): Parameters<typeof writeRow>[1] =>
  toRow(jsonType, { x: json }).values

test('a row is the canonical DAG-CBOR of its source and values, and is read back', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), source, (json, from) => {
      const values = valuesOf(JSON.parse(JSON.stringify(json)))
      const bytes = written(values, from)
      assert.deepEqual(bytes, Buffer.from(encode([from, values])))
      assert.deepEqual(readRow(bytes), { source: from, values })
    }),
  )
})

test('objects with the same keys, or others, are sorted each for itself', () => {
  const keys = fc.shuffledSubarray([
    'a',
    'b',
    'cc',
    '\u00e9',
    'd\u00e9',
    'dcc',
    '\uffeea',
    '\u{1f600}',
    '',
  ])
  fc.assert(
    fc.property(fc.array(keys, { maxLength: 12, size: 'max' }), (lists) => {
      const objects = lists.map((list) => Object.fromEntries(list.map((key, at) => [key, at])))
      const values = valuesOf(objects)
      assert.deepEqual(written(values, 0), Buffer.from(encode([0, values])))
    }),
  )
})

test('any value of a row is found and read without those behind it, in any order', () => {
  fc.assert(
    fc.property(
      rowOfValues,
      fc.nat(9),
      fc.infiniteStream(fc.nat(31)),
      ([all, from], before, asked) => {
        const values = all.flatMap((json) => valuesOf(JSON.parse(JSON.stringify(json))))
        const bytes = written(values, from)
        const chunk = Buffer.concat([Buffer.alloc(before, 0xff), bytes, Buffer.alloc(3, 0xff)])
        const end = before + bytes.length
        const places = openRowPlaces(chunk, before, end)
        for (const field of [...asked.take(3), ...values.keys()]) {
          const at = valuePlace(places, field)
          const found = at === undefined ? undefined : readRowValue(chunk, at, end)
          assert.deepEqual(found, values[field])
        }
        assert.equal(readRowValue(chunk, sourcePlace(places), end), from)
      },
    ),
  )
})

test('what follows the value that is asked for is not looked at', () => {
  const bytes = written(valuesOf('first'), 7)
  bytes[2] = 0x82
  const places = openRowPlaces(bytes, 0, bytes.length)
  assert.equal(readRowValue(bytes, valuePlace(places, 0) ?? 0, bytes.length), 'first')
  assert.deepEqual(places.found, [1, 3])
  assert.throws(() => readRowValue(bytes, valuePlace(places, 1) ?? 0, bytes.length), {
    code: 'VIEWS_ROW_MALFORMED',
  })
})

test('every kind of value is passed over, behind one of any other kind', () => {
  const kinds = [0, 23, 24, 2 ** 40, -1, -300, 0.5, null, true, '', '\ufefftext', [], [1, [2]]]
  const objects = [{}, { a: 1, b: { c: -1 } }]
  const all: JsonValue[] = [...kinds, ...objects]
  for (const before of all) {
    const values = all.flatMap((value) => [before, value])
    const bytes = written(values, -1)
    const places = openRowPlaces(bytes, 0, bytes.length)
    const found = values.map((_, field) =>
      readRowValue(bytes, valuePlace(places, field) ?? 0, bytes.length),
    )
    assert.deepEqual(found, values)
    assert.equal(valuePlace(places, values.length), undefined)
  }
})

test('what is cut off is not passed over', () => {
  const passedOver = (hex: string): RowPlaces => {
    const places = openRowPlaces(Buffer.from(hex, 'hex'), 0, hex.length / 2)
    valuePlace(places, 1)
    return places
  }
  for (const [hex, at, found] of [
    ['8218', 1, 'it is cut off'],
    ['82fb00000000000000', 10, 'it is cut off'],
    ['82f6', 2, 'its values are not a list'],
    ['82f682', 4, 'it is cut off'],
    ['82f68218', 3, 'it is cut off'],
    ['82f68239', 3, 'it is cut off'],
    ['82f6826261', 4, 'a text is cut off'],
    ['82f6828201', 6, 'it is cut off'],
    ['82f682a16161', 7, 'it is cut off'],
    ['82f682fb00000000000000', 12, 'it is cut off'],
  ] as const)
    assert.throws(() => passedOver(hex), {
      code: 'VIEWS_ROW_MALFORMED',
      facts: { at, found },
    })
  assert.deepEqual(passedOver('82f682fb0000000000000000').found, [1, 3, 12])
})

/** Whether a row is refused, with the one reason that there is. */
function isMalformed(read: () => void): boolean {
  try {
    read()
    return false
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === 'VIEWS_ROW_MALFORMED')
    return true
  }
}

test('what is no row is refused where its values are read', () => {
  const isRefused = (bytes: Buffer, end: number = bytes.length): boolean =>
    isMalformed(() => {
      const places = openRowPlaces(bytes, 0, end)
      readRowValue(bytes, sourcePlace(places), end)
      for (let field = 0; ; field++) {
        const at = valuePlace(places, field)
        if (at === undefined) return
        readRowValue(bytes, at, end)
      }
    })
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
    assert.ok(isRefused(whole.subarray(0, length)) && isRefused(whole, length))
  // Behind each end stands what could be null.
  const cut = Buffer.from('820082fbf6f6f6f6f6f6f6f6f6', 'hex')
  for (let end = 0; end < cut.length; end++) assert.ok(isRefused(cut, end), `${end}`)
  assert.ok(!isRefused(cut))
})

test('the deepest JSON that a list in a row may hold is read back, and nothing deeper', () => {
  const nested = (depth: number): JsonValue => (depth === 0 ? 1 : { a: nested(depth - 1) })
  const listOf = (json: JsonValue) =>
    toRow(parseRowType('type T { x: [JSON] }'), { x: [json] }).values
  const values = [[nested(maxJsonDepth)]]
  assert.deepEqual(listOf(nested(maxJsonDepth)), values)
  assert.deepEqual(listOf(nested(maxJsonDepth + 1)), [[null]])
  assert.deepEqual(readRow(written(values, null)).values, values)
  assert.ok(isMalformed(() => void readRow(written([[nested(maxJsonDepth + 1)]], null))))
})

test('bytes that are no row are refused with the place and what is wrong there', () => {
  for (const [hex, message] of [
    ['81f6', '1: it is not a pair'],
    ['8261618101', '3: its source is not a number'],
    ['828080', '2: it nests too deep'],
    ['82f6f6', '3: its values are not a list'],
    ['82f680f6', '3: bytes follow it'],
    ['82f6811805', '5: a number is not in its shortest form'],
    ['82f6816261', '4: a text is cut off, or no UTF-8'],
    ['82f68201', '3: a list is cut off'],
    ['82f681a161', '4: a list is cut off'],
    ['82f681f7', '4: a value is unknown'],
    ['82f681fa0000000000000000', '4: a value is unknown'],
    ['82f681fb00', '4: a value is unknown'],
  ] as const)
    assert.throws(() => readRow(Buffer.from(hex, 'hex')), {
      code: 'VIEWS_ROW_MALFORMED',
      message: `A row cannot be read at byte ${message}.`,
    })
})

test('bytes that are no row are refused, and cost no memory', () => {
  const refused = (bytes: Uint8Array): boolean => isMalformed(() => void readRow(bytes))
  for (const hex of [
    '',
    '82',
    '8200',
    '820080f6',
    '82001a',
    '83f68080',
    '82009affffffff',
    '8200bbff',
  ])
    assert.ok(refused(Buffer.from(hex, 'hex')), hex)
  for (const opening of ['81', 'a16161'])
    assert.ok(refused(Buffer.from(`8200${opening.repeat(100_000)}f6`, 'hex')), opening)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200, size: 'max' }), (bytes) => void refused(bytes)),
  )
})

test('a row with one byte changed or cut off is read as another row or refused', () => {
  const base = fc.tuple(fc.jsonValue(), fc.nat(), fc.nat(255), fc.boolean())
  fc.assert(
    fc.property(base, ([json, place, byte, cut]) => {
      const bytes = written(valuesOf(json), 3)
      const at = place % bytes.length
      if (!cut) bytes[at] = byte
      try {
        readRow(cut ? bytes.subarray(0, at) : bytes)
        assert.ok(!cut)
      } catch (error) {
        assert.ok(error instanceof ServiceError)
      }
    }),
  )
})
