import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { test } from 'node:test'
import fc from 'fast-check'
import { putRowValue } from '../../../src/graphql/rows/put-row-value.ts'
import { createByteWriter } from '../../../src/primitives/cbor.ts'
import { readRowValue, writeValue } from '../../../src/views/rows/row-codec.ts'
import { parseRowType } from '../../../src/views/rows/row-type.ts'
import { type JsonValue, maxJsonDepth, toRow } from '../../../src/views/rows/row-values.ts'

const jsonType = parseRowType('type T { x: JSON }')

test('a stored value is written as JSON, text as JSON.stringify writes it', () => {
  const values = fc.oneof(
    fc.jsonValue({ stringUnit: 'binary' }),
    fc.dictionary(fc.constantFrom('1', '10', 'b', 'aa', '__proto__', '-1'), fc.jsonValue(), {
      noNullPrototype: true,
    }),
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
      assert.equal(text, JSON.stringify(readRowValue(stored.bytes, 0, stored.at)))
    }),
    { numRuns: 500 },
  )
})

/** What is returned, or the code of the error. */
function outcomeOf(run: () => string): string {
  try {
    return run()
  } catch (error) {
    return (error as { code: string }).code
  }
}

test('a value that nests as deep as rows may is written, and damaged ones as they are read', () => {
  const nested = (depth: number): JsonValue => (depth === 0 ? 'x' : [nested(depth - 1)])
  const stored = createByteWriter(1)
  writeValue(stored, {
    ...{ a: nested(maxJsonDepth - 1) },
    b: [1, -1, 0.5, true, null, 'text'],
    c: {},
  })
  const out = createByteWriter(1)
  putRowValue(out, stored.bytes, 0, stored.at)
  const whole = JSON.stringify(readRowValue(stored.bytes, 0, stored.at))
  assert.equal(out.bytes.toString('utf8', 0, out.at), whole)
  fc.assert(
    fc.property(fc.nat(stored.at - 1), fc.nat(255), fc.nat(stored.at - 1), (at, byte, cut) => {
      const damaged = Buffer.from(stored.bytes.subarray(0, stored.at - cut))
      if (at < damaged.length) damaged[at] = byte
      const read = outcomeOf(() => JSON.stringify(readRowValue(damaged, 0, damaged.length)))
      const put = outcomeOf(() => {
        const out = createByteWriter(1)
        putRowValue(out, damaged, 0, damaged.length)
        // Text is copied as it is: nobody stores any that is not UTF-8.
        if (!isUtf8(out.bytes.subarray(0, out.at))) return 'VIEWS_ROW_MALFORMED'
        return out.bytes.toString('utf8', 0, out.at)
      })
      assert.equal(put, read)
    }),
    { numRuns: 2_000 },
  )
})

test('an object whose keys are numbers is written with these first, as it is read', () => {
  for (const number of ['0', '9', '1', '99']) {
    const stored = createByteWriter(1)
    writeValue(stored, { '!': 1, [number]: 2 })
    const out = createByteWriter(1)
    putRowValue(out, stored.bytes, 0, stored.at)
    assert.equal(out.bytes.toString('utf8', 0, out.at), `{"${number}":2,"!":1}`)
  }
})

test('what is behind the end of a row, or nests deeper than rows may, is not written', () => {
  const inLists = (depth: number): JsonValue => (depth === 0 ? [] : [inLists(depth - 1)])
  const inObjects = (depth: number): JsonValue => (depth === 0 ? {} : { a: inObjects(depth - 1) })
  for (const [value, missing] of [
    [[1, null], 1],
    [inLists(200), 0],
    [inObjects(200), 0],
  ] as const) {
    const stored = createByteWriter(1)
    writeValue(stored, value)
    assert.throws(() => putRowValue(createByteWriter(1), stored.bytes, 0, stored.at - missing), {
      code: 'VIEWS_ROW_MALFORMED',
    })
  }
})
