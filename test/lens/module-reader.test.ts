import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type ModuleReader,
  readByte,
  readName,
  readPart,
  readSections,
  readU32,
  skip,
  skipLeb,
} from '../../src/lens/module-reader.ts'
import { leb, section, sized } from './support/module.ts'

/** A reader of these bytes, behind which others follow that it must not read. */
const readerOf = (bytes: readonly number[]): ModuleReader => {
  return { bytes: Uint8Array.from([...bytes, 0, 0, 0, 0]), at: 0, end: bytes.length }
}

const refused = (what: string) => ({
  code: 'LENS_MODULE_REFUSED',
  message: `the module of a lens is refused: ${what}`,
  remedy: 'Build the lens again, with a compiler that makes WebAssembly 2.0.',
})

/** A number of so many bytes, each of which says that another one follows, but for the last. */
const long = (bytes: number, last: number): number[] => [
  ...Array.from({ length: bytes - 1 }, () => 0xff),
  last,
]

test('any number of 32 bits is read, and the reader stands behind it', () => {
  fc.assert(
    fc.property(fc.nat(0xffff_ffff), (value) => {
      const bytes = leb(value)
      const reader = readerOf(bytes)
      assert.deepEqual([readU32(reader), reader.at], [value, bytes.length])
    }),
  )
})

test('a number may take five bytes and 32 bits, and no more', () => {
  assert.equal(readU32(readerOf(long(5, 0x0f))), 0xffff_ffff)
  assert.equal(readU32(readerOf([0x80, 0x01])), 128)
  assert.equal(readU32(readerOf([0x80, 0x80, 0x80, 0x80, 0x00])), 0)
  const tooMany = refused('a number at byte 5 has more than 32 bits')
  assert.throws(() => readU32(readerOf(long(5, 0x10))), tooMany)
  assert.throws(() => readU32(readerOf([0x80, 0x80, 0x80, 0x80, 0x10])), tooMany)
  assert.throws(() => readU32(readerOf(long(6, 0x00))), tooMany)
})

test('a number that is gone past may take as many bytes as its bits need, and no more', () => {
  for (const [bits, most] of [
    [32, 5],
    [64, 10],
  ] as const) {
    for (let length = 1; length <= most; length++) {
      const reader = readerOf(long(length, 0x7f))
      skipLeb(reader, bits)
      assert.equal(reader.at, length)
    }
    const two = readerOf([0x80, 0x00])
    skipLeb(two, bits)
    assert.equal(two.at, 2)
    const tooMany = refused(`a number at byte ${most} has more than ${bits} bits`)
    assert.throws(() => skipLeb(readerOf(long(most + 1, 0)), bits), tooMany)
  }
})

test('nothing is read beyond the end, whatever follows there', () => {
  const reader = readerOf([7, 8, 9])
  assert.equal(readByte(reader), 7)
  assert.throws(() => skip(reader, 3), refused('it ends within something, at byte 3'))
  assert.throws(() => readPart(reader, 3), refused('it ends within something, at byte 3'))
  assert.equal(reader.at, 1)
  skip(reader, 2)
  assert.throws(() => readByte(reader), refused('it ends within something, at byte 3'))
  skip(reader, 0)
})

test('a part has its own end, and is gone past at once', () => {
  const reader = readerOf([1, 2, 3, 4])
  readByte(reader)
  const part = readPart(reader, 2)
  assert.equal(reader.at, 3)
  assert.deepEqual([readByte(part), readByte(part)], [2, 3])
  assert.throws(() => readByte(part), { code: 'LENS_MODULE_REFUSED' })
  assert.equal(readByte(reader), 4)
})

test('a name is UTF-8 of its own length', () => {
  const reader = readerOf([...sized('ä.next'), 1])
  assert.deepEqual([readName(reader), readByte(reader)], ['ä.next', 1])
})

test('sections are found by their numbers, each with what is in it', () => {
  const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]
  const bytes = [...header, ...section(3, [5, 6]), ...section(7, []), ...section(10, [9])]
  const found = [...readSections(Uint8Array.from(bytes))]
  assert.deepEqual(
    found.map(([number, { at, end }]) => [number, bytes.slice(at, end)]),
    [
      [3, [5, 6]],
      [7, []],
      [10, [9]],
    ],
  )
  assert.equal(readSections(Uint8Array.from(header)).size, 0)
})
