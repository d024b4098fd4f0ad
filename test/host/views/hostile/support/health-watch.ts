/** Asks a Host for `/health` from a process of its own, whose answers wait for nothing that the test does. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

const asker = fileURLToPath(new URL('../../../../bench/views/health-asker.ts', import.meta.url))

/** Ends with the test at the latest. */
export function watchHealth(t: TestContext, healthUrl: string): { slowestMs(): Promise<number> } {
  const child: ChildProcess = fork(asker, [`${healthUrl}/health`])
  t.after(() => child.kill())
  return {
    async slowestMs() {
      child.send('end')
      const [answers] = (await once(child, 'message')) as [number[]]
      return Math.max(...answers)
    },
  }
}
