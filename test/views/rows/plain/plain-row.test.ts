import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rowLimits } from '../../../../src/views/rows/row-limits.ts'
import { parseRowType } from '../../../../src/views/rows/row-type.ts'
import { createRowPacker, type PackedRows } from '../../../../src/views/rows/rows.ts'

const rowType = parseRowType(`type T {
  text: String @index texts: [String] @index id: ID @index whole: BigInt @index wholes: [BigInt]
  int: Int @index ints: [Int] @index float: Float flag: Boolean @index flags: [Boolean] json: JSON jsons: [JSON]
}`)
const names = [...rowType.fields.map(({ name }) => name), 'other', 'constructor']

/** The rows of texts: straight from the text, or parsed where that is refused or `parsed` is set. */
function packed(texts: readonly string[], parsed: boolean): PackedRows & { plain: number } {
  const packer = createRowPacker(rowType)
  let plain = 0
  for (const [index, text] of texts.entries()) {
    const source = index === 0 ? null : index - 1
    if (!parsed && packer.addJson(Buffer.from(text), source)) plain += 1
    else packer.add(JSON.parse(text), source)
  }
  return { ...packer.finish(), plain }
}

function assertSame(texts: readonly string[]): number {
  const { plain, ...direct } = packed(texts, false)
  const { plain: none, ...parsed } = packed(texts, true)
  assert.equal(none, 0)
  assert.deepEqual(direct, parsed)
  return plain
}

const scalars = [
  ...[null, true, false, 0, -0, 7, -7, 0.5, 1e21, 2 ** 53, -(2 ** 53), 10 ** 15 - 1, 10 ** 15],
  ...['', '0', '00', '-1', '007', '0x1F', '12345678901234567890', '1'.repeat(100), '1'.repeat(101)],
  ...['x', 'é', '"', '\\', '\n', '\ud800', 'a'.repeat(64), 'a'.repeat(65), 'a'.repeat(10_000)],
]
const scalar = fc.oneof(
  fc.constantFrom(...scalars),
  fc.integer(),
  fc.string({ maxLength: 80, size: 'max' }),
  fc.double(),
)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { weight: 3, arbitrary: scalar },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 4 }) },
    {
      weight: 1,
      arbitrary: fc.dictionary(
        fc.oneof(fc.string({ maxLength: 5 }), fc.constantFrom('1', '10', '2', '__proto__')),
        tie('value'),
        { maxKeys: 5 },
      ),
    },
  ),
}))
const documents = fc.array(
  fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 14, size: 'max' }).map(textOf),
  { maxLength: 5 },
)

/** An object whose entries keep their order, and may have one name twice. */
function textOf(entries: readonly (readonly [name: string, value: unknown])[]): string {
  const written = entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
  return `{${written.join(',')}}`
}

test('rows straight from JSON are those of parsed documents, byte by byte', () => {
  fc.assert(
    fc.property(documents, (texts) => void assertSame(texts)),
    { numRuns: 2_000 },
  )
})

test('every value in every field, alone or in a list, makes the row that the parsed one makes', () => {
  const values = scalars.flatMap((value) => [value, [value], [null, value]])
  for (const name of names) assertSame(values.map((value) => textOf([[name, value]])))
})

test('what JSON.parse refuses is never taken, and the rest makes the same rows', () => {
  const change = fc.tuple(
    fc.nat(),
    fc.constantFrom('', ...'{}[]",:\\ 019-.eEtrufalsn\n\u007f\u0000é'),
  )
  fc.assert(
    fc.property(documents, fc.array(change, { minLength: 1, maxLength: 3 }), (texts, changes) => {
      for (const text of texts) {
        const broken = changes.reduce((kept, [at, character]) => {
          const place = at % kept.length
          return `${kept.slice(0, place)}${character}${kept.slice(place + 1)}` || '{'
        }, text)
        if (isObject(broken)) assertSame([broken])
        else assert.equal(createRowPacker(rowType).addJson(Buffer.from(broken), 0), false)
      }
    }),
    { numRuns: 2_000 },
  )
})

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

const ascii = fc
  .string({ maxLength: 80, size: 'max' })
  .map((text) => text.replaceAll(/["\\]/g, '~'))
const largest = 10 ** 15 - 1
const whole = fc.oneof(
  fc.constantFrom(0, 9, 10, largest, -largest),
  fc.integer({ min: -largest, max: largest }).map((value) => value + 0),
)
const digits = fc.oneof(
  fc.constantFrom('0', '9', '9'.repeat(100)),
  fc.bigInt(0n, 10n ** 100n - 1n).map(String),
)
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof(fc.constant(null), arbitrary)
const listOf = <T>(arbitrary: fc.Arbitrary<T>) =>
  orNull(fc.array(orNull(arbitrary), { maxLength: 4 }))
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { weight: 3, arbitrary: orNull(fc.oneof(ascii, whole, fc.boolean())) },
    { weight: 1, arbitrary: fc.array(tie('json'), { maxLength: 4 }) },
    { weight: 1, arbitrary: fc.dictionary(ascii, tie('json'), { maxKeys: 6 }) },
  ),
}))
const ofTheTypes = fc.record(
  {
    ...{ text: orNull(ascii), texts: listOf(ascii), id: orNull(fc.oneof(ascii, whole)) },
    ...{ whole: orNull(fc.oneof(digits, whole)), wholes: listOf(fc.oneof(digits, whole)) },
    ...{ int: orNull(whole), ints: listOf(whole), float: orNull(whole) },
    ...{ flag: orNull(fc.boolean()), flags: listOf(fc.boolean()), json, jsons: listOf(json) },
    ...{ other: json, lag: json, textt: json },
  },
  { requiredKeys: [] },
)

test('compact ASCII of the right types is taken without being parsed, whatever it says', () => {
  fc.assert(
    fc.property(fc.array(ofTheTypes, { maxLength: 5 }), (documents) => {
      const texts = documents.map((document) => JSON.stringify(document))
      assert.equal(assertSame(texts), texts.length)
    }),
    { numRuns: 200 },
  )
})

test('of all bytes those of printable ASCII and delete are taken in a text, without escapes', () => {
  const isTaken = (byte: number): boolean => {
    const [before, after] = ['{"text":"', '"}'].map((text) => Buffer.from(text))
    assert.ok(before && after)
    const text = Buffer.concat([before, Buffer.of(byte), after])
    return createRowPacker(rowType).addJson(text, 0)
  }
  const bytes = Array.from({ length: 256 }, (_, byte) => byte)
  const plain = Buffer.from(bytes.slice(0x20, 0x80)).toString().replaceAll(/["\\]/g, '')
  assert.equal(Buffer.from(bytes.filter(isTaken)).toString('latin1'), plain)
})

test('a row with values of all kinds is taken without being parsed', () => {
  const document = {
    other: { skipped: [1, { deep: null }] },
    ...{
      text: 'a'.repeat(200),
      texts: ['x', null, 'y'],
      id: 12,
      whole: '340282366920938463463',
      wholes: [1, '2'],
    },
    ...{ int: -5, ints: [], float: 3, flag: true, flags: [false, null], jsons: [[], {}] },
    json: { long: 'x', b: [1, -2, 'c'], a: { z: 1, y: null, x: { empty: {} } }, 10: 1, 2: 1 },
  }
  const texts = [document, {}, { text: null, texts: null }].map((each) => JSON.stringify(each))
  assert.equal(assertSame(texts), texts.length)
})

test('a text is parsed for a space, a value of another type, a name twice and deep nesting', () => {
  const texts = [
    ...[
      '{"text": "x"}',
      '{"text":1}',
      '{"int":1,"int":2}',
      '{"json":{"a":1,"a":2}}',
      '{"flag":[]}',
    ],
  ]
  assert.equal(assertSame(texts), 0)
})

test('a text is taken up to 16 levels, 64 entries of an object in a row and 15 digits', () => {
  const nested = (depth: number): string => `{"json":${'['.repeat(depth)}${']'.repeat(depth)}}`
  const entries = (count: number): string =>
    `{"json":{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join(',')}}}`
  const digits = (count: number): string => `{"json":-${'9'.repeat(count)}}`
  const within = [nested(16), entries(64), digits(15)]
  assert.equal(assertSame(within), within.length)
  const beyond = [nested(17), entries(65), digits(16)]
  assert.equal(assertSame(beyond), 0)
})

test('the limit of items in a row holds for lists and for what JSON nests', () => {
  const { rowItems } = rowLimits
  const listOf = (name: string, length: number): string => `{"${name}":[${Array(length).fill(1)}]}`
  const nested = (length: number): string =>
    `{"json":[${Array(10).fill(`[${Array(length / 10 - 1).fill(1)}]`)}]}`
  for (const text of [listOf('ints', rowItems), nested(rowItems)]) assertSame([text])
  for (const text of [listOf('ints', rowItems + 1), nested(rowItems + 10)])
    assert.throws(() => packed([text], false), { code: 'LENS_OUTPUT_LIMIT' })
  assert.equal(assertSame([nested(rowItems), listOf('ints', rowItems)]), 2)
})

test('a text is taken up to 16,384 entries and items, also where the row has none of them', () => {
  const withItems = (count: number): string => `{"other":[${Array(count).fill(1)}],"int":1}`
  const most = 16_384 - 2
  assert.equal(assertSame([withItems(most)]), 1)
  assert.equal(assertSame([withItems(most + 1)]), 0)
})
