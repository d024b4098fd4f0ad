import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rowLimits } from '../../../src/views/rows/row-limits.ts'
import { parseRowType } from '../../../src/views/rows/row-type.ts'
import { maxBigIntCharacters, maxJsonDepth, toRow } from '../../../src/views/rows/row-values.ts'

const everyType = parseRowType(
  'type T { s: String id: ID b: Boolean i: Int f: Float n: BigInt j: JSON l: [Int] }',
)

/** The row of one field of a type. */
function valueAs(type: string, value: unknown): unknown {
  const { values, mismatches } = toRow(parseRowType(`type T { x: ${type} }`), { x: value })
  assert.equal(mismatches > 0, value !== null && JSON.stringify(values[0]).includes('null'))
  return values[0]
}

test('a row has the values of the SDL’s fields in its order, and nothing else', () => {
  const document = {
    l: [1, 2],
    extra: true,
    j: { a: [null] },
    n: '12',
    f: 1.5,
    i: -3,
    b: false,
    id: 'x',
    s: 'text',
  }
  assert.deepEqual(toRow(everyType, document), {
    values: ['text', 'x', false, -3, 1.5, '12', { a: [null] }, [1, 2]],
    mismatches: 0,
  })
})

test('what is missing or null becomes null and is no mismatch', () => {
  const { values, mismatches } = toRow(everyType, { s: null })
  assert.deepEqual(values, Array(8).fill(null))
  assert.equal(mismatches, 0)
})

test('a value of another type becomes null and is counted, in a list each item alone', () => {
  const document = { s: 1, id: true, b: 'true', i: 1.5, f: '1', n: '1.5', j: 1, l: [1, '2', null] }
  assert.deepEqual(toRow(everyType, document), {
    values: [null, null, null, null, null, null, 1, [1, null, null]],
    mismatches: 7,
  })
  assert.deepEqual(toRow(parseRowType('type T { l: [Int] }'), { l: 3 }), {
    values: [null],
    mismatches: 1,
  })
})

test('whole numbers are decimal text, whether they come as text, hex or a number', () => {
  assert.equal(valueAs('BigInt', '-007'), '-7')
  assert.equal(valueAs('BigInt', '0xFf'), '255')
  assert.equal(valueAs('BigInt', 12), '12')
  for (const wrong of ['', '+1', '-0x1', ' 1', '1e3', 2 ** 53, []])
    assert.equal(valueAs('BigInt', wrong), null)
  const digits = '9'.repeat(maxBigIntCharacters)
  assert.equal(valueAs('BigInt', digits), digits)
  assert.equal(valueAs('BigInt', `${digits}9`), null)
})

test('what JSON can say but no other program reads alike becomes null or is made alike', () => {
  assert.equal(valueAs('Float', JSON.parse('1e999')), null)
  for (const text of ['[1e999]', '{"a":1e999}'])
    assert.equal(valueAs('JSON', JSON.parse(text)), null)
  assert.ok(Object.is(valueAs('Float', -0), 0))
  assert.equal(valueAs('String', '\ud800'), '\ufffd')
  assert.equal(valueAs('Int', 2 ** 53), null)
  assert.equal(valueAs('ID', 7), '7')
})

test('JSON nests up to a limit, beyond which it becomes null', () => {
  for (const within of [(json: unknown) => [json], (json: unknown) => ({ a: json })]) {
    const nested = (depth: number): unknown => (depth === 0 ? 1 : within(nested(depth - 1)))
    assert.deepEqual(valueAs('JSON', nested(maxJsonDepth)), nested(maxJsonDepth))
    assert.equal(valueAs('JSON', nested(maxJsonDepth + 1)), null)
  }
})

test('a property with the name of the prototype stays a property', () => {
  const value = JSON.parse('{"__proto__":{"x":1}}')
  assert.equal(JSON.stringify(valueAs('JSON', value)), '{"__proto__":{"x":1}}')
  assert.deepEqual(toRow(parseRowType('type T { toString: String }'), {}).values, [null])
})

test('in JSON only ill-formed text and the negative zero are changed, wherever they are', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\ud800', '\ufffd', '__proto__') })
  const { value: anything } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.constantFrom(null, true, 0, -0, 1.5),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.array(fc.tuple(text, tie('value')), { maxLength: 4 }).map(Object.fromEntries),
    ),
  }))
  const expected = (value: unknown): unknown => {
    if (typeof value === 'string') return value.toWellFormed()
    if (typeof value === 'number') return value + 0
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(expected)
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key.toWellFormed(), expected(item)]),
    )
  }
  fc.assert(
    fc.property(anything, (value) => {
      const before = structuredClone(value)
      assert.deepEqual(toRow(everyType, { j: value }).values[6], expected(value))
      assert.deepEqual(value, before)
    }),
  )
})

test('of JSON that is as it is kept no copy is made, and a property without a value is as none', () => {
  const json = { a: [1, 'text', { b: null }] }
  assert.equal(toRow(everyType, { j: json }).values[6], json)
  assert.deepEqual(toRow(everyType, { j: undefined }), toRow(everyType, {}))
})

test('any JSON makes a row, the same again from what was kept of it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const names = everyType.fields.map(({ name }) => name)
      const document = Object.fromEntries(names.map((name) => [name, value]))
      const { values } = toRow(everyType, JSON.parse(JSON.stringify(document)))
      const kept = Object.fromEntries(names.map((name, index) => [name, values[index]]))
      assert.deepEqual(toRow(everyType, kept), { values, mismatches: 0 })
    }),
  )
})

test('a row has items and properties up to a limit, in all its values together', () => {
  const half = rowLimits.rowItems / 2
  const list = Array<number>(half).fill(1)
  const object = Object.fromEntries(list.map((_, index) => [`k${index}`, index]))
  const full = { l: list, j: object }
  assert.deepEqual(toRow(everyType, full).values.slice(6), [object, list])
  const beyond = [
    { l: [...list, null], j: object },
    { l: list, j: { ...object, more: null } },
    { l: list, j: [object] },
    { l: Array(8_000_000).fill(1) },
  ]
  for (const document of beyond)
    assert.throws(() => toRow(everyType, document), {
      code: 'LENS_OUTPUT_LIMIT',
      message: 'a row has more than 10000 items and properties in its values',
    })
})
