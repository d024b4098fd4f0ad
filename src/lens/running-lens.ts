/**
 * Which lens of a View a thread is in, for who watches the thread: one that does not come back says nothing more itself.
 */

/** In shared memory: the place of the lens in the View, 1 being the first; 0 outside of all. */
export type RunningLens = Int32Array<SharedArrayBuffer>

export function createRunningLens(): RunningLens {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
}

/** The place of the lens that a thread is in; null outside of all. */
export function readRunningLens(running: RunningLens): number | null {
  return Atomics.load(running, 0) || null
}

/** A thread is in one lens at a time. */
let own = createRunningLens()

/** Shows from now on there which lens this thread is in. */
export function showRunningLens(running: RunningLens): void {
  own = running
}

/** Notes that this thread enters a lens, or with 0 leaves it; returns where it was before, to be entered afterwards. */
export function enterLens(place: number): number {
  const before = own[0] ?? 0
  // A plain write: an atomic one takes longer than what many lenses do in a call, and nobody depends on its moment.
  own[0] = place
  return before
}
