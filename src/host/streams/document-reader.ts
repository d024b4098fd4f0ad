/** Start here: the thread that reads the documents of a View for the lenses of one stream, a little ahead of them. */
import { workerData } from 'node:worker_threads'
import { wantedDocuments } from '../../compute/wanted-documents.ts'
import { invariant, ServiceError } from '../../errors.ts'
import {
  blockLimits,
  createViewSelector,
  type SelectedDocument,
  type SelectionOptions,
} from '../../graphql/selection/view-selection.ts'
import { toPlainError } from '../../plain-error.ts'
import { asBuffer } from '../../primitives/cbor.ts'
import { clipHeights, type HeightRanges, toHeightRanges } from '../../primitives/height-ranges.ts'
import { openReader } from '../../store/read/reader.ts'
import type { Snapshot } from '../../store/store.ts'
import type { StreamBlock } from '../../views/rows/streamed-rows.ts'
import { parseViewQuery } from '../../views/view-query.ts'
import {
  batchBytes,
  type DocumentReaderData,
  type DocumentRequest,
  type FromDocumentReader,
  maxBatches,
  type StreamDocuments,
  type ToDocumentReader,
} from './document-batches.ts'
import { streamLimits } from './stream-job.ts'

const { storePath, network, port, bell } = workerData as DocumentReaderData
/** Each block is read once. */
const cacheBytes = 1024 * 1024
const reader = openReader({ path: storePath, writer: 'parent', cacheBytes })
const selector = createViewSelector(network)

/** Heights that are looked through at once, where a View needs certain documents. */
const lookupHeights = 1_024

interface Reading {
  readonly id: number
  readonly controller: AbortController
  untaken: number
  /** Resolves when a batch was taken. */
  taken: PromiseWithResolvers<void>
}

let current: Reading | null = null

port.on('message', (message: ToDocumentReader) => {
  if (message.kind === 'begin') begin(message.id, message.request)
  else if (current?.id !== message.id) return
  else if (message.kind === 'end') stop(current)
  else {
    current.untaken -= 1
    current.taken.resolve()
  }
})

function stop(reading: Reading): void {
  reading.controller.abort()
  reading.taken.resolve()
}

function begin(id: number, request: DocumentRequest): void {
  if (current !== null) stop(current)
  const controller = new AbortController()
  const reading: Reading = { id, controller, untaken: 0, taken: Promise.withResolvers() }
  current = reading
  void read(reading, request)
    .then(() => send({ kind: 'done', id }))
    .catch((error) => send({ kind: 'failure', id, error: toPlainError(error) }))
}

function send(message: FromDocumentReader): void {
  port.postMessage(message)
  Atomics.add(bell, 0, 1)
  Atomics.notify(bell, 0)
}

async function read(reading: Reading, request: DocumentRequest): Promise<void> {
  const snapshot = reader.snapshot()
  const batch = createBatch(snapshot)
  let bytes = 0
  try {
    for await (const documents of select(snapshot, request, reading.controller.signal))
      for (const document of documents) {
        batch.add(document)
        bytes += document.json.length
        if (bytes > streamLimits.documentBytes) throw tooLarge()
        if (batch.bytes() >= batchBytes) await sendBatch(reading, batch.take())
      }
    await sendBatch(reading, batch.take())
  } finally {
    snapshot.release()
  }
}

async function sendBatch(reading: Reading, blocks: readonly StreamDocuments[]): Promise<void> {
  const { id, controller } = reading
  while (reading.untaken >= maxBatches && !controller.signal.aborted) {
    reading.taken = Promise.withResolvers()
    await reading.taken.promise
  }
  controller.signal.throwIfAborted()
  if (blocks.length === 0) return
  reading.untaken += 1
  send({ kind: 'batch', id, blocks })
}

const tooLarge = (): ServiceError =>
  new ServiceError(
    'VIEWS_SELECTION_TOO_LARGE',
    `the documents that it reads take more than ${streamLimits.documentBytes} bytes`,
    { remedy: 'Ask for fewer blocks by a condition on `_blockNumber`.' },
  )

// --- Selecting ------------------------------------------------------------------------------

type Documents = AsyncGenerator<readonly SelectedDocument[]>

async function* select(
  snapshot: Snapshot,
  { query, hints, heights, maxMs }: DocumentRequest,
  signal: AbortSignal,
): Documents {
  const limits = {
    ...blockLimits,
    maxCost: 50_000_000,
    maxRows: 10_000_000,
    // `read` counts what documents take, and says what a query can do about it.
    maxResultBytes: Infinity,
    maxMs,
    maxHeldBytes: 64 * 1024 * 1024,
  }
  const options: SelectionOptions = { limits, signal }
  const selection = compile(query)
  const wanted = wantedDocuments(hints, network)
  if (wanted === null) {
    yield* selection.documentsOver(snapshot, heights, options)
    return
  }
  const sought = selector.compile(wanted)
  for (const some of portions(heights)) {
    const found: number[] = []
    for await (const documents of sought.documentsOver(snapshot, some, options))
      for (const { height } of documents) if (height !== null) found.push(height)
    if (found.length > 0) yield* selection.documentsOver(snapshot, toHeightRanges(found), options)
  }
}

function compile(text: string): ReturnType<typeof selector.compile> {
  const query = parseViewQuery(text, network)
  invariant(!('foreign' in query), 'Views of other chains have no rows')
  return selector.compile(query)
}

function* portions(heights: HeightRanges): Generator<HeightRanges> {
  const [first] = heights
  const last = heights.at(-1)
  if (first === undefined || last === undefined) return
  for (let from = first[0]; from <= last[1]; from += lookupHeights) {
    const some = clipHeights(heights, from, from + lookupHeights - 1)
    if (some.length > 0) yield some
  }
}

// --- Batches --------------------------------------------------------------------------------

interface Batch {
  add(document: SelectedDocument): void
  bytes(): number
  take(): readonly StreamDocuments[]
}

function createBatch(snapshot: Snapshot): Batch {
  let blocks: { readonly block: StreamBlock | null; readonly texts: string[] }[] = []
  let bytes = 0
  return {
    bytes: () => bytes,
    add({ height, json }) {
      const last = blocks.at(-1)
      const text = asBuffer(json).toString()
      bytes += json.length
      if (last !== undefined && (last.block?.height ?? null) === height) last.texts.push(text)
      else blocks.push({ block: blockAt(snapshot, height), texts: [text] })
    },
    take() {
      const taken = blocks
      blocks = []
      bytes = 0
      return taken
    },
  }
}

function blockAt(snapshot: Snapshot, height: number | null): StreamBlock | null {
  if (height === null) return null
  const blockHash = snapshot.header(height)?.hash
  invariant(blockHash !== undefined, `the documents of block ${height} are of a stored block`)
  return { height, blockHash }
}
