/** What the upstream looks like, told whenever it looks different. */
import type { Chain } from '../../chain/chain.ts'
import type { ServiceError } from '../../errors.ts'
import type { FailureReport, UpstreamMode } from '../../service/contract.ts'
import { toFailureReport } from '../../service/health-report.ts'

export interface UpstreamState {
  /** The node's head, null before it is known. */
  readonly head: number | null
  readonly mode: UpstreamMode
  /** What is wrong with the node's answers, or that there are none. */
  readonly error: FailureReport | null
}

export interface UpstreamWatch {
  setHead(height: number): void
  /** An answer that cannot be used; null when that is over. */
  setTrouble(error: ServiceError | null): void
  close(): void
}

const intervalMs = 250

/** Reports heads and troubles at once, the rest within the interval. */
export function watchUpstream(
  chain: Pick<Chain, 'mode' | 'trouble'>,
  report: (state: UpstreamState) => void,
): UpstreamWatch {
  let head: number | null = null
  let unreadable: FailureReport | null = null
  let reported = ''
  const look = (): void => {
    const state = { head, mode: chain.mode(), error: chain.trouble() ?? unreadable }
    const text = JSON.stringify(state)
    if (text === reported) return
    reported = text
    report(state)
  }
  const timer = setInterval(look, intervalMs)
  return {
    setHead(height) {
      head = height
      look()
    },
    setTrouble(error) {
      unreadable = error === null ? null : toFailureReport(error)
      look()
    },
    close: () => clearInterval(timer),
  }
}
