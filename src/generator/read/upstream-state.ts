/** The state of the upstream, reported whenever it changes. */
import type { NodeClient } from '../../chain/node-client.ts'
import type { ServiceError } from '../../errors.ts'
import type { FailureReport, UpstreamMode } from '../../service/contract.ts'
import { toFailureReport } from '../../service/health/health-report.ts'

export interface UpstreamState {
  /** The node's head, null before it is known. */
  readonly head: number | null
  /** When that head came, in milliseconds since 1970; null before the first. */
  readonly headSinceMs: number | null
  readonly mode: UpstreamMode
  /** What is wrong with the node's responses, or that there are none. */
  readonly error: FailureReport | null
}

interface UpstreamWatch {
  /** The node's head is another one now. */
  setHead(height: number): void
  /** The error of an unusable response; null once it is over. */
  setFailure(error: ServiceError | null): void
  close(): void
}

const pollIntervalMs = 250

/** Reports heads and failures at once, the rest within the poll interval. */
export function watchUpstream(
  node: Pick<NodeClient, 'mode' | 'failure'>,
  report: (state: UpstreamState) => void,
  nowMs: () => number = Date.now,
): UpstreamWatch {
  let head: number | null = null
  let headSinceMs: number | null = null
  let unreadable: FailureReport | null = null
  let reported = ''
  const reportIfChanged = (): void => {
    const state = { head, headSinceMs, mode: node.mode(), error: node.failure() ?? unreadable }
    const text = JSON.stringify(state)
    if (text === reported) return
    reported = text
    report(state)
  }
  const timer = setInterval(reportIfChanged, pollIntervalMs)
  return {
    setHead(height) {
      head = height
      headSinceMs = nowMs()
      reportIfChanged()
    },
    setFailure(error) {
      unreadable = error === null ? null : toFailureReport(error)
      reportIfChanged()
    },
    close: () => clearInterval(timer),
  }
}
