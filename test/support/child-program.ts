/** Runs a TypeScript module in a process of its own and collects what it says. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

interface ChildOptions {
  readonly args?: readonly string[]
  /** The whole environment but PATH and HOME; nothing is inherited. */
  readonly env?: Readonly<Record<string, string>>
  /** Node's own flags. */
  readonly nodeFlags?: readonly string[]
}

export interface ChildProgram {
  readonly process: ChildProcess
  /** Everything written so far. */
  stdout(): string
  stderr(): string
  /** Waits until standard output contains this text. */
  says(text: string): Promise<void>
  /** Waits for the end. */
  ended(): Promise<ChildResult>
}

export interface ChildResult {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

const top = fileURLToPath(new URL('../../', import.meta.url))

/** Starts the module with this Node. A relative `path` starts at the repository's top folder. */
export function startChild(path: string, options: ChildOptions = {}): ChildProgram {
  const file = resolve(top, path)
  const nodeFlags = ['--disable-warning=ExperimentalWarning', ...(options.nodeFlags ?? [])]
  const child = spawn(process.execPath, [...nodeFlags, file, ...(options.args ?? [])], {
    env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const text = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    text.stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    text.stderr += chunk.toString()
  })
  const closed = once(child, 'close')
  return {
    process: child,
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    async says(wanted) {
      while (!text.stdout.includes(wanted)) {
        const event = await Promise.race([once(child.stdout, 'data'), closed])
        const ended = event.length === 2
        if (ended && !text.stdout.includes(wanted)) {
          throw new Error(`ended without saying ${wanted}: ${text.stdout}${text.stderr}`)
        }
      }
    },
    async ended() {
      const [code, signal] = (await closed) as [number | null, string | null]
      return { code, signal, ...text }
    },
  }
}
