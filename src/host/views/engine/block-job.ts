/**
 * What the engine and the threads of the lens process say to each other: which View, which blocks, and what became of
 * them. The rows themselves pass as bytes, so that the main thread does not look into them.
 */
import { invariant } from '../../../errors.ts'
import { asBuffer } from '../../../primitives/cbor.ts'
import type { StoredFailure } from '../../../views/rows/block-rows.ts'

/** What each thread of the lens process is started with. */
export interface ViewWorkerData {
  readonly storePath: string
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
}

/** What became of one block. A block that is no longer stored is not among them. */
export interface BlockOutcome {
  readonly height: number
  readonly rows: number
  /** Values that were not of the SDL's type and became null. */
  readonly mismatches: number
  /** Whether the View selects anything of it. */
  readonly isOfDocuments: boolean
  /** Null where it went well. */
  readonly failure: StoredFailure | null
}

/** What a job returns. */
export interface JobResult {
  /** The first blocks of those that were asked for, as many as there was time for. */
  readonly outcomes: readonly BlockOutcome[]
  /** How many of them were looked at, gone ones included. */
  readonly seen: number
  /** As `encodeBlockRows` writes it, with a buffer of its own. */
  readonly rows: Uint8Array<ArrayBuffer>
}

const lengthBytes = 4

/** Length of the outcomes (4), the outcomes as JSON, the rows. */
export function encodeResult({ outcomes, seen, rows }: JobResult): Uint8Array {
  const head = Buffer.from(JSON.stringify({ outcomes, seen }))
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt32BE(head.length)
  return Buffer.concat([length, head, rows])
}

/** What `encodeResult` wrote. */
export function decodeResult(bytes: Uint8Array): JobResult {
  const whole = asBuffer(bytes)
  invariant(whole.length >= lengthBytes, 'a job returns what became of its blocks')
  const end = lengthBytes + whole.readUInt32BE(0)
  const head = JSON.parse(whole.toString('utf8', lengthBytes, end))
  return { ...head, rows: new Uint8Array(whole.subarray(end)) }
}
