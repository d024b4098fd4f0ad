/** Reads and writes single values of stored documents, right where they begin. */
import { invariant } from '../../errors.ts'
import type { Chunk } from '../../primitives/body/chunk.ts'
import { type ByteWriter, createByteReader } from '../../primitives/cbor.ts'
import { type Field, type Section, storedFields, type Value } from '../../primitives/collections.ts'
import { readFieldValue } from '../../primitives/values.ts'
import { documentChunk } from './block-view.ts'
import { fieldPlace, holds } from './chunk-search.ts'
import type { Row } from './row.ts'
import { putStored } from './write-value.ts'

/** A reader of one stored field. */
export function fieldReader(section: Section, index: number): (row: Row) => Value {
  const { field, count } = storedField(section, index)
  return (row) => {
    const chunk = chunkAt(row, section)
    const at = fieldPlace(chunk, count, row.position, index)
    return readFieldValue(createByteReader(chunk.bytes, at), field)
  }
}

/** A writer of one stored field, as JSON text. */
export function fieldWriter(section: Section, index: number): (out: ByteWriter, row: Row) => void {
  const { field, count } = storedField(section, index)
  return (out, row) => {
    const chunk = chunkAt(row, section)
    putStored(out, field, chunk.bytes, fieldPlace(chunk, count, row.position, index))
  }
}

/** A field, and how many a document of its section has. */
function storedField(section: Section, index: number): { field: Field; count: number } {
  const fields = storedFields(section)
  const field = fields[index]
  invariant(field !== undefined, `a stored ${section} has a field ${index}`)
  return { field, count: fields.length }
}

/** The stored values of a row. */
export function bytesOf(row: Row, section: Section): Uint8Array {
  return chunkAt(row, section).values(row.position)
}

function chunkAt(row: Row, section: Section): Chunk {
  const known = row.chunk
  if (known !== null && holds(known, row.position)) return known
  row.chunk = documentChunk(row.block, section, row.position)
  return row.chunk
}
