/** A program that prints until it is killed, as a person runs it in a terminal. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'

interface PrintingProgram {
  /** Resolves to all that it printed, once that is so many lines. @throws where it ends before. */
  lines(count: number): Promise<string>
  /** `kill -9`; resolves when it has ended. */
  kill(): Promise<void>
}

/** Killed after the test at the latest. */
export function startPrinting(
  t: TestContext,
  file: string,
  { cwd, node = process.execPath }: { readonly cwd: string; readonly node?: string },
): PrintingProgram {
  const child = spawn(node, [file], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const text = { out: '', error: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text.out += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text.error += chunk
  })
  const ended = once(child, 'exit')
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  t.after(kill)
  return {
    kill,
    lines: async (count) => {
      const hasAll = (): boolean => text.out.split('\n').length > count
      while (!hasAll()) {
        const event = await Promise.race([once(child.stdout, 'data'), ended])
        if (event.length === 2 && !hasAll()) throw new Error(`it ended: ${text.out}${text.error}`)
      }
      return text.out
    },
  }
}
