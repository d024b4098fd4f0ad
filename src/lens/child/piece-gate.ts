/**
 * Results that leave a thread in pieces while it is inside a lens: how many of them nobody has taken yet, and whether
 * it is to stop. In shared memory, since a thread that works hears of nothing else.
 */
import { invariant } from '../../errors.ts'

/** Shared by a thread and who watches it; of one job. */
export type PieceGate = Int32Array<SharedArrayBuffer>

/** How a job hands over its result in pieces. */
export interface PieceSink {
  /**
   * Hands over a piece, whose buffer is moved away; waits first while too many are on their way.
   * @throws DOMException AbortError where the job is to stop.
   */
  put(piece: Uint8Array<ArrayBuffer>): void
  /** @throws DOMException AbortError where the job is to stop. */
  throwIfStopped(): void
}

const place = { taken: 0, stopped: 1 } as const
/** Pieces on their way to whoever asked for them. */
const maxUntaken = 4
/** Moves the count so far that a thread that waits for it goes on. */
const farAhead = 2 ** 30

export function createPieceGate(): PieceGate {
  return new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
}

/** One piece more was taken. */
export function notePieceTaken(gate: PieceGate): void {
  Atomics.add(gate, place.taken, 1)
  Atomics.notify(gate, place.taken)
}

/** Lets the thread stop where it next hands over a piece or asks. */
export function stopPieces(gate: PieceGate): void {
  Atomics.store(gate, place.stopped, 1)
  Atomics.add(gate, place.taken, farAhead)
  Atomics.notify(gate, place.taken)
}

/** The end of the thread; `post` sends a piece away. A job without a gate has no pieces. */
export function createPieceSink(
  gate: PieceGate | null,
  post: (piece: Uint8Array<ArrayBuffer>) => void,
): PieceSink {
  let sent = 0
  const throwIfStopped = (): void => {
    if (gate !== null && Atomics.load(gate, place.stopped) !== 0) throw stopError()
  }
  return {
    throwIfStopped,
    put(piece) {
      invariant(gate !== null, 'a job that hands over pieces was asked for them')
      for (;;) {
        throwIfStopped()
        const taken = Atomics.load(gate, place.taken)
        if (sent - taken < maxUntaken) break
        Atomics.wait(gate, place.taken, taken)
      }
      sent += 1
      post(piece)
    },
  }
}

/** Nobody waits for the rest. */
function stopError(): Error {
  return new DOMException('the job was stopped', 'AbortError')
}
