/** How much processor time a thread took, seen from inside and from outside. */
import { readFileSync, readlinkSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'

/** Fields 14 and 15 of proc_pid_stat(5), counted from behind the name, which is in brackets. */
const userTicks = 11
const systemTicks = 12
/** Linux shows programs times in hundredths of a second, whatever it counts in. */
const tickMs = 10

/** Processor time of this thread since it started. */
export function ownProcessorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** This thread, as Linux names it to others of the process: `12/task/34`. Null on other systems. */
export function ownTask(): string | null {
  try {
    return readlinkSync('/proc/thread-self')
  } catch {
    return null
  }
}

/**
 * Processor time of another thread since it started, whatever it does right now. Without a task the thread itself is asked,
 * which Node can from 24.6 on, and not while it compiles. Null where nobody says.
 */
export async function processorMsOf(worker: Worker, task: string | null): Promise<number | null> {
  try {
    if (task !== null) return readTask(task)
    const { user, system } = await worker.cpuUsage()
    return (user + system) / 1_000
  } catch {
    // It ended in the meantime, or this Node cannot ask.
    return null
  }
}

function readTask(task: string): number {
  const stat = readFileSync(`/proc/${task}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[userTicks]) + Number(fields[systemTicks])) * tickMs
}
