/** Reports where the Host stands, soon after it changed and not more often than that. */
import { isDeepStrictEqual } from 'node:util'
import type { FollowState } from './outcome.ts'

interface Reporting {
  /** Something may have changed. */
  wake(): void
  close(): void
}

/** Pause between two reports. */
const reportMs = 20

/** Reports nothing until it is woken. */
export function createReporting(
  stateNow: () => FollowState,
  emit: (state: FollowState) => void,
): Reporting {
  let last: FollowState | null = null
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const report = (): void => {
    timer = undefined
    const state = stateNow()
    if (isDeepStrictEqual(state, last)) return
    last = state
    emit(state)
  }
  return {
    wake: () => {
      if (!isClosed) timer ??= setTimeout(report, reportMs)
    },
    close: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
