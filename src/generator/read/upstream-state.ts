/** The state of the upstream, reported whenever it changes; a head that stands still is logged. */
import type { Logger } from 'pino'
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

interface WatchParts {
  readonly log: Logger
  readonly report: (state: UpstreamState) => void
  /** Milliseconds since 1970. */
  readonly nowMs?: () => number
}

const pollIntervalMs = 250
/** More than any public chain takes for some blocks. */
const longestHeadMs = 60_000
/** Of a head that stands still. */
const remedy =
  'See whether the execution node is in sync and has its consensus client; a chain that rests looks the same.'

/** Reports heads and failures at once, the rest within the poll interval. */
export function watchUpstream(
  node: Pick<NodeClient, 'mode' | 'failure'>,
  { log, report, nowMs = Date.now }: WatchParts,
): UpstreamWatch {
  let isStandingLogged = false
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
  const logIfStanding = (): void => {
    if (headSinceMs === null || isStandingLogged || node.failure() !== null) return
    const standsMs = nowMs() - headSinceMs
    if (standsMs < longestHeadMs) return
    isStandingLogged = true
    log.warn({ height: head, standsMs, remedy }, 'the head of the execution node stands still')
  }
  const timer = setInterval(() => {
    reportIfChanged()
    logIfStanding()
  }, pollIntervalMs)
  return {
    setHead(height) {
      if (isStandingLogged) log.info({ height }, 'the head of the execution node moves again')
      isStandingLogged = false
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
