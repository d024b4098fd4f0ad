/** A thread that asks for a health report again and again, however busy the thread of the test is. */
import { parentPort, Worker, workerData } from 'node:worker_threads'

/** How often it asks; it does not wait for earlier answers, so that a long silence is many late answers. */
const intervalMs = 25

/** Asks for reports of a program. */
export interface HealthProbe {
  /** Stops, and returns how long each report took in milliseconds, the fastest first. */
  stop(): Promise<readonly number[]>
}

/** Begins to ask at once. */
export function openHealthProbe(url: string): HealthProbe {
  const worker = new Worker(new URL(import.meta.url), { workerData: url })
  const { promise, resolve, reject } = Promise.withResolvers<readonly number[]>()
  worker.once('message', resolve)
  worker.once('error', reject)
  return {
    async stop() {
      worker.postMessage('stop')
      const times = await promise
      await worker.terminate()
      return times.toSorted((a, b) => a - b)
    },
  }
}

if (parentPort !== null && typeof workerData === 'string') {
  const port = parentPort
  const reports: Promise<number>[] = []
  const timer = setInterval(() => reports.push(timeOfReport(workerData)), intervalMs)
  port.once('message', async () => {
    clearInterval(timer)
    port.postMessage(await Promise.all(reports))
  })
}

async function timeOfReport(url: string): Promise<number> {
  const startedAt = performance.now()
  await (await fetch(url)).arrayBuffer()
  return performance.now() - startedAt
}
