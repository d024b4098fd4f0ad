/** Start here: the thread of a lens process that runs the lenses of a View for one query at a time. */

import { runLenses } from '../../compute/loaded-view.ts'
import { invariant, ServiceError } from '../../errors.ts'
import type { PieceSink } from '../../lens/child/piece-gate.ts'
import { serveLensWorker } from '../../lens/child/serve-lens-worker.ts'
import { decodePayload, encodePayload } from '../../lens/json-payload.ts'
import { type Program, prepareProgram } from '../../lens/program/program.ts'
import { lensHash } from '../../views/lens-hash.ts'
import { parseRowType, type RowType } from '../../views/rows/row-type.ts'
import { createStreamPacker, type StreamPacker } from '../../views/rows/streamed-rows.ts'
import { hintsOf, type ViewHints } from '../../views/view-hints.ts'
import { parseViewQuery } from '../../views/view-query.ts'
import { decodeView } from '../../views/wire.ts'
import { type DocumentFeed, type DocumentRun, openDocumentFeed } from './document-feed.ts'
import {
  type StreamJob,
  type StreamTotals,
  type StreamWorkerData,
  streamLimits,
} from './stream-job.ts'

interface LoadedStream {
  readonly query: string
  readonly hints: ViewHints | null
  readonly rowType: RowType
  readonly program: Program
}

await serveLensWorker<StreamWorkerData, LoadedStream>((data) => {
  const source = openDocumentFeed(data)
  return {
    load: (wire) => load(wire, data.network),
    run: (view, payload, pieces) =>
      encodePayload(runStream(view, decodePayload(payload), { source, pieces })),
  }
})

function load(wire: Uint8Array, network: string): LoadedStream {
  const { query, sdl, lenses } = decodeView(wire)
  const rowType = parseRowType(sdl)
  const read = parseViewQuery(query, network)
  invariant(!('foreign' in read), 'Views of other chains have no rows')
  const known = lenses.map(({ wasm, args }) => ({ hash: lensHash(wasm), args }))
  const program = prepareProgram(lenses, rowType.feed)
  return { query, hints: hintsOf(known, read), rowType, program }
}

interface StreamParts {
  readonly source: DocumentFeed
  readonly pieces: PieceSink
}

function runStream(view: LoadedStream, job: StreamJob, parts: StreamParts): StreamTotals {
  const { query, hints } = view
  const out = createOutput(view.rowType, parts.pieces)
  const request = { query, hints, heights: job.heights, maxMs: job.maxMs }
  const documents = parts.source.run(request, out.beforeDocument)
  try {
    runLenses(
      view,
      documents,
      (document) => out.add(document, documents.last, job.withSource),
      streamLimits.lenses,
    )
  } catch (error) {
    throw located(error, documents)
  }
  out.flush()
  return out.totals()
}

/** Says at which block a View failed. */
function located(error: unknown, { last }: DocumentRun): unknown {
  const block = last?.block?.height
  if (!(error instanceof ServiceError) || block === undefined) return error
  const { code, message, facts, remedy } = error
  return new ServiceError(code, message, {
    facts: { ...facts, block },
    ...(remedy !== undefined && { remedy }),
    cause: error,
  })
}

// --- Rows on their way out ------------------------------------------------------------------

interface Output {
  add(
    document: Readonly<Record<string, unknown>>,
    last: DocumentRun['last'],
    withSource: boolean,
  ): void
  /** Hands over rows that have waited for long enough, and stops where nobody wants more. */
  beforeDocument(): void
  flush(): void
  totals(): StreamTotals
}

/** Rows are handed over when they are so many bytes, or when the first of them has waited so long. */
const pieceBytes = 128 * 1024
const pieceMs = 10

function createOutput(rowType: RowType, pieces: PieceSink): Output {
  const packer: StreamPacker = createStreamPacker(rowType)
  let [rows, bytes, since] = [0, 0, 0]
  const flush = (): void => {
    if (packer.bytes > 0) pieces.put(packer.take())
    since = performance.now()
  }
  const isDue = (): boolean =>
    packer.bytes >= pieceBytes || (packer.bytes > 0 && performance.now() - since > pieceMs)
  return {
    flush,
    totals: () => ({ rows, mismatches: packer.mismatches }),
    beforeDocument() {
      pieces.throwIfStopped()
      if (isDue()) flush()
    },
    add(document, last, withSource) {
      const before = packer.bytes
      packer.add(document, last?.block ?? null, withSource ? (last?.text ?? null) : null)
      rows += 1
      bytes += packer.bytes - before
      if (rows > streamLimits.rows) throw tooMuch(`more than ${streamLimits.rows} rows`)
      if (bytes > streamLimits.rowBytes)
        throw tooMuch(`rows of more than ${streamLimits.rowBytes} bytes`)
      if (isDue()) flush()
    },
  }
}

const tooMuch = (what: string): ServiceError =>
  new ServiceError('LENS_OUTPUT_LIMIT', `${what} for one query`, {
    remedy:
      'Ask for fewer blocks by a condition on `_blockNumber`, or register the View with @materialized(if: true).',
  })
