/**
 * A process that outlives its parent by seconds. Its standard input names process ids (`+7` started,
 * `-7` ended), and when that closes, because the parent died in whatever way, it ends the remaining ones.
 */
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

const patienceMs = 3_000
const stepMs = 50

/** Reads ids until the input ends, then ends what is left: SIGTERM, after three seconds SIGKILL. */
async function reap(input: Readable): Promise<void> {
  const left = new Set<number>()
  for await (const line of createInterface({ input })) {
    const pid = Number(line.slice(1))
    if (line.startsWith('+')) left.add(pid)
    else left.delete(pid)
  }
  for (const pid of left) signal(pid, 'SIGTERM')
  for (let waitedMs = 0; waitedMs < patienceMs && anyAlive(left); waitedMs += stepMs) {
    await delay(stepMs)
  }
  for (const pid of left) signal(pid, 'SIGKILL')
}

function anyAlive(pids: ReadonlySet<number>): boolean {
  return [...pids].some((pid) => signal(pid, 0))
}

/** Signal 0 only checks; false when the process no longer exists. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

if (import.meta.main) await reap(process.stdin)
