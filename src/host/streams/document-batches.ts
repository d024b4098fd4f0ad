/** What the thread of the lenses and the one that reads documents for it say to each other. */
import type { MessagePort } from 'node:worker_threads'
import type { PlainError } from '../../plain-error.ts'
import type { HeightRanges } from '../../primitives/height-ranges.ts'
import type { StreamBlock } from '../../views/rows/streamed-rows.ts'
import type { ViewHints } from '../../views/view-hints.ts'
import type { StreamWorkerData } from './stream-job.ts'

/** Documents that are wanted. */
export interface DocumentRequest {
  /** The query of the View, as it was written. */
  readonly query: string
  readonly hints: ViewHints | null
  readonly heights: HeightRanges
  readonly maxMs: number
}

/** What the reading thread is started with. */
export interface DocumentReaderData extends StreamWorkerData {
  readonly port: MessagePort
  /** Counts messages of the reader, for who waits for one and hears nothing else. */
  readonly bell: Int32Array<SharedArrayBuffer>
}

/** A later `begin` ends what was begun before. */
export type ToDocumentReader =
  | { readonly kind: 'begin'; readonly id: number; readonly request: DocumentRequest }
  /** A batch was taken, so that another one may be sent. */
  | { readonly kind: 'taken'; readonly id: number }
  | { readonly kind: 'end'; readonly id: number }

/** Neighbouring documents of one block; null for those that are of no single block, such as groups. */
export interface StreamDocuments {
  readonly block: StreamBlock | null
  readonly texts: readonly string[]
}

/** To the thread of the lenses, with the number of the request. */
export type FromDocumentReader =
  | { readonly kind: 'batch'; readonly id: number; readonly blocks: readonly StreamDocuments[] }
  | { readonly kind: 'done'; readonly id: number }
  | { readonly kind: 'failure'; readonly id: number; readonly error: PlainError }

/** Batches that were not taken: the next is read while one is used. */
export const maxBatches = 2
/** A batch is sent when it has so many bytes. */
export const batchBytes: number = 256 * 1024
