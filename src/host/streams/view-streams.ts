/**
 * Views whose rows are computed when they are queried: each query has a stream of its own, in a process of its own that
 * runs nothing else, so that what a lens does there is felt by this query alone. Two run at once.
 */

import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { invariant, ServiceError } from '../../errors.ts'
import type { OpenViewStream, StreamRequest, ViewStream } from '../../graphql/rows/view-stream.ts'
import { decodePayload, encodePayload } from '../../lens/json-payload.ts'
import { type LensProcess, openLensProcess } from '../../lens/process/lens-process.ts'
import type { LensMetrics } from '../../lens/process/metrics.ts'
import { atLast, type LensPlace, placeFacts } from '../../lens/running-lens.ts'
import { threadUrl } from '../../service/threads/thread.ts'
import { decodeStreamPiece, type StreamedRows } from '../../views/rows/streamed-rows.ts'
import { createStreamMetrics, endOf, type StreamMetrics } from './metrics.ts'
import { type StreamTotals, type StreamWorkerData, streamMemoryBytes } from './stream-job.ts'
import { createStreamSlots, type Slots } from './stream-slots.ts'

interface ViewStreamsOptions extends StreamWorkerData {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Memory at which the process of a stream is ended. */
  readonly memoryBytes?: number
  /** How long a query waits for its turn. */
  readonly maxWaitMs?: number
}

interface ViewStreamsParts {
  readonly log: Logger
  readonly registry: Registry
  readonly lensMetrics: LensMetrics
  /** Called when a process has ended, which may have held a snapshot of the store. */
  readonly onEnded: () => void
}

/** A View to compute. */
interface StreamedView {
  /** The long ID. */
  readonly id: string
  readonly wire: Uint8Array
}

interface ViewStreams {
  /** How the rows of a View are computed for a query. */
  of(view: StreamedView): OpenViewStream
  /** Ends all of them. */
  close(): Promise<void>
}

const maxStreams = 2
const maxWaiting = 16
const defaultMaxWaitMs = 5_000
/** A process that nobody needed for so long gives its memory back. */
const idleMs = 60_000
/** Behind the process whose rows are stored, where new blocks have to be in time. */
const niceness = 10

interface State {
  readonly slots: Slots
  /** One for each slot. */
  readonly processes: readonly LensProcess[]
  readonly metrics: StreamMetrics
}

/** Starts nothing before the first query. */
export function openViewStreams(options: ViewStreamsOptions, parts: ViewStreamsParts): ViewStreams {
  const { storePath, network, environment, memoryBytes = streamMemoryBytes } = options
  const data: StreamWorkerData = { storePath, network }
  const workerUrl = threadUrl('./stream-worker', import.meta.url)
  const processes = Array.from({ length: maxStreams }, () =>
    openLensProcess(
      { workerUrl, data, threads: 1, memoryBytes, idleMs, niceness, environment },
      { log: parts.log, metrics: parts.lensMetrics, onEnded: parts.onEnded },
    ),
  )
  const maxWaitMs = options.maxWaitMs ?? defaultMaxWaitMs
  const state: State = {
    processes,
    slots: createStreamSlots({ slots: maxStreams, maxWaiting, maxWaitMs }),
    metrics: createStreamMetrics(parts.registry),
  }
  return {
    of: (view) => (request) => openStream(state, view, request),
    close: async () => {
      await Promise.all(processes.map((process) => process.close()))
    },
  }
}

// --- One stream -----------------------------------------------------------------------------

interface Piece {
  readonly bytes: Uint8Array
  readonly taken: () => void
}

interface Stream {
  readonly state: State
  readonly view: StreamedView
  readonly request: StreamRequest
  readonly controller: AbortController
  readonly pieces: Piece[]
  /** Resolves when there is another piece or the end. */
  changed: PromiseWithResolvers<void>
  rows: number
  /** The block of the last rows that came. */
  lastBlock: number | null
  end: { readonly error: unknown } | null
  isStarted: boolean
}

function openStream(state: State, view: StreamedView, request: StreamRequest): ViewStream {
  const stream: Stream = {
    state,
    view,
    request,
    controller: new AbortController(),
    pieces: [],
    changed: Promise.withResolvers(),
    rows: 0,
    lastBlock: null,
    end: null,
    isStarted: false,
  }
  const abort = (): void => stream.controller.abort()
  request.signal?.addEventListener('abort', abort)
  if (request.signal?.aborted === true) abort()
  return {
    next: () => next(stream),
    close() {
      abort()
      request.signal?.removeEventListener('abort', abort)
      stream.pieces.length = 0
    },
  }
}

async function next(stream: Stream): Promise<readonly StreamedRows[] | null> {
  if (!stream.isStarted) {
    stream.isStarted = true
    void run(stream)
  }
  for (;;) {
    const piece = stream.pieces.shift()
    if (piece !== undefined) return take(stream, piece)
    if (stream.end !== null) {
      if (stream.end.error === null) return null
      throw stream.end.error
    }
    stream.changed = Promise.withResolvers()
    await stream.changed.promise
  }
}

function take(stream: Stream, { bytes, taken }: Piece): readonly StreamedRows[] {
  taken()
  const groups = decodeStreamPiece(bytes, stream.rows)
  const rows = groups.reduce((sum, { chunk }) => sum + chunk.length, 0)
  stream.rows += rows
  stream.lastBlock = groups.at(-1)?.block?.height ?? null
  stream.state.metrics.rows(rows)
  return groups
}

/** How much earlier than a stream is ended here its process ends a lens, and names it. */
const namingMs = (maxMs: number): number => Math.min(500, maxMs / 8)

async function run(stream: Stream): Promise<void> {
  const { metrics } = stream.state
  const startedAt = performance.now()
  const seconds = (): number => (performance.now() - startedAt) / 1_000
  // What a process takes to start counts as well, which it cannot see itself.
  const deadline = setTimeout(
    () => stream.controller.abort(tooLong(stream, { lens: null, block: stream.lastBlock })),
    stream.request.maxMs,
  )
  try {
    const { mismatches } = await compute(stream, startedAt)
    metrics.mismatches(mismatches)
    metrics.ended('done', seconds())
    stream.end = { error: null }
  } catch (error) {
    metrics.ended(endOf(error), seconds())
    stream.end = { error: isTimeLimit(error) ? tooLong(stream, placeOf(error)) : error }
  }
  clearTimeout(deadline)
  stream.changed.resolve()
}

const isTimeLimit = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.code === 'LENS_TIME_LIMIT'

/** The lens that was at work, and the block, where they are known. */
function placeOf({ facts: { lens, block } }: ServiceError): LensPlace {
  return {
    lens: typeof lens === 'number' ? lens : null,
    block: typeof block === 'number' ? block : null,
  }
}

function tooLong({ request }: Stream, place: LensPlace): ServiceError {
  const what = `it takes more than ${Math.round(request.maxMs)} ms${atLast(place)}`
  return new ServiceError('LENS_TIME_LIMIT', what, {
    facts: placeFacts(place),
    remedy: 'Ask for fewer blocks by a condition on `_blockNumber`, or for fewer rows by a limit.',
  })
}

async function compute(stream: Stream, startedAt: number): Promise<StreamTotals> {
  const { state, view, request } = stream
  const { signal } = stream.controller
  const slot = await state.slots.take(signal)
  try {
    const process = state.processes[slot.number]
    invariant(process !== undefined, 'each slot has a process')
    const { heights, withSource } = request
    const endsAt = startedAt + request.maxMs - namingMs(request.maxMs)
    const maxMs = Math.max(1, Math.round(endsAt - performance.now()))
    const { bytes } = await process.run({
      view: view.id,
      definition: () => view.wire,
      priority: 'query',
      payload: encodePayload({ heights, withSource, maxMs }),
      endsAt,
      processorMs: maxMs,
      signal,
      onPiece: (piece, taken) => {
        stream.pieces.push({ bytes: piece, taken })
        stream.changed.resolve()
      },
    })
    return decodePayload(bytes)
  } finally {
    slot.release()
  }
}
