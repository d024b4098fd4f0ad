import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { singleOperand } from '../../../src/graphql/filter/operand.ts'
import { valueTest } from '../../../src/graphql/filter/value-test.ts'
import { createTextTest } from '../../../src/graphql/rows/stored-text.ts'
import { createByteWriter } from '../../../src/primitives/cbor.ts'
import {
  openRowPlaces,
  readRowValue,
  valuePlace,
  writeRow,
} from '../../../src/views/rows/row-codec.ts'
import type { JsonValue } from '../../../src/views/rows/row-values.ts'

const field = {
  name: 'field',
  kind: 'string',
  list: false,
  description: '',
  read: () => null,
} as const

/** Text in which hex of both cases, and characters that differ from hex in the bit of its case, are frequent. */
const characters = ['0', '1', '9', 'a', 'A', 'f', 'F', 'g', 'x', 'X', '\x10', '\x11', 'é', '@', '`']
const texts = fc.oneof(
  fc.string({ unit: fc.constantFrom(...characters), maxLength: 5 }),
  fc.string({ unit: fc.constantFrom(...characters), maxLength: 3 }).map((text) => `0x${text}`),
)
const values: fc.Arbitrary<JsonValue> = fc.oneof(texts, fc.constantFrom(null, 1, ['0xa'], {}))

function isText(value: JsonValue, text: string): boolean {
  const out = createByteWriter()
  writeRow(out, [value, 'next'], 0)
  const bytes = Buffer.from(out.bytes.subarray(0, out.at))
  const at = valuePlace(openRowPlaces(bytes, 0, bytes.length), 0) ?? bytes.length
  assert.deepEqual(readRowValue(bytes, at, bytes.length), value)
  return createTextTest(text)(bytes, at, bytes.length)
}

test('a stored text equals what its value does, hex in any case and all else exactly', () => {
  fc.assert(
    fc.property(values, texts, (value, asked) => {
      const operand = singleOperand(field, asked)
      assert.equal(isText(value, String(operand)), valueTest('string', '_eq', operand)(value))
    }),
    { numRuns: 5_000 },
  )
  assert.ok(isText('0xAb', '0xab'))
  assert.ok(!isText('0x\x11', '0x1'))
})
