/** Why a View has no rows of a block: which failures are tried again by themselves, and what is stored of each. */
import { ServiceError } from '../../../../errors.ts'
import { type Backoff, backoffMs } from '../../../../primitives/backoff.ts'
import { eachHeight } from '../../../../primitives/height-ranges.ts'
import type { Snapshot } from '../../../../store/store.ts'
import { decodeFailure, type StoredFailure } from '../../../../views/rows/block-rows.ts'
import type { ViewFailure } from '../view-engine.ts'

/** What depends on the machine and its load, so that a later attempt may go well. */
const retriedCodes: ReadonlySet<string> = new Set([
  'LENS_TIME_LIMIT',
  'LENS_MEMORY_LIMIT',
  'LENS_PROCESS_DIED',
])

/** One minute, then twice as long each time, at most an hour. */
const retryPause: Backoff = { minMs: 60_000, maxMs: 3_600_000 }
/** Failures in a row after which a View is left alone. */
export const mostInRow = 20

/** A lens writes what it likes into its errors. */
const maxTextLength = 1_000

/** Who runs lenses does not know what follows a failure: here it is known. */
const triedAgain =
  'It is tried again later, unless the View is quarantined; if this stays, remove the View.'

export function toFailure(error: ServiceError, attempts: number): StoredFailure {
  const { code, message, remedy } = error
  const cut = (text: string): string => text.slice(0, maxTextLength).toWellFormed()
  const advice = [remedy, isRetried(error) ? triedAgain : undefined].flatMap((each) => each ?? [])
  return {
    code,
    message: cut(message),
    remedy: advice.length === 0 ? null : cut(advice.join(' ')),
    attempts,
  }
}

/** Whether the View, or this block of it, is to blame for an error; everything else passes by itself. */
export function isOfView(error: unknown): error is ServiceError {
  if (!(error instanceof ServiceError)) return false
  if (error.code === 'LENS_BUSY') return false
  // The process could not start its threads: that has nothing to do with what they were to do.
  if (error.code === 'LENS_PROCESS_DIED' && error.cause instanceof Error) return false
  return error.code.startsWith('LENS_') || error.code.startsWith('VIEWS_')
}

/** Whether the same blocks may succeed later, or in smaller portions. */
export function isRetried({ code }: { readonly code: string }): boolean {
  return retriedCodes.has(code)
}

/** Milliseconds until the next attempt. */
export function retryDelayMs({ attempts }: StoredFailure): number {
  return backoffMs(retryPause, attempts, 1)
}

// --- As `/api/v0/views` shows them ---

type ShownFailure = Pick<StoredFailure, 'code' | 'message' | 'remedy'>

/** What kept a job from being done, when neither the View nor the block is to blame. */
export function toDelay(error: unknown): ViewFailure {
  if (!(error instanceof ServiceError))
    return { code: 'HOST_VIEW_DELAYED', message: String(error), block: null }
  const { code, message, remedy = null } = error
  return toViewFailure({ code, message, remedy }, null)
}

/** A failure of a View, and the block that it is about, if there is one. */
export function toViewFailure(
  { code, message, remedy }: ShownFailure,
  block: number | null,
): ViewFailure {
  return { code, message, ...(remedy !== null && { remedy }), block }
}

/** Why a View failed at a height; null where it did not. */
export function failureAt(snapshot: Snapshot, slot: number, height: number): StoredFailure | null {
  const bytes = snapshot.viewFailure(slot, height)
  return bytes === undefined ? null : decodeFailure(bytes)
}

/** Why a View failed at the highest block at which it did. */
export function newestFailure(snapshot: Snapshot, slot: number): ViewFailure | null {
  const [height] = eachHeight(snapshot.viewFailures(slot), true)
  const failure = height === undefined ? null : failureAt(snapshot, slot, height)
  return failure === null || height === undefined ? null : toViewFailure(failure, height)
}
