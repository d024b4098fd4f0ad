/** A View ready to run over stored blocks. Runs strangers' code, so that it is used in the lens process alone. */
import { invariant, ServiceError } from '../errors.ts'
import { createViewSelector } from '../graphql/selection/view-selection.ts'
import { isObject, type JsonObject } from '../json-object.ts'
import type { SourceDocument } from '../lens/program/instance.ts'
import { lensError } from '../lens/program/lens-error.ts'
import { type Program, prepareProgram } from '../lens/program/program.ts'
import type { RunLimits } from '../lens/program/run-limits.ts'
import { asBuffer, type ByteWriter, createByteWriter } from '../primitives/cbor.ts'
import type { Snapshot } from '../store/store.ts'
import { lensHash } from '../views/lens-hash.ts'
import { parseRowType, type RowType } from '../views/rows/row-type.ts'
import { hintsOf } from '../views/view-hints.ts'
import { parseViewQuery } from '../views/view-query.ts'
import { decodeView } from '../views/wire.ts'
import { wantedDocuments } from './wanted-documents.ts'

/** A View ready to run. */
export interface LoadedView {
  readonly rowType: RowType
  readonly program: Program
  /** The documents of one block as compact JSON in UTF-8, in the order of the query. They lie in `out`. */
  readonly documents: (
    snapshot: Snapshot,
    height: number,
    out: ByteWriter,
  ) => AsyncIterable<readonly Uint8Array[]>
}

/** Bytes of the documents of one block. A block fails beyond on every Host: another value is another version of the runtime. */
export const maxDocumentBytes: number = 64 * 1024 * 1024

/**
 * Makes Views of the chain `network` ready, by their wire bytes: checks, compiles and tries their lenses.
 * @throws ServiceError what is wrong with the query, the SDL, the arguments or a lens.
 */
export function createViewLoader(network: string): (wire: Uint8Array) => LoadedView {
  const selector = createViewSelector(network)
  return (wire) => {
    const { query: text, sdl, lenses } = decodeView(wire)
    const rowType = parseRowType(sdl)
    const query = parseViewQuery(text, network)
    invariant(!('foreign' in query), 'Views of other chains have no rows')
    const selection = selector.compile(query)
    const known = lenses.map(({ wasm, args }) => ({ hash: lensHash(wasm), args }))
    const wanted = wantedDocuments(hintsOf(known, query), network)
    const wantedSelection = wanted === null ? null : selector.compile(wanted)
    return {
      rowType,
      program: prepareProgram(lenses, rowType.feed),
      async *documents(snapshot, height, out) {
        const heights = { from: height, to: height }
        const found = wantedSelection?.documents(snapshot, heights)
        if (found !== undefined && !(await hasAny(found))) return
        for await (const batch of selection.documents(snapshot, heights, { out }))
          yield batch.map(({ json }) => json)
      },
    }
  }
}

async function hasAny(batches: AsyncIterable<readonly unknown[]>): Promise<boolean> {
  for await (const batch of batches) if (batch.length > 0) return true
  return false
}

/**
 * The documents of one block, read before any lens runs: that may take long, and a snapshot must not. They lie in `out`.
 * @throws ServiceError `VIEWS_SELECTION_TOO_LARGE`
 */
export async function readDocuments(
  view: Pick<LoadedView, 'documents'>,
  snapshot: Snapshot,
  height: number,
  out: ByteWriter = createByteWriter(),
): Promise<Uint8Array[]> {
  const documents: Uint8Array[] = []
  let bytes = 0
  for await (const batch of view.documents(snapshot, height, out)) {
    for (const document of batch) {
      bytes += document.length
      documents.push(document)
    }
    if (bytes > maxDocumentBytes)
      throw new ServiceError(
        'VIEWS_SELECTION_TOO_LARGE',
        `the documents of one block take more than ${maxDocumentBytes} bytes`,
        { remedy: 'Select fewer fields, or narrow the query by a filter.' },
      )
  }
  return documents
}

/** An object that the last lens returned, and the index of the document that it was made of, as in `Emit`. */
type OutputListener = (document: JsonObject, source: number | null) => void

/**
 * Runs the lenses of a View over the documents of one block, or of more under limits of their own; returns what
 * `Program.run` does.
 * @throws ServiceError what a run throws, and `LENS_OUTPUT_INVALID` for what is not a JSON object. Limits of `onOutput`
 *   name the last lens.
 */
export function runLenses(
  view: Pick<LoadedView, 'program'>,
  documents: Iterable<SourceDocument>,
  onOutput: OutputListener,
  limits?: RunLimits,
): ReturnType<Program['run']> {
  const emit = (bytes: Uint8Array, source: number | null): void =>
    onOutput(parseDocument(bytes), source)
  return namingLastLens(view, () => view.program.run(documents, emit, limits))
}

/** Makes rows of what the last lens returns: where they are too large, or too many, that lens is named. */
export function namingLastLens<T>({ program }: Pick<LoadedView, 'program'>, make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw ofLastLens(error, program.feeds.length)
  }
}

/** An error that is about a lens names it already. A View may have no lens. */
function ofLastLens(error: unknown, lenses: number): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'LENS_OUTPUT_LIMIT') return error
  const { code, message, facts, remedy = '' } = error
  if (facts['lens'] !== undefined || lenses === 0) return error
  return lensError(code, lenses, `returns too much: ${message}`, remedy, facts)
}

/**
 * The object that a lens returned.
 * @throws ServiceError `LENS_OUTPUT_INVALID` for what is not a JSON object.
 */
export function parseDocument(bytes: Uint8Array): JsonObject {
  const value = parseJson(bytes)
  if (isObject(value)) return value
  const shown = Buffer.from(bytes.subarray(0, 80)).toString()
  throw new ServiceError(
    'LENS_OUTPUT_INVALID',
    `the last lens returned what is not a JSON object: ${JSON.stringify(shown)}`,
    { remedy: 'Let each output be an object with the fields of the SDL.' },
  )
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(asBuffer(bytes).toString())
  } catch {
    return undefined
  }
}
