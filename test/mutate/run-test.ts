/** Runs one test file in a copy of the checkout, for a limited time, and leaves no process behind. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Scratch } from './scratch.ts'

export interface TestRun {
  readonly outcome: 'passed' | 'failed' | 'timed out'
  readonly durationMs: number
  /** What the test wrote. */
  readonly output: string
}

interface RunOptions {
  readonly limitMs: number
  /** Ends the run; it then throws. */
  readonly signal: AbortSignal
  /** A folder for what V8 says was executed; nothing is recorded without one. */
  readonly coverage?: string
}

const reporter = fileURLToPath(new URL('first-failure.ts', import.meta.url))

/** Starts a test file by its path from the root; it ends at its first failure. */
export async function runTest(
  scratch: Pick<Scratch, 'folder' | 'temporary'>,
  path: string,
  options: RunOptions,
): Promise<TestRun> {
  const { limitMs, signal, coverage } = options
  const { folder, temporary } = scratch
  signal.throwIfAborted()
  const outputPath = join(folder, '..', 'output')
  const output = openSync(outputPath, 'w')
  const begin = performance.now()
  const child = spawn(process.execPath, [`--test-reporter=${reporter}`, path], {
    cwd: folder,
    env: {
      ...process.env,
      // Of a test that starts this one; with it the reporter would not be used.
      NODE_TEST_CONTEXT: undefined,
      TMPDIR: temporary,
      NODE_COMPILE_CACHE: join(temporary, '..', 'compiled'),
      // Code from the cache is not counted function by function.
      ...(coverage !== undefined && {
        NODE_V8_COVERAGE: coverage,
        NODE_DISABLE_COMPILE_CACHE: '1',
      }),
    },
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  const ended = once(child, 'exit')
  const late = Promise.withResolvers<undefined>()
  const giveUp = (): void => late.resolve(undefined)
  const timer = setTimeout(giveUp, limitMs)
  signal.addEventListener('abort', giveUp, { once: true })
  const code = await Promise.race([ended.then(([status]) => status as number | null), late.promise])
  clearTimeout(timer)
  signal.removeEventListener('abort', giveUp)
  if (code === undefined) child.kill('SIGKILL')
  await endProcessesIn(join(folder, '..'))
  await ended
  signal.throwIfAborted()
  const text = readFileSync(outputPath, 'utf8')
  rmSync(temporary, { recursive: true, force: true })
  mkdirSync(temporary)
  return { outcome: outcomeOf(code), durationMs: performance.now() - begin, output: text }
}

/** Of the exit code: undefined where the test did not end by itself. */
function outcomeOf(code: number | null | undefined): TestRun['outcome'] {
  if (code === undefined) return 'timed out'
  return code === 0 ? 'passed' : 'failed'
}

/** Kills every process that works in a folder: what a test started and did not end, in groups of their own as well. */
async function endProcessesIn(folder: string): Promise<void> {
  for (;;) {
    const left = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && worksIn(pid, folder))
    if (left.length === 0) return
    for (const pid of left) {
      try {
        process.kill(Number(pid), 'SIGKILL')
      } catch {
        // It has ended meanwhile.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** A process that has ended and was not yet waited for has no working directory any more. */
function worksIn(pid: string, folder: string): boolean {
  try {
    return `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${folder}/`)
  } catch {
    return false
  }
}
