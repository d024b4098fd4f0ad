import assert from 'node:assert/strict'
import { test } from 'node:test'
import { constants, zstdCompressSync } from 'node:zlib'
import { chunkDocuments, chunkValuesBytes } from '../../../src/primitives/body/body-header.ts'
import { createByteWriter, major, writeHead } from '../../../src/primitives/cbor.ts'
import { readReceivedRows } from '../../../src/views/rows/received-rows.ts'
import { rowLimits } from '../../../src/views/rows/row-limits.ts'
import { parseRowType } from '../../../src/views/rows/row-type.ts'
import {
  type JsonValue,
  maxBigIntCharacters,
  maxJsonDepth,
} from '../../../src/views/rows/row-values.ts'
import {
  areTaken,
  chunkOf,
  joinChunks,
  packBytes,
  readAtOnce,
  received,
  rowOf,
} from '../support/made-rows.ts'

const rowType = parseRowType('type T { a: String @index b: [Int] @index c: JSON }')

const isRow = (a: JsonValue, b: JsonValue = null, c: JsonValue = null): boolean =>
  areTaken(rowType, [rowOf([a, b, c])])
const isWhole = (text: string): boolean =>
  areTaken(parseRowType('type T { a: BigInt }'), [rowOf([text])])
const rows = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, index) => rowOf([null, null, index]))
const texts = (count: number, length: number): string[] =>
  Array.from({ length: count }, (_, index) => `${index}`.padStart(length, 'x'))

const refusal = (found: string) => ({
  code: 'VIEWS_ROW_MALFORMED',
  message: `Rows that came cannot be read: ${found}.`,
  remedy: 'Discard them, and take rows from another Host.',
})
const read = (count: number, bytes: Uint8Array) => (): void =>
  void readAtOnce(rowType, count, bytes)

test('a row that came takes bytes up to the limit', () => {
  const longest = 'x'.repeat(rowLimits.rowBytes - 10)
  assert.ok(isRow(null, null, longest))
  assert.throws(
    read(1, packBytes([rowOf([null, null, `${longest}x`])])),
    refusal(`a row takes more than ${rowLimits.rowBytes} bytes`),
  )
})

test('a row that came has items up to the limit, in whatever fields they are', () => {
  const zeros = (length: number): number[] => Array.from({ length }, () => 0)
  const { rowItems } = rowLimits
  assert.ok(isRow(null, zeros(rowItems)))
  assert.ok(isRow(null, zeros(rowItems - 3), [{ key: [] }, 0]))
  const nested = [{ key: [0] }, 0]
  assert.throws(
    read(1, packBytes([rowOf([null, zeros(rowItems - 3), nested])])),
    refusal(`a row has more than ${rowItems} items and properties`),
  )
  for (const [b, c] of [
    [zeros(rowItems + 1), null],
    [null, zeros(rowItems + 1)],
    [null, Object.fromEntries(zeros(rowItems + 1).entries())],
  ])
    assert.ok(!isRow(null, b, c))
})

test('JSON that came nests up to the limit, and whole numbers have digits up to theirs', () => {
  const lists = (depth: number): JsonValue => (depth === 0 ? 1 : [lists(depth - 1)])
  const objects = (depth: number): JsonValue => (depth === 0 ? 1 : { a: objects(depth - 1) })
  for (const nested of [lists, objects]) {
    assert.ok(isRow(null, null, nested(maxJsonDepth)))
    assert.ok(!isRow(null, null, nested(maxJsonDepth + 1)))
  }
  const nines = '9'.repeat(maxBigIntCharacters - 1)
  const hexEnd = 16n ** BigInt(maxBigIntCharacters - 2)
  for (const text of [`-${nines}`, `9${nines}`, String(hexEnd - 1n)]) assert.ok(isWhole(text), text)
  for (const text of [`-9${nines}`, String(hexEnd), `1${hexEnd}`]) assert.ok(!isWhole(text), text)
})

test('rows that came take bytes up to the limit of a block, those of indexed fields twice', () => {
  const half = rowLimits.rowBytes / 2
  const plain = texts(96, half).map((text) => rowOf([null, null, text]))
  const indexed = texts(48, half).map((text) => rowOf([text, null, null]))
  assert.ok(areTaken(rowType, plain.slice(1)))
  assert.ok(areTaken(rowType, indexed.slice(1)))
  const found = `the rows of one block take more than ${rowLimits.blockBytes} bytes`
  assert.throws(read(96, packBytes(plain)), refusal(found))
  assert.throws(read(48, packBytes(indexed)), refusal(found))
})

test('rows that came have terms up to the limit, each once in each chunk', () => {
  const half = rowLimits.blockTerms / 2
  const numbers = (from: number): number[] => Array.from({ length: half }, (_, at) => from + at)
  const full = [0, half, 100].map((from) => rowOf([null, numbers(from), null]))
  const more = rowOf([null, [0], null])
  assert.ok(areTaken(rowType, [...full, more]))
  assert.ok(!areTaken(rowType, [...full, rowOf(['x', null, null])]))
  assert.ok(!areTaken(rowType, [...full, ...rows(chunkDocuments), more]))
})

test('chunks that came are full but for the last, and take no row once they are', () => {
  const areRead = (chunks: readonly (readonly Buffer[])[]): boolean => {
    const count = chunks.flat().length
    return received(rowType, count, joinChunks(chunks.map(chunkOf))) !== undefined
  }
  const some = rows(chunkDocuments)
  assert.ok(areRead([some, some, some.slice(1)]))
  assert.ok(!areRead([some, some.slice(1), some]))
  assert.ok(!areRead([rows(chunkDocuments + 1)]))
  assert.ok(!areRead([some, []]))
  const large = rowOf([null, null, 'x'.repeat(chunkValuesBytes / 2)])
  assert.ok(areRead([[large, large], some]))
  assert.ok(!areRead([[large, large, ...rows(1)], some]))
  assert.ok(!areRead([[large], [large]]))
  const beside = rowOf([null, null, 'x'.repeat(2 ** 16)]).length - 2 ** 16
  const rowOfBytes = (bytes: number): Buffer => rowOf([null, null, 'x'.repeat(bytes - beside)])
  assert.ok(areRead([[rowOfBytes(chunkValuesBytes - 1), ...rows(1)]]))
  assert.ok(!areRead([[rowOfBytes(chunkValuesBytes), ...rows(1)]]))
  assert.ok(!areRead([[...rows(1), large], [large]]))
})

test('a directory that came is refused for what it claims, before anything is unpacked', () => {
  const { stored, rawBytes } = chunkOf(rows(1))
  const claim = (count: number, length: number, raw: number, bytes: Uint8Array = stored) =>
    read(count, joinChunks([{ length, rawBytes: raw, stored: bytes }]))
  assert.doesNotThrow(claim(1, 1, rawBytes))
  const size = refusal('a chunk has an impossible size')
  const most = chunkValuesBytes + rowLimits.rowBytes + 3
  assert.throws(claim(1, 1, most + 1), size)
  assert.throws(claim(1, 1, 2 ** 50), size)
  assert.throws(claim(1, 1, 3), size)
  assert.throws(claim(65, 65, 1000), size)
  assert.throws(claim(1, 1, rawBytes, Buffer.alloc(rawBytes + 65)), size)
  const unpacked = (why: string) => refusal(`A block’s documents cannot be read: ${why}`)
  assert.throws(claim(1, 1, most), unpacked('a chunk unpacks to another size'))
  assert.throws(claim(1, 1, rawBytes - 1), unpacked('a chunk does not unpack'))
  assert.throws(claim(1, 1, rawBytes, Buffer.alloc(rawBytes)), unpacked('a chunk does not unpack'))
  const sum = refusal('their directory does not add up')
  assert.throws(claim(2, 1, rawBytes), sum)
  assert.throws(read(1, Buffer.concat([joinChunks([chunkOf(rows(1))]), Buffer.of(0)])), sum)
  const full = { length: 1, rawBytes: chunkValuesBytes + 4, stored: Buffer.alloc(chunkValuesBytes) }
  const tooMany = Math.floor(rowLimits.blockBytes / chunkValuesBytes) + 1
  const claimed = joinChunks(Array.from({ length: tooMany }, () => full))
  const found = `the rows of one block take more than ${rowLimits.blockBytes} bytes`
  assert.throws(read(tooMany, claimed), refusal(found))
})

test('a directory that came has no more entries than so many rows have chunks', () => {
  const claim = (count: number, chunks: number) => {
    const head = createByteWriter()
    writeHead(head, major.array, chunks)
    return read(count, Buffer.concat([head.bytes.subarray(0, head.at), Buffer.alloc(300, 1)]))
  }
  const tooMany = refusal('they have too many chunks')
  const fewest = rowLimits.blockBytes / chunkValuesBytes + 1
  assert.throws(claim(63, fewest + 1), tooMany)
  assert.throws(claim(63, 2 ** 52), tooMany)
  assert.throws(claim(63, fewest), refusal('a chunk has an impossible size'))
  assert.throws(claim(64, fewest + 1), refusal('a chunk has an impossible size'))
  // Each row has three bytes besides those of its three values.
  const most = rowLimits.blockBytes / 6
  assert.throws(claim(most, 1), refusal('a chunk has an impossible size'))
  assert.throws(claim(most + 1, 1), refusal(`they cannot be ${most + 1} rows`))
})

test('rows that came are read in pieces of 16 KiB, of a chunk or of one row', () => {
  const stepsOf = (of: readonly Buffer[]): number =>
    [...readReceivedRows(rowType, of.length, packBytes(of))].length
  const few = rows(10 * chunkDocuments)
  assert.equal(stepsOf(few), 10)
  const piece = 16 * 1024
  const rowsOf = (count: number, length: number): Buffer[] =>
    texts(count, length).map((text) => rowOf([null, null, text]))
  assert.equal(stepsOf(rowsOf(chunkDocuments, piece / 16)), 1 + 4)
  assert.equal(stepsOf(rowsOf(chunkDocuments / 8, piece)), 1 + chunkDocuments / 8)
})

test('a chunk that came unpacks to no more than it says, and asks for no larger memory', () => {
  const most = chunkValuesBytes + rowLimits.rowBytes + 3
  const bomb = (windowLog: number) => {
    const params = { [constants.ZSTD_c_windowLog]: windowLog }
    const stored = zstdCompressSync(Buffer.alloc(32 * 1024 * 1024), { params })
    return read(1, joinChunks([{ length: 1, rawBytes: most, stored }]))
  }
  const body = 'PRIMITIVES_BODY_MALFORMED'
  const isStopped = (code: string) => (error: unknown) => {
    assert.deepEqual(codesOf(error), ['VIEWS_ROW_MALFORMED', body, code])
    return true
  }
  assert.throws(bomb(20), isStopped('ERR_BUFFER_TOO_LARGE'))
  assert.throws(bomb(21), isStopped('ZSTD_error_frameParameter_windowTooLarge'))
})

/** Codes of an error and of those that caused it. */
function codesOf(error: unknown): unknown[] {
  if (!(error instanceof Error)) return []
  return [(error as NodeJS.ErrnoException).code, ...codesOf(error.cause)]
}
