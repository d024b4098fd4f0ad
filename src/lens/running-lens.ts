/**
 * Which lens of a View a thread is in, and at which block, for who watches the thread: one that does not come back says
 * nothing more itself.
 */

/** In shared memory. */
export interface RunningLens {
  /** The place of the lens in the View, 1 being the first; 0 outside of all. */
  readonly lens: Int32Array<SharedArrayBuffer>
  /** The block that `showBlock` was given; below 0 where there is none. */
  readonly block: BigInt64Array<SharedArrayBuffer>
}

/** Where a thread is, or was at last; null where it shows nothing. */
export interface LensPlace {
  readonly lens: number | null
  readonly block: number | null
}

export const nowhere: LensPlace = { lens: null, block: null }

export function createRunningLens(): RunningLens {
  const block = new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT))
  block[0] = -1n
  return { lens: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), block }
}

export function readRunningLens({ lens, block }: RunningLens): LensPlace {
  const height = Number(Atomics.load(block, 0))
  return { lens: Atomics.load(lens, 0) || null, block: height < 0 ? null : height }
}

/** The end of a message about a thread that was ended. */
export function atLast({ lens }: LensPlace): string {
  return lens === null ? '' : `, at last in lens ${lens}`
}

/** The same as facts of an error. */
export function placeFacts({ lens, block }: LensPlace): { lens?: number; block?: number } {
  return { ...(lens !== null && { lens }), ...(block !== null && { block }) }
}

/** A thread is in one lens at a time. */
let own = createRunningLens()

/** Shows from now on there which lens this thread is in. */
export function showRunningLens(running: RunningLens): void {
  own = running
}

/** Notes the block of the documents that lenses are given from now on; null for none. */
export function showBlock(height: number | null): void {
  Atomics.store(own.block, 0, BigInt(height ?? -1))
}

/** Notes that this thread enters a lens, or with 0 leaves it; returns where it was before, to be entered afterwards. */
export function enterLens(place: number): number {
  const before = own.lens[0] ?? 0
  // A plain write: an atomic one takes longer than what many lenses do in a call, and nobody depends on its moment.
  own.lens[0] = place
  return before
}
