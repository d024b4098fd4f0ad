import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode } from '@ipld/dag-cbor'
import fc from 'fast-check'
import { chunkDocuments, chunkValuesBytes } from '../../../src/primitives/body/body-header.ts'
import { unpackChunk } from '../../../src/primitives/body/chunk.ts'
import { readRow, type StoredRow } from '../../../src/views/rows/row-codec.ts'
import { rowLimits } from '../../../src/views/rows/row-limits.ts'
import { parseRowType } from '../../../src/views/rows/row-type.ts'
import {
  createRowPacker,
  emptyRowsRoot,
  type PackedRows,
  readRowDirectory,
  rowTermValue,
} from '../../../src/views/rows/rows.ts'
import { oracleRoot } from '../../primitives/oracle.ts'

const rowType = parseRowType('type T { a: String @index b: [Int] @index c: JSON }')

type Document = Record<string, unknown>

function packed(documents: readonly Document[]): PackedRows {
  const packer = createRowPacker(rowType)
  for (const [index, document] of documents.entries()) packer.add(document, index)
  return packer.finish()
}

function unpacked(rows: PackedRows): StoredRow[] {
  return rowBytes(rows).map(readRow)
}

function rowBytes({ bytes }: PackedRows): Uint8Array[] {
  const { chunks } = readRowDirectory(bytes) ?? { chunks: [] }
  return chunks.flatMap((entry) => {
    const chunk = unpackChunk(bytes, entry)
    return Array.from({ length: entry.length }, (_, index) => chunk.values(entry.first + index))
  })
}

test('packed rows are read back in their order, however many there are', () => {
  const document = fc.record({ a: fc.string(), b: fc.array(fc.integer()), c: fc.jsonValue() })
  fc.assert(
    fc.property(fc.array(document, { maxLength: 3 * chunkDocuments, size: 'max' }), (documents) => {
      const rows = packed(documents)
      assert.equal(rows.count, documents.length)
      const sources = unpacked(rows).map(({ source }) => source)
      assert.deepEqual(sources, [...documents.keys()])
    }),
    { numRuns: 30 },
  )
})

test('no rows have no bytes, and 65 rows two chunks', () => {
  assert.deepEqual(packed([]), {
    count: 0,
    bytes: new Uint8Array(),
    terms: [],
    root: emptyRowsRoot,
    mismatches: 0,
  })
  const rows = packed(Array.from({ length: 65 }, (_, b) => ({ b: [b] })))
  const { chunks, headBytes } = readRowDirectory(rows.bytes) ?? { chunks: [], headBytes: 0 }
  assert.deepEqual(
    chunks.map(({ first, length }) => [first, length]),
    [
      [0, 64],
      [64, 1],
    ],
  )
  assert.equal(chunks[0]?.start, headBytes)
})

test('the same documents are the same bytes, and mismatches are counted over all of them', () => {
  const documents = [{ a: 1 }, { a: 'x', b: ['y', 2] }]
  assert.deepEqual(packed(documents), packed(documents))
  assert.equal(packed(documents).mismatches, 2)
})

test('the root of rows is that of the Merkle tree over their bytes in their order', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { maxLength: 3 * chunkDocuments, size: 'max' }), (texts) => {
      const rows = packed(texts.map((a) => ({ a })))
      assert.equal(rows.root, oracleRoot(rowBytes(rows)).toString('hex'))
      const turned = packed(texts.toReversed().map((a) => ({ a })))
      const isSame = texts.every((text, index) => text === texts.at(-1 - index))
      assert.equal(turned.root === rows.root, isSame)
    }),
    { numRuns: 50 },
  )
})

test('each value of an indexed field is a term of its chunk once, and null is none', () => {
  const { terms } = packed([{ a: '0xAB', b: [1, 1, null] }, { a: '0xAB' }, { a: null, c: 'z' }])
  assert.deepEqual(terms, [
    { field: 0, value: rowTermValue('0xab'), chunk: 0 },
    { field: 1, value: rowTermValue(1), chunk: 0 },
  ])
})

test('terms regard the case of text, but not that of hex', () => {
  assert.notDeepEqual(rowTermValue('Abc'), rowTermValue('abc'))
  assert.deepEqual(rowTermValue('0xAbc'), rowTermValue('0xabc'))
  assert.notDeepEqual(rowTermValue('1'), rowTermValue(1))
})

test('a directory is read back, and is none with a chunk that is empty or has no size', () => {
  const sizes = fc.tuple(fc.integer({ min: 1, max: 1_000 }), fc.nat(), fc.nat())
  fc.assert(
    fc.property(fc.array(sizes, { minLength: 1, maxLength: 5 }), (chunks) => {
      const bytes = directoryOf(chunks)
      let [first, start] = [0, bytes.length]
      const expected = chunks.map(([length, rawBytes, storedBytes]) => {
        const chunk = { first, length, rawBytes, start, storedBytes }
        first += length
        start += storedBytes
        return chunk
      })
      assert.deepEqual(readRowDirectory(bytes), { chunks: expected, headBytes: bytes.length })
      for (let length = 0; length < bytes.length; length++)
        assert.equal(readRowDirectory(bytes.subarray(0, length)), null)
      for (const place of [0, 1, 2])
        assert.equal(readRowDirectory(directoryOf([...chunks, [1, 2, 3].with(place, -1)])), null)
      assert.equal(readRowDirectory(directoryOf([...chunks, [0, 2, 3]])), null)
    }),
  )
  assert.equal(readRowDirectory(directoryOf([])), null)
  fc.assert(fc.property(fc.uint8Array(), (any) => void readRowDirectory(any)))
})

/** The directory of chunks with these numbers of rows, raw bytes and stored bytes. */
function directoryOf(chunks: readonly (readonly number[])[]): Uint8Array {
  const head = Buffer.of(0x80 + chunks.length)
  return Buffer.concat([head, ...chunks.flat().map((size) => encode(size))])
}

test('a chunk takes no further row once those in it have 256 KiB', () => {
  const lengths = (bytes: number): number[] => {
    const { chunks } = readRowDirectory(packed([{ c: 'x'.repeat(bytes) }, {}]).bytes) ?? {
      chunks: [],
    }
    return chunks.map(({ length }) => length)
  }
  assert.deepEqual(lengths(chunkValuesBytes - besideText), [1, 1])
  assert.deepEqual(lengths(chunkValuesBytes - besideText - 1), [2])
})

const refused = (message: string) => ({ code: 'LENS_OUTPUT_LIMIT', message })
/** Bytes of a row with a text of more than 64 KiB in `c` beside that text. */
const besideText = 10

test('a row takes bytes up to a limit', () => {
  const longest = 'x'.repeat(rowLimits.rowBytes - besideText)
  const rows = packed([{ c: longest }])
  const [entry] = readRowDirectory(rows.bytes)?.chunks ?? []
  assert.ok(entry !== undefined)
  assert.equal(unpackChunk(rows.bytes, entry).values(0).length, rowLimits.rowBytes)
  assert.throws(() => packed([{ c: `${longest}x` }]), refused('a row takes more than 262144 bytes'))
})

test('the rows of a block take bytes up to a limit, and values of indexed fields count twice', () => {
  const tooMuch = refused('the rows of one block take more than 12582912 bytes')
  const [a, c] = Array.from({ length: 2 }, (_, field) => (index: number) => {
    const text = `${index}`.padStart(rowLimits.rowBytes / 2, 'x')
    return field === 0 ? { a: text } : { c: text }
  })
  const many = (count: number, make = c): Document[] =>
    Array.from({ length: count }, (_, index) => make?.(index) ?? {})
  assert.equal(packed(many(95)).count, 95)
  assert.throws(() => packed(many(96)), tooMuch)
  assert.equal(packed(many(47, a)).count, 47)
  assert.throws(() => packed(many(48, a)), tooMuch)
})

test('a block has terms up to a limit, however its rows share them', () => {
  const half = rowLimits.blockTerms / 2
  const numbers = (from: number): number[] => Array.from({ length: half }, (_, at) => from + at)
  const full = [{ b: numbers(0) }, { b: numbers(half) }, { b: numbers(100) }]
  assert.equal(packed(full).terms.length, rowLimits.blockTerms)
  const message =
    'the rows of one block have more than 20000 values in fields with @index; each chunk of up to 64 rows counts its own'
  assert.throws(() => packed([...full, { a: 'x' }]), refused(message))
  // In the next chunk each value is a term again.
  const next = Array.from({ length: chunkDocuments }, () => ({}))
  assert.throws(() => packed([...full, ...next, { b: [0] }]), refused(message))
})
