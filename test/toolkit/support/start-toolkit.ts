/** Commands that run until they are interrupted. */
import { Readable } from 'node:stream'
import { runToolkit } from '../../../src/toolkit/toolkit.ts'

interface StartOptions {
  readonly cwd: string
  readonly homeFolder: string
  readonly env?: Readonly<Record<string, string>>
}

interface StartedCommand {
  interrupt(): void
  /** The exit code. */
  readonly ended: Promise<number>
  /** What was written up to the first place that fits, which is then gone. */
  until(place: RegExp): Promise<string>
}

/** A command whose output can be waited for. */
export function startToolkit(
  argv: readonly string[],
  { cwd, homeFolder, env = {} }: StartOptions,
): StartedCommand {
  const interrupt = new AbortController()
  let text = ''
  const waiting = new Set<() => void>()
  const output = {
    write: (more: string) => {
      text += more
      for (const check of waiting) check()
    },
  }
  const ended = runToolkit(argv, {
    stdin: Readable.from([]),
    interrupt: () => undefined,
    stdout: output,
    stderr: output,
    ...{ env, cwd, homeFolder },
    signal: interrupt.signal,
  })
  return {
    interrupt: () => interrupt.abort(),
    ended,
    until: (place: RegExp): Promise<string> =>
      new Promise((resolve) => {
        const check = (): void => {
          const found = place.exec(text)
          if (found === null) return
          waiting.delete(check)
          const end = found.index + found[0].length
          const before = text.slice(0, end)
          text = text.slice(end)
          resolve(before)
        }
        waiting.add(check)
        check()
      }),
  }
}
