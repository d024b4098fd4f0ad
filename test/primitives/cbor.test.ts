import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode } from '@ipld/dag-cbor'
import fc from 'fast-check'
import {
  type ByteWriter,
  createByteReader,
  createByteWriter,
  major,
  readBytes,
  readHead,
  readText,
  skipBoolean,
  skipNull,
  skipString,
  skipText,
  writeBytes,
  writeHead,
  writeHex,
  writeText,
} from '../../src/primitives/cbor.ts'

const boundaries = [0, 23, 24, 255, 256, 65535, 65536, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1]
const integer = fc.oneof(fc.constantFrom(...boundaries), fc.maxSafeNat())

function written(write: (out: ByteWriter) => void): Buffer {
  const out = createByteWriter(1)
  write(out)
  return out.bytes.subarray(0, out.at)
}

test('heads are in their shortest form, at every length', () => {
  fc.assert(
    fc.property(integer, (value) => {
      const bytes = written((out) => writeHead(out, major.int, value))
      assert.deepEqual(bytes, Buffer.from(encode(value)))
      assert.equal(readHead(createByteReader(bytes), major.int), value)
    }),
  )
})

test('byte strings and text are as the library writes them', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300, size: 'max' }),
      fc.string({ unit: 'binary' }),
      (bytes, text) => {
        const writtenBytes = written((out) => writeBytes(out, bytes))
        assert.deepEqual(writtenBytes, Buffer.from(encode(bytes)))
        assert.deepEqual(readBytes(createByteReader(writtenBytes)), Buffer.from(bytes))
        const writtenText = written((out) => writeText(out, text))
        assert.deepEqual(writtenText, Buffer.from(encode(text)))
        assert.equal(readText(createByteReader(writtenText)), text)
        assert.ok(skipText(createByteReader(writtenText)))
      },
    ),
  )
})

test('text of any length is written well, wherever a character is that is not ASCII', () => {
  const place = fc.nat(60)
  const character = fc.constantFrom('\u007f', '\u0080', '\u00e9')
  fc.assert(
    fc.property(fc.nat(60), fc.option(place), character, (length, at, other) => {
      const plain = 'x'.repeat(length)
      const text = at === null ? plain : `${plain.slice(0, at)}${other}${plain.slice(at)}`
      const bytes = written((out) => writeText(out, text))
      assert.deepEqual(bytes, Buffer.from(encode(text)))
    }),
  )
})

test('hex becomes a byte string, an odd number of digits as if a zero stood in front', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), maxLength: 40, size: 'max' }),
      fc.constantFrom(1, 2, 7, 9),
      (digits, times) => {
        const hex = digits.repeat(times)
        const out = createByteWriter(1)
        assert.ok(writeHex(out, `0x${hex}`, 2))
        const even = hex.length % 2 === 1 ? `0${hex}` : hex
        assert.deepEqual(
          out.bytes.subarray(0, out.at),
          Buffer.from(encode(Buffer.from(even, 'hex'))),
        )
      },
    ),
  )
})

test('a character that is no hex digit is noticed wherever it stands', () => {
  const bad = fc.constantFrom('g', 'G', ' ', '/', ':', '@', '`', '\0', 'ÿ', 'Ā', 'İ', '١')
  fc.assert(
    fc.property(fc.nat(299), fc.integer({ min: 1, max: 300 }), bad, (at, length, character) => {
      fc.pre(at < length)
      const hex = `${'a'.repeat(at)}${character}${'a'.repeat(length - at - 1)}`
      assert.equal(writeHex(createByteWriter(1), hex, 0), false)
    }),
  )
})

test('a head that is too long, of another kind, cut off or beyond 2^53 - 1 is refused', () => {
  const none = ['', '1817', '1900ff', '1a0000ffff', '1b00000000ffffffff', '1b0020000000000000']
  const reserved = ['1c', '1f', `1c0000000100000000${'00'.repeat(8)}`]
  const others = [...reserved, '40', '20', 'f6', '19ff', '1bffffffffffffff']
  for (const hex of [...none, ...others]) {
    assert.equal(readHead(createByteReader(Buffer.from(hex, 'hex')), major.int), -1, hex)
  }
})

test('a byte order mark is a character of its text like any other', () => {
  const text = '\ufefftext'
  assert.equal(readText(createByteReader(encode(text))), text)
})

test('strings beyond the end, and text that is not UTF-8, are refused', () => {
  assert.equal(skipString(createByteReader(Buffer.from('43abcd', 'hex')), major.bytes), -1)
  assert.equal(readBytes(createByteReader(Buffer.from('5b001fffffffffffff', 'hex'))), undefined)
  for (const hex of ['61ff', '62c328', '63eda080', '64f4908080', '61']) {
    assert.equal(readText(createByteReader(Buffer.from(hex, 'hex'))), undefined, hex)
    assert.equal(skipText(createByteReader(Buffer.from(hex, 'hex'))), false, hex)
  }
})

test('null and truth values are skipped, and nothing else is taken for one', () => {
  const skips = [
    [skipNull, [0xf6]],
    [skipBoolean, [0xf4, 0xf5]],
  ] as const
  for (const [skip, taken] of skips)
    for (let head = 0; head < 0x100; head++) {
      const reader = createByteReader(Buffer.of(head, head))
      const isTaken = taken.some((each) => each === head)
      assert.equal(skip(reader), isTaken)
      assert.equal(reader.at, isTaken ? 1 : 0)
      assert.ok(!skip(createByteReader(Buffer.of(head), 0, 0)))
    }
})

test('nothing at or after the end is read', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 12, size: 'max' }), fc.nat(12), (bytes, end) => {
      for (const kind of Object.values(major)) {
        const reader = createByteReader(bytes, 0, Math.min(end, bytes.length))
        skipString(reader, kind)
        assert.ok(reader.at <= reader.end)
      }
    }),
  )
})
