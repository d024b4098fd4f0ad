/** The program of `app-program.ts`, started and killed. */
import { appendFile } from 'node:fs/promises'
import type { AppOptions } from '../../../../src/app/app.ts'
import { startChild } from '../../../support/child-program.ts'

interface AppChild {
  /** SIGKILL; resolves when it is gone, and what it wrote is in the log. */
  kill(): Promise<void>
}

/** Starts it; it ends with this process. */
export function startAppChild(options: AppOptions, log: string): AppChild {
  const child = startChild('test/e2e/app/support/app-program.ts', {
    args: [JSON.stringify(options)],
  })
  const end = (): void => void child.process.kill('SIGKILL')
  process.once('exit', end)
  return {
    kill: async () => {
      const { exitCode, signalCode } = child.process
      process.removeListener('exit', end)
      end()
      const { stderr } = await child.ended()
      await appendFile(log, stderr)
      if (exitCode !== null || signalCode !== null)
        throw new Error(`the application ended by itself: ${stderr.slice(-2_000)}`)
    },
  }
}
