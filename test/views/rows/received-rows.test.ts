import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createByteWriter } from '../../../src/primitives/cbor.ts'
import { writeValue } from '../../../src/views/rows/row-codec.ts'
import { parseRowType } from '../../../src/views/rows/row-type.ts'
import type { JsonValue } from '../../../src/views/rows/row-values.ts'
import { createRowPacker, emptyRowsRoot } from '../../../src/views/rows/rows.ts'
import { areTaken, type Fields, packAgain, received, rowOf, rowsIn } from '../support/made-rows.ts'

const scalars = ['String', 'Int', 'Float', 'Boolean', 'ID', 'BigInt', 'JSON'] as const

/** Any type of up to six fields. */
const rowTypes = fc
  .array(
    fc.record({ scalar: fc.constantFrom(...scalars), list: fc.boolean(), index: fc.boolean() }),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((fields) => {
    const lines = fields.map(({ scalar, list, index }, at) => {
      const type = list ? `[${scalar}]` : scalar
      return `f${at}: ${type}${index && scalar !== 'JSON' ? ' @index' : ''}`
    })
    return parseRowType(`type T { ${lines.join(' ')} }`)
  })

const json = fc
  .jsonValue({ stringUnit: 'binary', maxDepth: 4 })
  .map((value): JsonValue => JSON.parse(JSON.stringify(value)))
const digits = fc.constantFrom(...['-0', '007', '+1', ' 1', '1e3', '-', '0x1F', '0xff', ''])
const long = fc
  .tuple(fc.constantFrom('', '-'), fc.integer({ min: 97, max: 121 }), fc.nat(9))
  .map(([sign, length, digit]) => `${sign}${String(digit).repeat(length)}`)
const hex = fc
  .tuple(fc.integer({ min: 95, max: 99 }), fc.constantFrom('f', '1'))
  .map(([length, digit]) => `0x${digit.repeat(length)}`)
const numbers = fc.constantFrom(
  ...[0, -0, 1, -1, 23, 24, -24, -25, 0.5, -1.5, 1e21, -1e300, 2 ** 53, -(2 ** 53)],
  ...[2 ** 53 - 1, 1 - 2 ** 53, 5e-324],
)
/** Any value, also of other types, with many that are only just one or no longer. */
const values = fc.oneof(
  json,
  numbers,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.bigInt().map(String),
  digits,
  long,
  hex,
)
const anyValues = fc.oneof(values, fc.array(values, { maxLength: 5 }))
const source = fc.option(fc.maxSafeNat(), { nil: null })

/** A type, and documents with something for each of its fields. */
const madeOf = (range: fc.ArrayConstraints) =>
  rowTypes.chain((rowType) => {
    const names = rowType.fields.map(({ name }) => name)
    const document = fc.record(Object.fromEntries(names.map((name) => [name, anyValues])))
    return fc.record({
      rowType: fc.constant(rowType),
      rows: fc.array(fc.tuple(document, source), range),
    })
  })
const made = madeOf({ maxLength: 150, size: 'medium' })

function packed(
  rowType: Fields,
  rows: readonly (readonly [Readonly<Record<string, unknown>>, number | null])[],
): ReturnType<ReturnType<typeof createRowPacker>['finish']> {
  const packer = createRowPacker(rowType)
  for (const [document, from] of rows) packer.add(document, from)
  return packer.finish()
}

test('packed rows of any type are read with the root and the terms that their packer gave', () => {
  fc.assert(
    fc.property(made, ({ rowType, rows }) => {
      const own = packed(rowType, rows)
      const read = received(rowType, rows.length, own.bytes)
      assert.deepEqual(read, { ...own, mismatches: 0 })
      assert.equal(read?.bytes, own.bytes)
      for (const other of [rows.length - 1, rows.length + 1, 0.5, -1, Number.NaN])
        assert.equal(received(rowType, other, own.bytes), undefined)
    }),
    { numRuns: 150 },
  )
})

test('no rows are no bytes', () => {
  const rowType = parseRowType('type T { a: Int }')
  const none = { count: 0, bytes: Buffer.alloc(0), terms: [], root: emptyRowsRoot, mismatches: 0 }
  assert.deepEqual(received(rowType, 0, Buffer.alloc(0)), none)
  assert.equal(received(rowType, 1, Buffer.alloc(0)), undefined)
  for (const bytes of ['80', '00', 'f6', '81000000'])
    assert.equal(received(rowType, 0, Buffer.from(bytes, 'hex')), undefined)
})

test('rows of any values are read exactly where a Host would make the same of them', () => {
  const rows = rowTypes.chain((rowType) => {
    const { length } = rowType.fields
    const row = fc.tuple(fc.array(anyValues, { minLength: length, maxLength: length }), source)
    return fc.tuple(fc.constant(rowType), fc.array(row, { minLength: 1, maxLength: 3 }))
  })
  const taken = { yes: 0, no: 0 }
  fc.assert(
    fc.property(rows, ([rowType, all]) => {
      const bytes = all.map(([row, from]) => rowOf(row, from))
      const isTaken = areTaken(rowType, bytes)
      assert.equal(isTaken, packAgain(rowType, bytes) !== undefined)
      taken[isTaken ? 'yes' : 'no'] += 1
    }),
    { numRuns: 3000 },
  )
  assert.ok(taken.yes > 20 && taken.no > 20, JSON.stringify(taken))
})

/** One change of some bytes: another bit, an end, more of them, or a piece of others. */
const changes = fc.record({
  kind: fc.constantFrom('flip', 'byte', 'cut', 'extend', 'splice', 'remove'),
  at: fc.nat(),
  length: fc.integer({ min: 1, max: 12 }),
  byte: fc.nat(255),
})
type Change = typeof changes extends fc.Arbitrary<infer T> ? T : never

function changed(bytes: Buffer, other: Buffer, { kind, at, length, byte }: Change): Buffer {
  const place = at % Math.max(1, bytes.length)
  const [before, after] = [bytes.subarray(0, place), bytes.subarray(place)]
  const from = at % Math.max(1, other.length)
  switch (kind) {
    case 'flip':
      return Buffer.concat([
        before,
        Buffer.of((after[0] ?? 0) ^ (1 << (byte % 8))),
        after.subarray(1),
      ])
    case 'byte':
      return Buffer.concat([before, Buffer.of(byte), after.subarray(1)])
    case 'cut':
      return before
    case 'extend':
      return Buffer.concat([bytes, Buffer.alloc(length, byte)])
    case 'splice':
      return Buffer.concat([before, other.subarray(from, from + length), after.subarray(length)])
    case 'remove':
      return Buffer.concat([before, after.subarray(length)])
  }
}

test('a changed row is read exactly where a Host would make the same bytes', () => {
  const few = madeOf({ minLength: 1, maxLength: 3 })
  const taken = { yes: 0, no: 0 }
  fc.assert(
    fc.property(few, changes, fc.nat(), ({ rowType, rows }, change, place) => {
      const all = rowsIn(packed(rowType, rows).bytes)
      const [at, next] = [place % all.length, (place + 1) % all.length]
      const [row, other] = [all[at] ?? Buffer.alloc(0), all[next] ?? Buffer.alloc(0)]
      all[at] = changed(row, other, change)
      const isTaken = areTaken(rowType, all)
      assert.equal(isTaken, packAgain(rowType, all) !== undefined)
      taken[isTaken ? 'yes' : 'no'] += 1
    }),
    { numRuns: 3000 },
  )
  assert.ok(taken.yes > 20 && taken.no > 20, JSON.stringify(taken))
})

test('changed bytes are refused, or are rows of which a Host would make the same', () => {
  fc.assert(
    fc.property(
      made,
      changes,
      fc.integer({ min: -1, max: 1 }),
      ({ rowType, rows }, change, more) => {
        const bytes = Buffer.from(packed(rowType, rows).bytes)
        const other = Buffer.from(packed(rowType, rows.toReversed()).bytes)
        const sent = changed(bytes, other, change)
        const read = received(rowType, rows.length + more, sent)
        if (read === undefined) return
        const again = packAgain(rowType, rowsIn(sent))
        assert.deepEqual({ ...read, bytes: null }, { ...again, bytes: null })
        assert.equal(read.bytes, sent)
      },
    ),
    { numRuns: 500 },
  )
})

test('bytes at random are refused for one reason', () => {
  const rowType = parseRowType('type T { a: JSON b: [BigInt] @index }')
  const anyBytes = fc.uint8Array({ maxLength: 300, size: 'max' })
  fc.assert(
    fc.property(anyBytes, fc.integer({ min: 1, max: 4 }), (bytes, count) => {
      assert.equal(received(rowType, count, bytes), undefined)
      const row = Buffer.concat([Buffer.from('82f682', 'hex'), bytes])
      assert.equal(areTaken(rowType, [row]), packAgain(rowType, [row]) !== undefined)
    }),
    { numRuns: 3000 },
  )
})

test('a row is a pair of a source and as many values as its type has', () => {
  const rowType = parseRowType('type T { a: Int b: Int }')
  const isRow = (hexBytes: string): boolean => areTaken(rowType, [Buffer.from(hexBytes, 'hex')])
  for (const bytes of ['82f6820102', '8200820102', '82181882f6f6']) assert.ok(isRow(bytes), bytes)
  for (const bytes of [
    ...['', '82', '82f6', '82f682', '82f68201', '82f682010200', '81f6', '83f682010200'],
    ...['82f68101', '82f683010203', '82f69f0102ff', '82f698020102', '82f6f6'],
    ...['8220820102', '821801820102', '82f4820102', '82fb3ff8000000000000820102', '826130820102'],
  ])
    assert.ok(!isRow(bytes), bytes)
})

/** Whether a value is taken as one of this type, in the bytes of hex. */
function isValue(type: string, hexBytes: string): boolean {
  const rowType = parseRowType(`type T { a: ${type} }`)
  const row = Buffer.concat([Buffer.from('82f681', 'hex'), Buffer.from(hexBytes, 'hex')])
  return areTaken(rowType, [row])
}

function cbor(value: JsonValue): string {
  const out = createByteWriter()
  writeValue(out, value)
  return out.bytes.toString('hex', 0, out.at)
}

test('a value has one form only, which is the shortest', () => {
  const forms: readonly (readonly [type: string, taken: string, refused: readonly string[]])[] = [
    ['Int', '17', ['1817', '190017', 'fb4037000000000000', 'f94dc0', 'c017', '40']],
    ['Int', cbor(2 ** 53 - 1), ['1b0020000000000000', cbor(2 ** 53), cbor(1.5)]],
    ['Int', cbor(1 - 2 ** 53), ['3b001fffffffffffff', '3bffffffffffffffff', cbor(-(2 ** 53))]],
    ['Float', '00', ['fb0000000000000000', 'fb8000000000000000', '1800', '3800', 'fb']],
    ['Float', cbor(1.5), ['f93e00', 'fa3fc00000', 'fb7ff8000000000000', 'fb7ff0000000000000']],
    ['Float', cbor(-1.5), [`1800${cbor(1.5)}`, `3800${cbor(1.5)}`]],
    ['Boolean', 'f5', ['f7', '01', 'f815', '6474727565']],
    ['String', '6161', ['780161', '7f6161ff', '4161', '61ff', '63eda080', '61']],
    ['ID', 'f6', ['f7', '', '01']],
    ['BigInt', cbor('-10'), [cbor('-0'), cbor('010'), cbor(''), cbor('1\n'), cbor('0x1'), '01']],
    ['[Int]', '8101', ['980101', '9f01ff', '01', '816131', '81', '8102f6']],
    ['JSON', 'a2616101616202', ['a2616202616101', 'a2616101616102', 'b802616101616202', 'a1']],
    ['JSON', 'a261620162616100', ['a262616100616201', 'bf61620162616100ff', 'a10100', 'a16161']],
    ['JSON', '80', ['c080', 'd82a4100', '40', 'ff', '8180ff']],
  ]
  for (const [type, taken, refused] of forms) {
    assert.ok(isValue(type, taken), `${type} ${taken}`)
    for (const bytes of refused) assert.ok(!isValue(type, bytes), `${type} ${bytes}`)
  }
})

test('keys of an object come by their length first, however their lengths are written', () => {
  const type = 'JSON'
  for (const length of [1, 22, 23, 24, 255, 256]) {
    const [shorter, longer] = [cbor('z'.repeat(length)), cbor('a'.repeat(length + 1))]
    assert.ok(isValue(type, `a2${shorter}00${longer}00`), `${length}`)
    assert.ok(!isValue(type, `a2${longer}00${shorter}00`), `${length}`)
  }
})
