/** The rows that a View has of a block: what is asked for is unpacked once for each chunk and each row. */
import { invariant, ServiceError } from '../../errors.ts'
import type { Chunk } from '../../primitives/body/chunk.ts'
import type { ByteWriter } from '../../primitives/cbor.ts'
import { openRowPlaces, readRowValue, sourcePlace, valuePlace } from '../../views/rows/row-codec.ts'
import type { JsonValue } from '../../views/rows/row-values.ts'
import type { BlockView, OpenedRow, OpenedRows } from './block-view.ts'
import { putRowValue } from './put-row-value.ts'
import type { Row } from './row.ts'
import { rowsThatMayHave } from './row-search.ts'
import { createTextTest } from './stored-text.ts'
import { putText } from './write-value.ts'

/** Where the rows of a View are. */
export interface ViewRows {
  /** As it is served, for messages. */
  readonly name: string
  readonly slot: number
}

/** How many rows there are. */
export function viewRowCount(view: BlockView, rows: ViewRows): number {
  return openedRows(view, rows).stored?.count ?? 0
}

/** Whether rows of a root and a number are those that are stored of a block. */
export function hasRows(
  view: BlockView,
  rows: ViewRows,
  { rowsRoot, count }: { readonly rowsRoot: string; readonly count: number },
): boolean {
  const { stored } = openedRows(view, rows)
  return stored?.root === rowsRoot && stored.count === count
}

/** A value of a row, by the position of its field in the SDL. */
export function viewValue(row: Row, rows: ViewRows, field: number): JsonValue {
  const opened = openRow(row, rows)
  const at = placeOf(opened, row, rows, field)
  return at === undefined ? null : readRowValue(opened.chunk.bytes, at, opened.end)
}

/** Tests a value for a text, without reading it. Hex digits are the same in any case. */
export function viewTextTest(rows: ViewRows, field: number, text: string): (row: Row) => boolean {
  const wanted = createTextTest(text)
  return (row) => {
    const opened = openRow(row, rows)
    const at = placeOf(opened, row, rows, field)
    return at !== undefined && wanted(opened.chunk.bytes, at, opened.end)
  }
}

/** Writes such a value as JSON text. */
export function putViewValue(out: ByteWriter, row: Row, rows: ViewRows, field: number): void {
  const opened = openRow(row, rows)
  const at = placeOf(opened, row, rows, field)
  if (at === undefined) putText(out, 'null')
  else putRowValue(out, opened.chunk.bytes, at, opened.end)
}

/** Position of the last document that the first lens was given before the row; null before the first. */
export function viewSource(row: Row, rows: ViewRows): number | null {
  const { chunk, places, end } = openRow(row, rows)
  const source = readRowValue(chunk.bytes, sourcePlace(places), end)
  return typeof source === 'number' ? source : null
}

/** First and end position of the rows in a chunk. */
export function viewChunkSpan(
  view: BlockView,
  rows: ViewRows,
  chunk: number,
): readonly [start: number, end: number] {
  const { first, length } = openChunk(view, rows, chunk)
  return [first, first + length]
}

/** Positions of the rows of a chunk that may have a value in a field; see `rowsThatMayHave`. */
export function viewPositions(
  view: BlockView,
  rows: ViewRows,
  {
    chunk,
    field,
    value,
  }: { readonly chunk: number; readonly field: number; readonly value: Uint8Array },
): number[] {
  const opened = openChunk(view, rows, chunk)
  try {
    return rowsThatMayHave(opened, field, value)
  } catch (cause) {
    throw ofView(rows, view.height, cause)
  }
}

function openedRows(view: BlockView, { slot }: ViewRows): OpenedRows {
  const { memo, session, height } = view
  memo.rows ??= new Map()
  const known = memo.rows.get(slot)
  if (known !== undefined) return known
  const stored = session.snapshot.viewRows(slot, height)
  const opened = { stored, chunk: null, row: null }
  memo.rows.set(slot, opened)
  session.opened.note(view, openedBytes)
  return opened
}

/** Memory of what is opened beside the chunk, and of a row that was read for each byte of it, roughly. */
const openedBytes = 512

function openChunk(view: BlockView, rows: ViewRows, index: number): Chunk {
  const opened = openedRows(view, rows)
  invariant(opened.stored !== undefined, `the View ${rows.name} has rows of block ${view.height}`)
  const chunk = opened.stored.openChunk(index)
  if (opened.chunk === chunk) return chunk
  view.session.opened.note(view, chunk.rawBytes - (opened.chunk?.rawBytes ?? 0))
  opened.chunk = chunk
  return chunk
}

/** The row that was asked for last is kept. */
function openRow({ block, position }: Row, rows: ViewRows): OpenedRow {
  const opened = openedRows(block, rows)
  if (opened.row !== null && opened.row.position === position) return opened.row
  const { stored, chunk: last } = opened
  invariant(stored !== undefined, `the View ${rows.name} has rows of block ${block.height}`)
  const isIn = last !== null && position >= last.first && position < last.first + last.length
  const chunk = isIn ? last : openChunk(block, rows, stored.chunkOf(position))
  const end = chunk.start(position + 1)
  try {
    const places = openRowPlaces(chunk.bytes, chunk.start(position), end)
    opened.row = { position, chunk, places, end }
    return opened.row
  } catch (cause) {
    throw ofView(rows, block.height, cause)
  }
}

/** Where the value of a field begins; undefined where the row has fewer. */
function placeOf(
  { places }: OpenedRow,
  { block }: Row,
  rows: ViewRows,
  field: number,
): number | undefined {
  try {
    return valuePlace(places, field)
  } catch (cause) {
    // It stands amid a value now.
    openedRows(block, rows).row = null
    throw ofView(rows, block.height, cause)
  }
}

/** What is wrong with stored rows says whose they are. */
function ofView({ name }: ViewRows, height: number, cause: unknown): unknown {
  if (!(cause instanceof ServiceError)) return cause
  const { code, message, facts, remedy } = cause
  return new ServiceError(code, `The View ${name}, block ${height}: ${message}`, {
    cause,
    facts: { ...facts, view: name, height },
    ...(remedy === undefined ? {} : { remedy }),
  })
}
