/**
 * Work on what Hosts send, on the thread that answers queries: whoever has something to do does a few milliseconds of it,
 * and then others have their turn.
 */

export interface Slices {
  /**
   * Does work to its end, piece by piece, of which each takes a few milliseconds at most; undefined where it is not wanted
   * any more between two slices. Throws what a piece throws.
   */
  run<T>(pieces: Iterator<void, T, void>, isWanted: () => boolean): Promise<T | undefined>
}

const sliceMs = 4

/** `nextTurn` resolves in a later turn of the event loop, in a turn of its own for each that waits. */
export function createSlices(nextTurn: () => Promise<void>): Slices {
  /** Of all that work, so that what is short does not go on for long together. */
  let endMs = 0
  return {
    run: async (pieces, isWanted) => {
      for (;;) {
        if (performance.now() >= endMs) {
          await nextTurn()
          if (!isWanted()) return undefined
          endMs = performance.now() + sliceMs
        }
        const { done, value } = pieces.next()
        if (done === true) return value
      }
    },
  }
}
