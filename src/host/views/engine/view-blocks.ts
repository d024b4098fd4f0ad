/** What a View makes of stored blocks: selects, runs the lenses, packs the rows. Runs in the lens process alone. */
import {
  type LoadedView,
  namingLastLens,
  parseDocument,
  readDocuments,
} from '../../../compute/loaded-view.ts'
import { ServiceError } from '../../../errors.ts'
import { type ByteWriter, createByteWriter } from '../../../primitives/cbor.ts'
import type { StoreReader } from '../../../store/store.ts'
import {
  type BlockRows,
  blockRowsBytes,
  encodeBlockRows,
  encodeFailure,
  type StoredFailure,
} from '../../../views/rows/block-rows.ts'
import { createRowPacker, type PackedRows } from '../../../views/rows/rows.ts'
import type { BlockOutcome, JobResult } from './block-job.ts'
import { mostInRow, toFailure } from './failures/block-failure.ts'

/**
 * After so long, or so many bytes of rows, the rest of the blocks waits for another job. One block more is far below what
 * the lens process lets a job return, so that this never fails for its size.
 */
const jobLimits = { ms: 50, bytes: 4 * 1024 * 1024 } as const

/** Computes blocks in the order of `heights` until there is enough for one job, or enough of them failed. */
export async function computeBlocks(
  view: LoadedView,
  reader: StoreReader,
  heights: readonly number[],
): Promise<JobResult> {
  const startedAt = performance.now()
  const made: BlockRows[] = []
  const outcomes: BlockOutcome[] = []
  let [seen, bytes, failedInRow] = [0, 0, 0]
  for (const height of heights) {
    seen += 1
    const block = await computeBlock(view, reader, height)
    if (block !== null) {
      made.push(block.made)
      outcomes.push(block.outcome)
      bytes += blockRowsBytes(block.made)
      failedInRow = block.outcome.failure === null ? 0 : failedInRow + 1
    }
    const isEnough = bytes > jobLimits.bytes || performance.now() - startedAt > jobLimits.ms
    if (isEnough || failedInRow === mostInRow) break
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
  const { blockHash, documentsRoot } = read
  const block = { height, blockHash, documentsRoot }
  try {
    const documents = read.documents()
    const rows = packRows(view, documents)
    const isOfDocuments = documents.length > 0
    const { count, mismatches } = rows
    return {
      made: { ...block, rows },
      outcome: { height, rows: count, mismatches, isOfDocuments, failure: null },
    }
  } catch (error) {
    if (!isLasting(error)) throw error
    const failure: StoredFailure = toFailure(error, 1)
    return {
      made: { ...block, failure: encodeFailure(failure) },
      outcome: { height, rows: 0, mismatches: 0, isOfDocuments: true, failure },
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

interface ReadBlock extends Pick<BlockRows, 'blockHash' | 'documentsRoot'> {
  /** Throws where the block has more documents than a View may select. */
  documents(): readonly Uint8Array[]
}

/** The documents of a block, read before any lens runs: that may take long, and a snapshot must not. */
async function readBlock(
  view: LoadedView,
  reader: StoreReader,
  height: number,
): Promise<ReadBlock | null> {
  const snapshot = reader.snapshot()
  try {
    const header = snapshot.header(height)
    if (header === undefined) return null
    const block = { blockHash: header.hash, documentsRoot: header.root }
    try {
      const documents = await readDocuments(view, snapshot, height, emptied(places.documents))
      return { ...block, documents: () => documents }
    } catch (error) {
      if (!isLasting(error)) throw error
      return {
        ...block,
        documents: () => {
          throw error
        },
      }
    }
  } finally {
    snapshot.release()
  }
}

/** Where documents lie until rows are made of them, and rows until they are compressed: a thread computes one block at a time. */
const places = { documents: createByteWriter(), rows: createByteWriter() }
/** A larger place is not kept for the next block. */
const maxPlaceBytes = 4 * 1024 * 1024

function emptied(place: ByteWriter): ByteWriter {
  if (place.bytes.length > maxPlaceBytes) place.bytes = createByteWriter().bytes
  place.at = 0
  return place
}

/** What the lenses of a View make of no document: as they see nothing of the block, always the same. */
const ofNothing = new WeakMap<LoadedView, PackedRows>()

function packRows(view: LoadedView, documents: readonly Uint8Array[]): PackedRows {
  if (documents.length > 0) return computeRows(view, documents)
  const rows = ofNothing.get(view) ?? computeRows(view, documents)
  ofNothing.set(view, rows)
  return rows
}

function computeRows(view: LoadedView, documents: readonly Uint8Array[]): PackedRows {
  const packer = createRowPacker(view.rowType, emptied(places.rows))
  namingLastLens(view, () =>
    view.program.run(documents, (json, source) => {
      if (!packer.addJson(json, source)) packer.add(parseDocument(json), source)
    }),
  )
  return packer.finish()
}
