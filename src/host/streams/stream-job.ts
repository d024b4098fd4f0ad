/**
 * What is computed for one query: which View over which blocks, and how much it may take. Nobody keeps the rows, so
 * that other values here change no Host's rows.
 */
import type { RunLimits } from '../../lens/program/run-limits.ts'
import type { HeightRanges } from '../../primitives/height-ranges.ts'

/** What the thread of the lenses is started with, and that of its documents. */
export interface StreamWorkerData {
  readonly storePath: string
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
}

/** What a query asks of a View. */
export interface StreamJob {
  readonly heights: HeightRanges
  /** Whether rows come with the text of the document that they were made of. */
  readonly withSource: boolean
  readonly maxMs: number
}

/** What a stream returns when it is over. */
export interface StreamTotals {
  readonly rows: number
  /** Values that were not of the SDL's type and became null. */
  readonly mismatches: number
}

interface StreamLimits {
  /** Rows of one query. */
  readonly rows: number
  /** Bytes of them, before they are JSON. */
  readonly rowBytes: number
  /** Bytes of the documents that are read for it. */
  readonly documentBytes: number
  /** Of all lenses of the View. */
  readonly lenses: RunLimits
}

const mebibyte = 1024 * 1024

export const streamLimits: StreamLimits = {
  rows: 200_000,
  rowBytes: 64 * mebibyte,
  documentBytes: 1024 * mebibyte,
  lenses: {
    itemBytes: 16 * mebibyte,
    items: 1_000_000,
    outputBytes: 1024 * mebibyte,
    memoryBytes: 128 * mebibyte,
  },
}

/** Memory at which the process of one stream is ended: two threads, the lenses at their largest, and what is read for them. */
export const streamMemoryBytes: number =
  (192 + 2 * 64 + 64) * mebibyte + streamLimits.lenses.memoryBytes
