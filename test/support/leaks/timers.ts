/** Timers that are left. */
import process from 'node:process'

/** How many timers keep this program from ending. */
export function runningTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
}
