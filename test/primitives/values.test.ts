import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode } from '@ipld/dag-cbor'
import fc from 'fast-check'
import { ServiceError } from '../../src/errors.ts'
import { createByteReader, createByteWriter } from '../../src/primitives/cbor.ts'
import {
  blockSections,
  type CollectionName,
  collections,
  fieldIndex,
  type Value,
} from '../../src/primitives/collections.ts'
import { toDocuments } from '../../src/primitives/documents.ts'
import {
  canonicalBytes,
  decodeValues,
  encodeValues,
  readField,
  scanValues,
  skipItem,
  valueCount,
  writeValues,
} from '../../src/primitives/values.ts'
import { answeredBlock } from './arbitrary-block.ts'

const names = Object.keys(collections) as CollectionName[]
const log: readonly Value[] = [
  `0x${'11'.repeat(20)}`,
  '0x',
  `0x${'22'.repeat(32)}`,
  `0x${'33'.repeat(32)}`,
  'false',
  [`0x${'44'.repeat(32)}`],
  7,
  0,
  300,
]
const seal: readonly Value[] = [
  7,
  `0x${'33'.repeat(32)}`,
  'ab'.repeat(32),
  'ES256K',
  '02'.repeat(33),
  '30',
  '2026-01-02T03:04:05Z',
  761,
]

test('hex is held as bytes, Int as integer, text as text, a list as array', () => {
  const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex')
  assert.deepEqual(
    Buffer.from(encodeValues('Log', log)),
    Buffer.from(
      encode([
        bytes('11'.repeat(20)),
        bytes(''),
        bytes('22'.repeat(32)),
        bytes('33'.repeat(32)),
        'false',
        [bytes('44'.repeat(32))],
        7,
        0,
        300,
      ]),
    ),
  )
  assert.deepEqual(decodeValues('Log', encodeValues('Log', log)), log)
  assert.deepEqual(decodeValues('BlockSignature', encodeValues('BlockSignature', seal)), seal)
})

test('the canonical bytes are version, type name, docID and values', () => {
  const stored = encodeValues('BlockSignature', seal)
  const bytes = Buffer.from(
    canonicalBytes('Local__Devnet', 'BlockSignature', 'seal-0x33-02', stored),
  )
  const start = Buffer.from(encode([1, 'Local__Devnet__BlockSignature', 'seal-0x33-02', 0]))
  assert.deepEqual(bytes.subarray(0, start.length - 1), start.subarray(0, -1))
  assert.deepEqual(bytes.subarray(start.length - 1), Buffer.from(stored))
  const long = Buffer.alloc(1_000, 0x61)
  const whole = canonicalBytes('Local__Devnet', 'BlockSignature', 'seal-0x33-02', long)
  assert.deepEqual(Buffer.from(whole.subarray(start.length - 1)), long)
})

/** A transaction of this value and nothing more than it needs. */
function transactionOf(value: Value, others: readonly [string, Value][] = []): Value[] {
  const blank: Value[] = Array.from({ length: valueCount('Transaction') }, () => null)
  const given: [string, Value][] = [
    ['hash', `0x${'22'.repeat(32)}`],
    ['blockHash', `0x${'33'.repeat(32)}`],
    ['blockNumber', 1],
    ['transactionIndex', 0],
    ['value', value],
    ...others,
  ]
  for (const [field, each] of given) blank[fieldIndex('Transaction', field)] = each
  return blank
}

test('quantities of every size keep their shortest form', () => {
  const place = fieldIndex('Transaction', 'value')
  fc.assert(
    fc.property(fc.oneof(fc.bigInt(0n, 300n), fc.bigInt(0n, 2n ** 256n - 1n)), (value) => {
      const values = transactionOf(`0x${value.toString(16)}`)
      const bytes = encodeValues('Transaction', values)
      assert.deepEqual(decodeValues('Transaction', bytes), values)
      assert.equal(readField('Transaction', bytes, place), values[place])
    }),
  )
})

test('values are written the same whatever room there is for them', () => {
  const values = transactionOf('0x1', [
    ['blockNumber', 2 ** 31 - 1],
    ['transactionIndex', 2 ** 31 - 1],
    ['status', true],
  ])
  const expected = encodeValues('Transaction', values)
  for (let capacity = 1; capacity <= expected.length; capacity++) {
    const out = createByteWriter(capacity)
    writeValues(out, 'Transaction', values)
    assert.deepEqual(Buffer.from(out.bytes.subarray(0, out.at)), expected)
  }
})

test('a quantity of zero stands before a height of zero', () => {
  const values = transactionOf('0x1', [
    ['effectiveGasPrice', '0x0'],
    ['blockNumber', 0],
  ])
  assert.deepEqual(decodeValues('Transaction', encodeValues('Transaction', values)), values)
})

test('a quantity that is longer than it need be, or than 32 bytes, is refused by name', () => {
  for (const value of ['0x01', '0x00', '0x', '1', `0x1${'0'.repeat(64)}`])
    assert.throws(
      () => encodeValues('Transaction', transactionOf(value)),
      (error) => error instanceof ServiceError && error.facts['field'] === 'value',
      value,
    )
})

test('values that do not fit their field are refused by name', () => {
  const cases: [number, Value][] = [
    [fieldIndex('Log', 'address'), '0x12'],
    [fieldIndex('Log', 'address'), null],
    [fieldIndex('Log', 'address'), [`0x${'11'.repeat(20)}`]],
    [fieldIndex('Log', 'data'), '0x123'],
    [fieldIndex('Log', 'data'), '12'],
    [fieldIndex('Log', 'data'), '0y12'],
    [fieldIndex('Log', 'data'), '1x12'],
    [fieldIndex('Log', 'transactionHash'), '0x12'],
    [fieldIndex('Log', 'transactionHash'), `0x${'zz'.repeat(32)}`],
    [fieldIndex('Log', 'topics'), null],
    [fieldIndex('Log', 'topics'), 'x'],
    [fieldIndex('Log', 'topics'), ['0x12']],
    [fieldIndex('Log', 'data'), 7],
    [fieldIndex('Log', 'logIndex'), '7'],
    [fieldIndex('Log', 'logIndex'), -1],
    [fieldIndex('Log', 'logIndex'), 2 ** 53],
    [fieldIndex('Log', 'logIndex'), 1.5],
    [fieldIndex('Log', 'logIndex'), true],
    [fieldIndex('Log', 'logIndex'), ['0x']],
  ]
  for (const [place, value] of cases) {
    const field = collections.Log.fields[place]?.name ?? ''
    assert.throws(
      () => encodeValues('Log', log.toSpliced(place, 1, value)),
      (error) => error instanceof ServiceError && error.facts['field'] === field,
    )
  }
})

test('what is refused is shown up to its 80th character', () => {
  const found = `"0x${'z'.repeat(77)}`
  assert.throws(() => encodeValues('Log', log.toSpliced(1, 1, `0x${'z'.repeat(100)}`)), {
    message: `Log.data cannot be stored as data: ${found}`,
    facts: { collection: 'Log', field: 'data', found },
  })
})

test('all fields are read as they were written, and each the same without the others', () => {
  fc.assert(
    fc.property(answeredBlock, ({ block, receipts }) => {
      const { documents } = toDocuments('Local__Devnet', block, receipts)
      for (const { collection, values } of blockSections.flatMap((name) => [...documents[name]])) {
        const bytes = encodeValues(collection, values)
        assert.deepEqual(decodeValues(collection, bytes), values)
        for (const [place, value] of values.entries()) {
          assert.deepEqual(readField(collection, bytes, place), value)
        }
      }
    }),
    { numRuns: 20 },
  )
})

const refusal = { code: 'PRIMITIVES_NOT_CANONICAL' }

test('every second way to write the same values is refused', () => {
  const good = Buffer.from(encodeValues('AccessListEntry', [`0x${'11'.repeat(20)}`, 7, []]))
  const address = good.subarray(1, 22)
  const others = [
    Buffer.concat([good, Buffer.of(0)]),
    good.subarray(0, -1),
    Buffer.concat([Buffer.of(0x98, 3), good.subarray(1)]),
    Buffer.concat([Buffer.of(0x9f), good.subarray(1), Buffer.of(0xff)]),
    Buffer.concat([Buffer.of(0x83), address, Buffer.of(0x18, 7, 0x80)]),
    Buffer.concat([Buffer.of(0x83), address, Buffer.of(0x07, 0xf6)]),
    Buffer.concat([Buffer.of(0x83), address, Buffer.of(0x07, 0x81, 0xf6)]),
    Buffer.concat([Buffer.of(0x83), address, Buffer.of(0xf6, 0x80)]),
    Buffer.concat([Buffer.of(0x83), address, Buffer.of(0x26, 0x80)]),
    Buffer.concat([Buffer.of(0x83), address, Buffer.of(0x07, 0x9b, 0, 0x1f, 0, 0, 0, 0, 0, 0)]),
    Buffer.concat([Buffer.of(0x83, 0x78, 20), address.subarray(1), Buffer.of(0x07, 0x80)]),
    Buffer.concat([Buffer.of(0x83, 0xd8, 42), address, Buffer.of(0x07, 0x80)]),
  ]
  assert.doesNotThrow(() => decodeValues('AccessListEntry', good))
  for (const bytes of others) assert.throws(() => decodeValues('AccessListEntry', bytes), refusal)
})

test('bytes that end within a document are refused at the field where they end', () => {
  fc.assert(
    fc.property(answeredBlock, fc.nat(9), ({ block, receipts }, before) => {
      const { documents } = toDocuments('Local__Devnet', block, receipts)
      const { collection, values } =
        documents.Transaction[0] ?? documents.Block[0] ?? assert.fail('no block')
      const bytes = encodeValues(collection, values)
      const chunk = Buffer.concat([Buffer.alloc(before), bytes, Buffer.alloc(9, 0xf6)])
      const offsets = new Int32Array(values.length + 1)
      const end = before + bytes.length
      assert.equal(scanValues(collection, chunk, before, end, offsets), undefined)
      assert.equal(offsets.at(-1), end)
      assert.equal(scanValues(collection, chunk, before, end + 1, offsets.slice()), 'values')
      for (let cut = before; cut < end; cut++) {
        const place = offsets.findLastIndex((offset) => offset <= cut)
        const field = collections[collection].fields[place]?.name ?? 'values'
        assert.equal(scanValues(collection, chunk, before, cut, offsets.slice()), field)
        if (place >= 0) assert.ok(!skipItem(createByteReader(chunk, offsets[place], cut)))
      }
      for (const [place, offset] of offsets.entries()) {
        const reader = createByteReader(chunk, offset, end)
        assert.equal(skipItem(reader), offset < end)
        if (offset < end) assert.equal(reader.at, offsets[place + 1])
      }
    }),
    { numRuns: 20 },
  )
})

test('a list of texts is skipped, of whatever length these are', () => {
  const bytes = encode(['', 'a', 'ab'])
  const reader = createByteReader(bytes)
  assert.ok(skipItem(reader))
  assert.equal(reader.at, bytes.length)
})

test('no field is read behind a value that is damaged', () => {
  const bytes = Buffer.from(encodeValues('Log', log))
  const offsets = new Int32Array(log.length + 1)
  scanValues('Log', bytes, 0, bytes.length, offsets)
  const damage: [string, string[]][] = [
    ['data', ['5800', '5f', '5c', 'f7', 'fb', '20', 'a0', 'c0']],
    ['removed', ['7800', '7f', 'fb']],
    ['topics', ['9800', '9f', '81', '81f6', '8100', '8180', '815800', '817800']],
    ['blockNumber', ['1807', '1c', '1b0020000000000000', '27', 'f7']],
  ]
  for (const [field, found] of damage) {
    const place = fieldIndex('Log', field)
    for (const hex of found) {
      const before = bytes.subarray(0, offsets[place])
      const behind = bytes.subarray(offsets[place + 1])
      const damaged = Buffer.concat([before, Buffer.from(hex, 'hex'), behind])
      assert.equal(readField('Log', damaged, 0), log[0])
      assert.throws(() => readField('Log', damaged, log.length - 1), refusal, `${field} ${hex}`)
    }
  }
})

test('a quantity with a zero in front or of more than 32 bytes is refused', () => {
  const block = (size: Uint8Array): Uint8Array =>
    encode([
      Buffer.alloc(32),
      Buffer.of(1),
      Buffer.alloc(32),
      ...Array.from({ length: 6 }, () => null),
      size,
      ...Array.from({ length: 7 }, () => null),
      1,
      [],
    ])
  assert.equal(readField('Block', block(Buffer.of(1, 0)), fieldIndex('Block', 'size')), '0x100')
  for (const size of [Buffer.of(0), Buffer.of(0, 1), Buffer.alloc(33, 1)]) {
    assert.throws(() => decodeValues('Block', block(size)), {
      ...refusal,
      facts: { collection: 'Block', field: 'size' },
    })
  }
})

test('any bytes are refused, or exactly what their values are written as', () => {
  const garbage = fc.uint8Array({ maxLength: 120, size: 'max' })
  const damaged = fc
    .tuple(
      fc.constantFrom(encodeValues('Log', log), encodeValues('BlockSignature', seal)),
      fc.nat(8 * 250),
      fc.nat(250),
    )
    .map(([bytes, bit, length]) => {
      const copy = Uint8Array.from(bytes)
      const at = (bit >> 3) % copy.length
      copy[at] = (copy[at] ?? 0) ^ (1 << (bit & 7))
      return length < copy.length / 8 ? copy.subarray(0, -1 - length) : copy
    })
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.oneof(garbage, damaged), (name, bytes) => {
      const values = attempt(() => decodeValues(name, bytes))
      if (values !== undefined) assert.deepEqual(encodeValues(name, values), Buffer.from(bytes))
      for (let place = 0; place < valueCount(name); place++) {
        const value = attempt(() => readField(name, bytes, place))
        if (values !== undefined) assert.deepEqual(value, values[place])
      }
    }),
    { numRuns: 1500 },
  )
})

/** The result, or undefined when the bytes were refused; any other failure is passed on. */
function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'PRIMITIVES_NOT_CANONICAL') return undefined
    throw error
  }
}
