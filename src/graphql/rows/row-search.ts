/** Which rows of a chunk may have a value in a field, found without reading the rows. */
import type { Chunk } from '../../primitives/body/chunk.ts'
import { openRowPlaces, valuePlace } from '../../views/rows/row-codec.ts'

/** A field in each row of a chunk. */
interface FieldColumn {
  /** Where its value begins; a row without it has it at the end of the chunk, where nothing is. */
  readonly starts: Uint32Array
  /** The last byte of its value as `foldCase` has it, or `ofList`: few others have to be compared in full. */
  readonly endings: Uint8Array
}

/** By field, for as long as the store keeps the chunk. */
const known = new WeakMap<Chunk, Map<number, FieldColumn>>()

/** The bit in which the cases of an ASCII letter differ. */
const caseBit = 0x20
const foldCase = (byte = 0): number => byte | caseBit
/** No byte has it after `foldCase`. */
const ofList = 0

/**
 * Positions of the rows whose field has the value `wanted`, as `rowTermValue` writes it, or is a list; some that differ in
 * the case of letters are among them.
 * @throws ServiceError `VIEWS_ROW_MALFORMED`.
 */
export function rowsThatMayHave(chunk: Chunk, field: number, wanted: Uint8Array): number[] {
  const { bytes, first } = chunk
  const positions: number[] = []
  const { starts, endings } = fieldColumn(chunk, field)
  const ending = foldCase(wanted.at(-1))
  for (let index = 0; index < endings.length; index++) {
    const found = endings[index]
    if (found === ofList || (found === ending && isAlike(bytes, starts[index] ?? 0, wanted)))
      positions.push(first + index)
  }
  return positions
}

function fieldColumn(chunk: Chunk, field: number): FieldColumn {
  const fields = known.get(chunk) ?? new Map<number, FieldColumn>()
  known.set(chunk, fields)
  const found = fields.get(field) ?? readColumn(chunk, field)
  fields.set(field, found)
  return found
}

function readColumn({ bytes, starts, length }: Chunk, field: number): FieldColumn {
  const column = { starts: new Uint32Array(length), endings: new Uint8Array(length) }
  for (let index = 0; index < length; index++) {
    const end = starts[index + 1] ?? 0
    const places = openRowPlaces(bytes, starts[index] ?? 0, end)
    const at = valuePlace(places, field) ?? bytes.length
    column.starts[index] = at
    column.endings[index] = isList(bytes[at])
      ? ofList
      : foldCase(bytes[(valuePlace(places, field + 1) ?? end) - 1])
  }
  return column
}

const isList = (head = 0): boolean => head >>> 5 === 4

function isAlike(bytes: Buffer, at: number, wanted: Uint8Array): boolean {
  for (let index = 0; index < wanted.length; index++) {
    if (foldCase(bytes[at + index]) !== foldCase(wanted[index])) return false
  }
  return true
}
