/** Items of a peer's message, each read up to its bounds and refused just beyond them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type ByteReader,
  type ByteWriter,
  createByteReader,
  createByteWriter,
  major,
  readText,
  simple,
  writeBytes,
  writeHead,
  writeSimple,
  writeText,
} from '../../src/primitives/cbor.ts'
import {
  expectHead,
  present,
  readBoolean,
  readHash,
  readHeight,
  readHexBytes,
  readInteger,
  readLength,
  readList,
  readMessage,
  readNetwork,
  readRoot,
  readShortText,
  writeHash,
  writeHexBytes,
  writeList,
} from '../../src/primitives/wire.ts'

function written(write: (out: ByteWriter) => void): Uint8Array {
  const out = createByteWriter()
  write(out)
  return Uint8Array.from(out.bytes.subarray(0, out.at))
}

const int = (value: number) => written((out) => writeHead(out, major.int, value))
const text = (length: number) => written((out) => writeText(out, 'x'.repeat(length)))
const bytes = (length: number) => written((out) => writeBytes(out, Buffer.alloc(length, 0xab)))
const list = (length: number) =>
  written((out) =>
    writeList(out, Array(length).fill(7), (to, item) => writeHead(to, major.int, item)),
  )
const head = (length: number) => written((out) => writeHead(out, major.array, length))
const truth = (item: number) => written((out) => writeSimple(out, item))

const hex = (length: number): string => 'ab'.repeat(length)
const refusal = (why: string) => ({
  code: 'PRIMITIVES_MESSAGE_MALFORMED',
  message: `A message cannot be read: ${why}`,
})

/** What reads an item, bytes with what is read of them, and bytes with why they are refused. */
const items: Readonly<
  Record<
    string,
    {
      readonly read: (reader: ByteReader) => unknown
      readonly good: readonly (readonly [Uint8Array, unknown])[]
      readonly bad: readonly (readonly [Uint8Array, string])[]
    }
  >
> = {
  'the length of an array': {
    read: (reader) => readLength(reader, 'it', 2, 4),
    good: [2, 3, 4].map((length) => [head(length), length]),
    bad: [head(1), head(5), int(3), new Uint8Array(0)].map((each) => [
      each,
      'it has a wrong length',
    ]),
  },
  'a list': {
    read: (reader) => readList(reader, 'it', 3, (item) => readInteger(item, 'an item', 9)),
    good: [0, 1, 3].map((length) => [list(length), Array(length).fill(7)]),
    bad: [
      [list(4), 'it has a wrong length'],
      [list(3).subarray(0, 3), 'an item is unreadable or too large'],
    ],
  },
  'an integer': {
    read: (reader) => readInteger(reader, 'it', 300),
    good: [0, 23, 24, 300].map((value) => [int(value), value]),
    bad: [int(301), text(1), new Uint8Array(0)].map((each) => [
      each,
      'it is unreadable or too large',
    ]),
  },
  'a height': {
    read: readHeight,
    good: [0, 2 ** 31 - 1].map((value) => [int(value), value]),
    bad: [[int(2 ** 31), 'a height is unreadable or too large']],
  },
  'a truth value': {
    read: readBoolean,
    good: [
      [truth(simple.true), true],
      [truth(simple.false), false],
    ],
    bad: [truth(simple.null), int(1), new Uint8Array(0)].map((each) => [
      each,
      'a truth value is unreadable',
    ]),
  },
  bytes: {
    read: (reader) => readHexBytes(reader, 'it', 2, 4),
    good: [2, 3, 4].map((length) => [bytes(length), hex(length)]),
    bad: [
      [bytes(1), 'it has a wrong length'],
      [bytes(5), 'it has a wrong length'],
      [text(3), 'it is unreadable'],
      [bytes(3).subarray(0, 3), 'it is unreadable'],
    ],
  },
  'a hash': {
    read: (reader) => readHash(reader, 'it'),
    good: [[bytes(32), `0x${hex(32)}`]],
    bad: [31, 33].map((length) => [bytes(length), 'it has a wrong length']),
  },
  'a root': {
    read: readRoot,
    good: [[bytes(32), hex(32)]],
    bad: [31, 33].map((length) => [bytes(length), 'a root has a wrong length']),
  },
  text: {
    read: (reader) => readShortText(reader, 'it', 3),
    good: [0, 3].map((length) => [text(length), 'x'.repeat(length)]),
    bad: [
      [text(4), 'it is too long'],
      [bytes(2), 'it is unreadable'],
    ],
  },
  'a network': {
    read: readNetwork,
    good: [[text(130), 'x'.repeat(130)]],
    bad: [[text(131), 'a network is too long']],
  },
  'an item with one head': {
    read: (reader) => expectHead(reader, major.int, 5),
    good: [[int(5), undefined]],
    bad: [int(4), int(6), head(5)].map((each) => [each, 'its form is unknown']),
  },
}

for (const [name, { read, good, bad }] of Object.entries(items))
  test(`${name} is read up to its bounds, and refused beyond them`, () => {
    for (const [item, value] of good) {
      const reader = createByteReader(Uint8Array.of(...item, 0xff))
      assert.deepEqual(read(reader), value)
      assert.equal(reader.at, item.length)
    }
    for (const [item, why] of bad) assert.throws(() => read(createByteReader(item)), refusal(why))
  })

test('a message is read as a whole, up to its limit of bytes', () => {
  const read = (message: Uint8Array, most: number) => readMessage(message, most, readText)
  assert.equal(read(text(5), 6), 'xxxxx')
  assert.throws(() => read(text(5), 5), refusal('it is longer than the limit'))
  assert.throws(() => read(Uint8Array.of(...text(5), 0), 9), refusal('something follows its end'))
})

test('hex is written as bytes, a hash without its 0x', () => {
  assert.deepEqual(
    written((out) => writeHexBytes(out, hex(3))),
    bytes(3),
  )
  assert.deepEqual(
    written((out) => writeHash(out, `0x${hex(32)}`)),
    bytes(32),
  )
})

test('what may be any value is present unless it is undefined', () => {
  for (const value of [0, '', false, null]) assert.equal(present(value, 'it'), value)
  assert.throws(() => present(undefined, 'it'), refusal('it is unreadable'))
})
