/** What a View makes of stored blocks: selects, runs the lenses, packs the rows. Runs in the lens process alone. */
import { ServiceError } from '../../errors.ts'
import type { Program } from '../../lens/program/program.ts'
import type { Snapshot, StoreReader } from '../../store/store.ts'
import type { BlockRows } from '../../views/block-rows.ts'
import { blockRowsBytes, encodeBlockRows } from '../../views/block-rows.ts'
import type { RowType } from '../../views/row-type.ts'
import { createRowPacker, type PackedRows } from '../../views/rows.ts'
import { encodeFailure, type StoredFailure, toFailure } from './block-failure.ts'
import type { BlockOutcome, JobResult } from './block-job.ts'

/** A View ready to run. */
export interface LoadedView {
  readonly rowType: RowType
  readonly program: Program
  /** The documents of one block as compact JSON, in the order of the query. */
  readonly documents: (snapshot: Snapshot, height: number) => AsyncIterable<readonly string[]>
}

/** Bytes of the documents of one block. A block fails beyond on every Host: another value is another version of the runtime. */
export const maxDocumentBytes: number = 64 * 1024 * 1024

/**
 * After so long, or so many bytes of rows, the rest of the blocks waits for another job. One block more is far below what
 * the lens process lets a job return, so that this never fails for its size.
 */
const jobLimits = { ms: 50, bytes: 4 * 1024 * 1024 } as const

/** Computes blocks in the order of `heights` until there is enough for one job. */
export async function computeBlocks(
  view: LoadedView,
  reader: StoreReader,
  heights: readonly number[],
): Promise<JobResult> {
  const startedAt = performance.now()
  const made: BlockRows[] = []
  const outcomes: BlockOutcome[] = []
  let [seen, bytes] = [0, 0]
  for (const height of heights) {
    seen += 1
    const block = await computeBlock(view, reader, height)
    if (block !== null) {
      made.push(block.made)
      outcomes.push(block.outcome)
      bytes += blockRowsBytes(block.made)
    }
    if (bytes > jobLimits.bytes || performance.now() - startedAt > jobLimits.ms) break
  }
  return { outcomes, seen, rows: encodeBlockRows(made) }
}

interface ComputedBlock {
  readonly made: BlockRows
  readonly outcome: BlockOutcome
}

/** Null where the block is no longer stored. What is not the View's fault is thrown. */
async function computeBlock(
  view: LoadedView,
  reader: StoreReader,
  height: number,
): Promise<ComputedBlock | null> {
  const read = await readBlock(view, reader, height)
  if (read === null) return null
  const block = { height, blockHash: read.blockHash }
  try {
    const rows = runLenses(view, read.documents())
    const { count, mismatches } = rows
    return {
      made: { ...block, rows },
      outcome: { height, rows: count, mismatches, failure: null },
    }
  } catch (error) {
    if (!isLasting(error)) throw error
    const failure: StoredFailure = toFailure(error, 1)
    return {
      made: { ...block, failure: encodeFailure(failure) },
      outcome: { height, rows: 0, mismatches: 0, failure },
    }
  }
}

/** Every failure that the View and the block alone decide. */
function isLasting(error: unknown): error is ServiceError {
  return (
    error instanceof ServiceError &&
    (error.code.startsWith('LENS_') || error.code.startsWith('VIEWS_'))
  )
}

/** The documents of a block, read before any lens runs: that may take long, and a snapshot must not. */
async function readBlock(
  view: LoadedView,
  reader: StoreReader,
  height: number,
): Promise<{ blockHash: string; documents: () => readonly string[] } | null> {
  const snapshot = reader.snapshot()
  try {
    const blockHash = snapshot.header(height)?.hash
    if (blockHash === undefined) return null
    try {
      const texts = await collect(view.documents(snapshot, height))
      return { blockHash, documents: () => texts }
    } catch (error) {
      if (!isLasting(error)) throw error
      return {
        blockHash,
        documents: () => {
          throw error
        },
      }
    }
  } finally {
    snapshot.release()
  }
}

async function collect(batches: AsyncIterable<readonly string[]>): Promise<string[]> {
  const texts: string[] = []
  let bytes = 0
  for await (const batch of batches) {
    for (const text of batch) {
      bytes += Buffer.byteLength(text)
      texts.push(text)
    }
    if (bytes > maxDocumentBytes)
      throw new ServiceError(
        'VIEWS_SELECTION_TOO_LARGE',
        `the documents of one block take more than ${maxDocumentBytes} bytes`,
        { remedy: 'Select fewer fields, or narrow the query by a filter.' },
      )
  }
  return texts
}

/** What the lenses of a View make of no document: as they see nothing of the block, always the same. */
const ofNothing = new WeakMap<LoadedView, PackedRows>()

function runLenses(view: LoadedView, documents: readonly string[]): PackedRows {
  if (documents.length > 0) return runProgram(view, documents)
  const rows = ofNothing.get(view) ?? runProgram(view, documents)
  ofNothing.set(view, rows)
  return rows
}

function runProgram({ program, rowType }: LoadedView, documents: readonly string[]): PackedRows {
  const packer = createRowPacker(rowType)
  program.run(documents, (bytes, source) => {
    packer.add(parseDocument(bytes), source)
  })
  return packer.finish()
}

function parseDocument(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  const value = parseJson(bytes)
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>
  const shown = Buffer.from(bytes.subarray(0, 80)).toString()
  throw new ServiceError(
    'LENS_OUTPUT_INVALID',
    `the last lens returned what is no JSON object: ${JSON.stringify(shown)}`,
    { remedy: 'Let each output be an object with the fields of the SDL.' },
  )
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString())
  } catch {
    return undefined
  }
}
