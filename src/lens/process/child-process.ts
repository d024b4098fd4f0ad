/** One life of the lens process: starting it, its messages, what it writes and how it ended. */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { FromChild, ToChild } from '../child/messages.ts'

interface ChildOptions {
  /** Module of its threads. */
  readonly workerUrl: URL
  readonly data: unknown
  readonly threads: number
  readonly niceness?: number
  readonly environment: Readonly<Record<string, string | undefined>>
}

interface ChildListeners {
  onMessage(message: FromChild): void
  /** Called once, with what it wrote last. */
  onExit(reason: string, output: string): void
}

export interface LensChild {
  send(message: ToChild): void
  kill(): void
}

/**
 * No optimised code: compiling that takes minutes and gigabytes for some valid modules. Functions are compiled
 * when they are first called, in the thread that calls them and on its account.
 */
const nodeOptions = [
  '--liftoff-only',
  '--wasm-lazy-compilation',
  // Memory of large runs is collected when they are over.
  '--expose-gc',
  // What a block leaves behind is dead by the time it is looked at, a dozen blocks later.
  '--max-semi-space-size=16',
  // What is left even so is collected every few hundred blocks.
  '--initial-old-space-size=96',
  '--no-warnings',
]

/** All that it is given of the program's environment, which holds secrets. */
const inherited = ['LD_LIBRARY_PATH', 'NODE_COMPILE_CACHE', 'TMPDIR', 'TZ']

const keptOutput = 4_096
/** The program's own threads come first. */
const defaultNiceness = 5

/** Starts it. It is in a process group of its own, which no Ctrl-C reaches. */
export function startChild(options: ChildOptions, listeners: ChildListeners): LensChild {
  const { workerUrl, data, threads, niceness = defaultNiceness, environment } = options
  const script = import.meta.url.endsWith('.ts') ? '../child/main.ts' : '../child/main.js'
  const path = fileURLToPath(new URL(script, import.meta.url))
  const child = trySpawn([...nodeOptions, path], environment)
  if (child instanceof Error) {
    setImmediate(() => listeners.onExit(child.message, ''))
    return { send: () => undefined, kill: () => undefined }
  }
  const output = keepOutput(child)
  let isOver = false
  const over = (reason: string): void => {
    if (isOver) return
    isOver = true
    listeners.onExit(reason, output())
  }
  child.on('message', (message: FromChild) => {
    if (!isOver) listeners.onMessage(message)
  })
  child.on('error', (error) => over(error.message))
  child.on('close', (code, signal) => over(signal ?? `exit code ${code}`))
  const send = (message: ToChild): void => {
    // Where it is gone, its end says so.
    if (child.connected) child.send(message, () => undefined)
  }
  send({ kind: 'start', workerUrl: workerUrl.href, data, threads, niceness })
  return { send, kill: () => void child.kill('SIGKILL') }
}

/** Most failures come as an event, and some, such as a lack of memory, are thrown. */
function trySpawn(
  args: readonly string[],
  environment: ChildOptions['environment'],
): ChildProcess | Error {
  try {
    return spawn(process.execPath, args, {
      detached: true,
      env: Object.fromEntries(
        Object.entries(environment).filter(([name]) => inherited.includes(name)),
      ),
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** What it wrote last: lenses cannot, but a runtime that dies says why. */
function keepOutput({ stdout, stderr }: ChildProcess): () => string {
  let kept = ''
  for (const stream of [stdout, stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      kept = `${kept}${text}`.slice(-keptOutput)
    })
  return () => kept
}
