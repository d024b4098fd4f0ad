/** What holds a View up for a while, and what is said of that; what holds it up until somebody acts is a quarantine. */
import { type Backoff, backoffMs } from '../../../../primitives/backoff.ts'
import type { Snapshot } from '../../../../store/store.ts'
import type { HostedView } from '../../hosted-view.ts'
import type { ViewFailure } from '../view-engine.ts'
import { newestFailure, toDelay } from './block-failure.ts'

export interface Setbacks {
  /** Whether nothing is tried for now. */
  isPaused(): boolean
  /** Why the last job was not done, where no block of its own is to blame; null otherwise. */
  trouble(): ViewFailure | null
  /** Why a block failed last; what failed may be stored before its job has ended. */
  lastFailure(snapshot: Snapshot): ViewFailure | null
  /** A job was done, or a block is to blame. */
  noTrouble(): void
  /** Nobody is to blame: the same is tried again soon. */
  delayed(error: unknown): void
  /** A limit at several blocks. */
  limitOfSeveral(failure: ViewFailure): void
  blockFailed(failure: ViewFailure): void
  /** After so many limits in a row. */
  pauseAtLimit(inRow: number): void
  /** Blocks went while they were read: they are not asked for again at once. */
  pauseShortly(): void
  /** Everything is tried again now. */
  retry(): void
}

const troublePause: Backoff = { minMs: 1_000, maxMs: 60_000 }
/**
 * After limits in a row: what takes all the time that it is given leaves most of it to others, and is quarantined within
 * twenty minutes.
 */
const limitPause: Backoff = { minMs: 15_000, maxMs: 60_000 }

export function createSetbacks({ slot }: Pick<HostedView, 'slot'>, nowMs: () => number): Setbacks {
  let trouble: ViewFailure | null = null
  /** Jobs in a row that were not done, which was nobody's fault. */
  let delaysInRow = 0
  let lastFailure: ViewFailure | null = null
  let pausedUntilMs = 0
  const pause = (forMs: number): void => {
    pausedUntilMs = nowMs() + forMs
  }
  const setTrouble = (shown: ViewFailure | null, delays: number): void => {
    trouble = shown
    delaysInRow = delays
  }
  return {
    isPaused: () => nowMs() < pausedUntilMs,
    trouble: () => trouble,
    lastFailure: (snapshot) => {
      lastFailure ??= newestFailure(snapshot, slot)
      return lastFailure
    },
    noTrouble: () => setTrouble(null, 0),
    delayed: (error) => {
      setTrouble(toDelay(error), delaysInRow + 1)
      pause(backoffMs(troublePause, delaysInRow, Math.random()))
    },
    limitOfSeveral: (failure) => setTrouble(failure, 0),
    blockFailed: (failure) => {
      lastFailure = failure
    },
    pauseAtLimit: (inRow) => pause(backoffMs(limitPause, inRow, Math.random())),
    pauseShortly: () => pause(troublePause.minMs / 10),
    retry: () => {
      setTrouble(null, 0)
      lastFailure = null
      pausedUntilMs = 0
    },
  }
}
