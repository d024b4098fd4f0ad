import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { putRowValue } from '../../../src/graphql/rows/put-row-value.ts'
import { createByteWriter } from '../../../src/primitives/cbor.ts'
import { writeValue } from '../../../src/views/row-codec.ts'
import { parseRowType } from '../../../src/views/row-type.ts'
import { toRow } from '../../../src/views/row-values.ts'

const jsonType = parseRowType('type T { x: JSON }')

test('a stored value is written as JSON, text as JSON.stringify writes it', () => {
  const values = fc.oneof(
    fc.jsonValue({ stringUnit: 'binary' }),
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '"',
      '\\',
      '\n',
      '\u2028',
      '\ufeff',
      'ä€😀',
      '',
      2 ** 53 - 1,
      -(2 ** 53 - 1),
      1e300,
    ),
  )
  fc.assert(
    fc.property(values, fc.nat(5), (json, before) => {
      const [value = null] = toRow(jsonType, { x: json }).values
      const stored = createByteWriter(1)
      stored.at = 0
      writeValue(stored, value)
      const out = createByteWriter(before + 1)
      out.bytes.fill(0x20, 0, before)
      out.at = before
      putRowValue(out, stored.bytes, 0, stored.at)
      const text = out.bytes.toString('utf8', before, out.at)
      assert.deepEqual(JSON.parse(text), value)
      if (typeof value === 'string') assert.equal(text, JSON.stringify(value))
    }),
    { numRuns: 500 },
  )
})
