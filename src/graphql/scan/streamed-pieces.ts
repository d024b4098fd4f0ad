/**
 * The rows of a View that is computed for each request, as pieces of a walk. Only conditions on the number of the block
 * decide what is computed, as a lens may change everything else; all conditions decide about the rows that come out.
 */
import { ServiceError } from '../../errors.ts'
import { openRawChunk } from '../../primitives/body/chunk.ts'
import { allHeights, intersectHeights } from '../../primitives/height-ranges.ts'
import type { StreamedRows } from '../../views/rows/streamed-rows.ts'
import { refusal } from '../budget/limits.ts'
import type { ViewSource } from '../catalog/entity.ts'
import type { FilterCondition } from '../filter/condition.ts'
import { type Matcher, toMatcher } from '../filter/predicate.ts'
import {
  type OpenViewStream,
  streamedBytes,
  streamedView,
  type ViewStream,
} from '../rows/view-stream.ts'
import { storedBounds } from './access-path.ts'
import { splitByHeight } from './height-condition.ts'
import type { Piece, Scan } from './piece.ts'

/** Kept of the request's time, so that what takes too long is reported with the name of the View. */
const reportMs = 250

interface Streaming {
  readonly scan: Scan
  readonly view: ViewSource
  readonly stream: ViewStream
  readonly matcher: Matcher | null
  /** Rows that came and were not walked over yet. */
  readonly waiting: StreamedRows[]
  isOver: boolean
}

/** Pieces in the order in which the View makes their rows; what a piece stands for may yet be computed. */
export function* streamedPieces(
  scan: Scan,
  view: ViewSource,
  open: OpenViewStream,
  condition: FilterCondition,
): Generator<Piece | Promise<Piece>> {
  if (scan.window !== allHeights) throw notStored(view)
  if (scan.session.attested !== null) throw notAttested(view)
  if (condition.op === 'none') return
  const { heights, rest } = splitByHeight(scan.entity, condition)
  const { budget, snapshot } = scan.session
  const bounds = storedBounds({ blocks: snapshot, window: scan.window })
  const stream = open({
    heights: bounds === null ? [] : intersectHeights(heights, [bounds]),
    withSource: scan.withSource === true,
    maxMs: Math.max(1, budget.leftMs() - reportMs),
    signal: budget.signal,
  })
  // All rows are made of blocks with these heights, also those of the end of the stream, which are in none.
  const matcher = rest.op === 'all' ? null : toMatcher(scan.entity, rest)
  const streaming: Streaming = { scan, view, stream, matcher, waiting: [], isOver: false }
  const held = budget.openReservation()
  try {
    while (!streaming.isOver) {
      const rows = streaming.waiting.shift()
      if (rows === undefined) yield receive(streaming)
      else {
        held.add(rows.chunk.rawBytes + streamedBytes)
        yield toPiece(streaming, rows)
      }
    }
  } finally {
    stream.close()
  }
}

function toPiece({ scan, matcher }: Streaming, rows: StreamedRows): Piece {
  const { first, length } = rows.chunk
  return { block: streamedView(scan.session, rows), span: [first, first + length], matcher }
}

/** Waits for rows; returns a piece without any, as what came is walked over next. */
async function receive(streaming: Streaming): Promise<Piece> {
  const { scan, view, stream, waiting } = streaming
  const { session } = scan
  try {
    const groups = await stream.next()
    if (groups === null) streaming.isOver = true
    else waiting.push(...groups)
  } catch (error) {
    // Where the client is gone, or the time is over, that is what is reported.
    await session.budget.yieldThread()
    throw failureOf(view, error)
  }
  return { block: streamedView(session, noRows), span: [0, 0], matcher: null }
}

const noDocuments = { first: 0, length: 0, rawBytes: 0, start: 0, storedBytes: 0 }
const noRows: StreamedRows = {
  block: null,
  chunk: openRawChunk(Buffer.alloc(0), noDocuments),
}

const notStored = ({ name }: ViewSource): Error =>
  refusal(
    'GRAPHQL_VIEW_NOT_STORED',
    `The rows of the View ${name} are computed for each query and not stored, so that there are no new ones to send.`,
    'Query it again, or register it with @materialized(if: true), or without the directive.',
  )

/** Rows at the end of a stream are of no block, and so of no number of attestations. */
const notAttested = ({ name }: ViewSource): Error =>
  refusal(
    'GRAPHQL_VIEW_NOT_STORED',
    `The rows of the View ${name} are computed for each query and not stored, so that no minimum of attestations can be asked for.`,
    'Query it without one, and filter by _attestations.',
  )

const limits: ReadonlySet<string> = new Set([
  'LENS_TIME_LIMIT',
  'LENS_MEMORY_LIMIT',
  'LENS_OUTPUT_LIMIT',
  'VIEWS_SELECTION_TOO_LARGE',
])

/** What went wrong in a View, as an answer says it; what is wrong with the program stays as it is. */
function failureOf({ name }: ViewSource, error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error
  const { code, message, remedy = 'Try again later.', facts } = error
  if (code === 'HOST_VIEW_BUSY')
    return refusal('GRAPHQL_VIEW_BUSY', `The View ${name}: ${message}.`, remedy)
  if (!code.startsWith('LENS_') && !code.startsWith('VIEWS_')) return error
  const at = typeof facts?.['block'] === 'number' ? ` at block ${facts['block']}` : ''
  return limits.has(code)
    ? refusal('GRAPHQL_VIEW_LIMIT', `The View ${name} was stopped${at}: ${message}.`, remedy)
    : refusal('GRAPHQL_VIEW_FAILED', `The View ${name} failed${at}: ${message}.`, remedy)
}
