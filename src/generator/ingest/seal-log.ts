/** Logs sealed blocks: each one at the head, and one line a second while catching up. */
import type { Logger } from 'pino'
import type { BlockHeader } from '../../store/store.ts'

const intervalMs = 1_000

interface SealLogOptions {
  /** Whether such a line is of level info; all are of level debug otherwise. */
  readonly logBlocks: boolean
}

/** A function to call for each sealed block, with the node's head as far as it is known. */
export function createSealLog(
  { logBlocks }: SealLogOptions,
  log: Logger,
  nowMs: () => number = performance.now.bind(performance),
): (header: BlockHeader, head: number | null) => void {
  let reportedMs = Number.NEGATIVE_INFINITY
  let blocks = 0
  return ({ number: height, sections }, head) => {
    blocks++
    const isDue = logBlocks && nowMs() - reportedMs >= intervalMs
    const { Transaction: transactions, Log: logs } = sections
    const facts = { height, transactions, logs, behind: Math.max(0, (head ?? height) - height) }
    if (!isDue) {
      log.debug(facts, 'block sealed')
      return
    }
    log.info({ ...facts, blocks }, 'block sealed')
    reportedMs = nowMs()
    blocks = 0
  }
}
