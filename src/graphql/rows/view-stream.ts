/**
 * Rows of a View that is not stored: a stream that somebody computes for one request, and the rows that came of it as
 * a request sees them.
 */
import { invariant } from '../../errors.ts'
import type { ByteWriter } from '../../primitives/cbor.ts'
import type { HeightRanges } from '../../primitives/height-ranges.ts'
import { openRowPlaces, readRowValue, valuePlace } from '../../views/rows/row-codec.ts'
import type { JsonValue } from '../../views/rows/row-values.ts'
import type { StreamedRows } from '../../views/rows/streamed-rows.ts'
import { attestationsOf } from './block-seals.ts'
import {
  type BlockView,
  emptyMemo,
  type OpenedRow,
  openBlockView,
  type Session,
  type StreamedBlock,
} from './block-view.ts'
import { putRowValue } from './put-row-value.ts'
import type { Row } from './row.ts'
import { putText } from './write-value.ts'

/** What a request asks of a View. */
export interface StreamRequest {
  /** The blocks that count. */
  readonly heights: HeightRanges
  /** Whether rows come with the text of their source. */
  readonly withSource: boolean
  /** By the clock, waiting included. */
  readonly maxMs: number
  readonly signal: AbortSignal | undefined
}

/** The rows of a View, as they are computed. */
export interface ViewStream {
  /** The next rows, numbered on from those before; null at the end. @throws ServiceError why there are no more. */
  next(): Promise<readonly StreamedRows[] | null>
  /** Ends it, wherever it is; harmless at the end and when repeated. */
  close(): void
}

/** Begins to compute; nothing is thrown before the first rows are asked for. */
export type OpenViewStream = (request: StreamRequest) => ViewStream

/** Memory of rows beside their bytes, roughly. */
export const streamedBytes = 1_024

/** Rows as if they were those of a block. All have the same height, so that only their numbers order them. */
export function streamedView(session: Session, rows: StreamedRows): BlockView {
  return {
    session,
    height: 0,
    get header() {
      return inNoBlock()
    },
    memo: emptyMemo(),
    streamed: { rows, row: null, stored: undefined },
  }
}

function inNoBlock(): never {
  throw new Error('broken invariant: rows that are computed for a request are in no stored block')
}

function streamedOf(block: BlockView): StreamedBlock {
  invariant(block.streamed !== undefined, 'a View that is not stored has streamed rows')
  return block.streamed
}

/** The height of the block that a row was made of; null at the end of the stream. */
export function streamedHeight({ block }: Row): number | null {
  return streamedOf(block).rows.block?.height ?? null
}

/** How many Generators vouch for that block; null at the end of the stream, and where it is not stored any more. */
export function streamedAttestations({ block }: Row): number | null {
  const streamed = streamedOf(block)
  if (streamed.stored === undefined) streamed.stored = storedBlockOf(block, streamed) ?? null
  return streamed.stored === null ? null : attestationsOf(streamed.stored)
}

function storedBlockOf({ session }: BlockView, { rows }: StreamedBlock): BlockView | undefined {
  if (rows.block === null) return undefined
  const stored = openBlockView(session, session.snapshot, rows.block.height)
  return stored?.header.hash === rows.block.blockHash ? stored : undefined
}

/** A value of a row, by the position of its field in the SDL. */
export function streamedValue(row: Row, field: number): JsonValue {
  const { chunk, places, end } = rowPlaces(row)
  const at = valuePlace(places, field)
  return at === undefined ? null : readRowValue(chunk.bytes, at, end)
}

/** Writes such a value as JSON text. */
export function putStreamedValue(out: ByteWriter, row: Row, field: number): void {
  const { chunk, places, end } = rowPlaces(row)
  const at = valuePlace(places, field)
  if (at === undefined) putText(out, 'null')
  else putRowValue(out, chunk.bytes, at, end)
}

/** The document that a row was made of, as JSON; null at the end of the stream. `fields` is how many the SDL has. */
export function streamedSource(row: Row, fields: number): string | null {
  const text = streamedHeight(row) === null ? null : streamedValue(row, fields)
  return typeof text === 'string' ? text : null
}

function rowPlaces({ block, position }: Row): OpenedRow {
  const streamed = streamedOf(block)
  if (streamed.row?.position === position) return streamed.row
  const { chunk } = streamed.rows
  const end = chunk.start(position + 1)
  const places = openRowPlaces(chunk.bytes, chunk.start(position), end)
  streamed.row = { position, chunk, places, end }
  return streamed.row
}
