/** Which rows of a chunk may have a value in a field, found without reading the rows. */
import type { Chunk } from '../../primitives/body/chunk.ts'
import { findRowValues } from '../../views/row-codec.ts'

/** Where a field begins in each row, by field, for as long as the store keeps the chunk. */
const known = new WeakMap<Chunk, Map<number, Uint32Array>>()

/**
 * Positions of the rows whose field has the value `wanted`, as `rowTermValue` writes it, or is a list; some that differ in
 * the case of letters are among them.
 * @throws ServiceError `VIEWS_ROW_MALFORMED`.
 */
export function rowsThatMayHave(chunk: Chunk, field: number, wanted: Uint8Array): number[] {
  const { bytes, first } = chunk
  const positions: number[] = []
  const starts = fieldStarts(chunk, field)
  for (let index = 0; index < starts.length; index++) {
    const at = starts[index] ?? bytes.length
    if (isList(bytes[at]) || isAlike(bytes, at, wanted)) positions.push(first + index)
  }
  return positions
}

function fieldStarts(chunk: Chunk, field: number): Uint32Array {
  const fields = known.get(chunk) ?? new Map<number, Uint32Array>()
  known.set(chunk, fields)
  const found = fields.get(field) ?? findStarts(chunk, field)
  fields.set(field, found)
  return found
}

/** A row without the field has it at the end of the chunk, where nothing is. */
function findStarts({ bytes, starts, length }: Chunk, field: number): Uint32Array {
  return Uint32Array.from({ length }, (_, index) => {
    const places = findRowValues(bytes, starts[index] ?? 0, starts[index + 1] ?? 0)
    return places[field + 1] ?? bytes.length
  })
}

const isList = (head: number | undefined): boolean => head !== undefined && head >>> 5 === 4

/** The bit in which the cases of an ASCII letter differ. */
const caseBit = 0x20

function isAlike(bytes: Buffer, at: number, wanted: Uint8Array): boolean {
  if (at + wanted.length > bytes.length) return false
  for (let index = 0; index < wanted.length; index++) {
    if (((bytes[at + index] ?? 0) | caseBit) !== ((wanted[index] ?? 0) | caseBit)) return false
  }
  return true
}
