/** Rows that nobody packed, as bytes that a stranger may send. */
import assert from 'node:assert/strict'
import { chunkDocuments, chunkValuesBytes } from '../../../src/primitives/body/body-header.ts'
import { packChunk, unpackChunk } from '../../../src/primitives/body/chunk.ts'
import { createByteWriter, major, writeHead } from '../../../src/primitives/cbor.ts'
import { readReceivedRows } from '../../../src/views/rows/received-rows.ts'
import { readRow, writeRow } from '../../../src/views/rows/row-codec.ts'
import type { RowType } from '../../../src/views/rows/row-type.ts'
import type { JsonValue } from '../../../src/views/rows/row-values.ts'
import { createRowPacker, type PackedRows, readRowDirectory } from '../../../src/views/rows/rows.ts'

export type Fields = Pick<RowType, 'fields'>

/** A chunk, and what the directory says of it. */
interface MadeChunk {
  readonly length: number
  readonly rawBytes: number
  readonly stored: Uint8Array
}

/** A row of any values, whether a type has them or not. */
export function rowOf(values: readonly JsonValue[], source: number | null = null): Buffer {
  const out = createByteWriter(64)
  writeRow(out, values, source)
  return Buffer.from(out.bytes.subarray(0, out.at))
}

/** A chunk of these rows, however many. */
export function chunkOf(rows: readonly Uint8Array[]): MadeChunk {
  const lengths = rows.map(({ length }) => length)
  return packChunk(lengths, Buffer.concat(rows), createByteWriter())
}

/** A directory and the chunks behind it. */
export function joinChunks(chunks: readonly MadeChunk[]): Buffer {
  const head = createByteWriter()
  writeHead(head, major.array, chunks.length)
  for (const { length, rawBytes, stored } of chunks)
    for (const size of [length, rawBytes, stored.length]) writeHead(head, major.int, size)
  return Buffer.concat([head.bytes.subarray(0, head.at), ...chunks.map(({ stored }) => stored)])
}

/** Rows in chunks as a packer makes them; empty for no rows. */
export function packBytes(rows: readonly Uint8Array[]): Buffer {
  const groups: Uint8Array[][] = [[]]
  let bytes = 0
  for (const row of rows) {
    const full = groups.at(-1)?.length === chunkDocuments || bytes >= chunkValuesBytes
    if (full) groups.push([])
    bytes = (full ? 0 : bytes) + row.length
    groups.at(-1)?.push(row)
  }
  return rows.length === 0 ? Buffer.alloc(0) : joinChunks(groups.map(chunkOf))
}

/** The rows in packed bytes, one by one. */
export function rowsIn(bytes: Uint8Array): Buffer[] {
  const { chunks } = readRowDirectory(bytes) ?? { chunks: [] }
  return chunks.flatMap((entry) => {
    const chunk = unpackChunk(bytes, entry)
    return Array.from({ length: entry.length }, (_, index) =>
      Buffer.from(chunk.values(entry.first + index)),
    )
  })
}

/** What a Host makes of the values of these rows; undefined where that is other than these rows. */
export function packAgain(rowType: Fields, rows: readonly Uint8Array[]): PackedRows | undefined {
  const packer = createRowPacker(rowType)
  try {
    for (const row of rows) {
      const { source, values } = readRow(row)
      if (values.length !== rowType.fields.length || !isSource(source)) return undefined
      packer.add(documentOf(rowType, values), source)
    }
  } catch {
    return undefined
  }
  const packed = packer.finish()
  const isSame = rowsIn(packed.bytes).every((row, at) => row.equals(rows[at] ?? Buffer.alloc(0)))
  return isSame ? packed : undefined
}

const isSource = (source: number | null): boolean =>
  source === null || (Number.isSafeInteger(source) && source >= 0)

/** A document of which a lens' View makes these values: whole numbers may be longer than they may be as decimals. */
function documentOf(
  { fields }: Fields,
  values: readonly JsonValue[],
): Readonly<Record<string, unknown>> {
  const asHex = (value: JsonValue): JsonValue =>
    typeof value === 'string' && /^[1-9][0-9]{100,118}$/.test(value)
      ? `0x${BigInt(value).toString(16)}`
      : value
  const given = fields.map(({ name, scalar }, field) => {
    const value = values[field] ?? null
    if (scalar !== 'BigInt') return [name, value]
    return [name, Array.isArray(value) ? value.map(asHex) : asHex(value)]
  })
  return Object.fromEntries(given)
}

/** Reads packed bytes piece by piece, without anything in between. */
export function readAtOnce(rowType: Fields, count: number, bytes: Uint8Array): PackedRows {
  const pieces = readReceivedRows(rowType, count, bytes)
  for (;;) {
    const { done, value } = pieces.next()
    if (done === true) return value
  }
}

/** What is read of packed bytes; undefined where they are refused, which has one code only. */
export function received(
  rowType: Fields,
  count: number,
  bytes: Uint8Array,
): PackedRows | undefined {
  try {
    return readAtOnce(rowType, count, bytes)
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'VIEWS_ROW_MALFORMED', String(error))
    return undefined
  }
}

/** Whether rows are taken; what is read of them is then what a Host makes of their values. */
export function areTaken(rowType: Fields, rows: readonly Uint8Array[]): boolean {
  const bytes = packBytes(rows)
  const read = received(rowType, rows.length, bytes)
  if (read === undefined) return false
  const packed = packAgain(rowType, rows)
  assert.deepEqual({ ...read, bytes: null }, { ...packed, bytes: null })
  assert.equal(read.bytes, bytes)
  return true
}
