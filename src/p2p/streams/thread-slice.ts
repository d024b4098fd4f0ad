/**
 * Lets other work go on between frames: those that have arrived are read without a turn of the event loop between
 * them, and a mebibyte may hold hundreds of thousands.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Time in milliseconds after which other work may run. */
const sliceMs = 10
/** When the slice began that all streams of this thread share; null before the first frame of a turn. */
let sliceStart: number | null = null

/** Resolves at once, or in the next turn of the event loop where this one has lasted for long. */
export async function shareThread(): Promise<void> {
  if (sliceStart === null) {
    sliceStart = performance.now()
    setImmediate(() => {
      sliceStart = null
    })
  } else if (performance.now() - sliceStart > sliceMs) await nextTurn()
}
