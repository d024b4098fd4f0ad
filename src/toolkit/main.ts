/** Start here: the toolkit in a process of its own. */
import { homedir } from 'node:os'
import process from 'node:process'
import type { Terminal } from './cli/terminal.ts'
import { runToolkit } from './toolkit.ts'

/** The last one is a terminal that is closed: what a command started is to end with it. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A signal to a whole group of processes comes here twice where a launcher hands its own on. */
const repeatMs = 1_000

/** Runs `viewmesh <argv>` and sets the exit code. The first signal interrupts the command, a later one ends it. */
export async function runToolkitProgram(argv: readonly string[]): Promise<void> {
  const interrupted = new AbortController()
  const stopListening = (): void => {
    for (const signal of signals) process.off(signal, interrupt)
  }
  const interrupt = (): void => {
    if (interrupted.signal.aborted) return
    interrupted.abort()
    setTimeout(stopListening, repeatMs).unref()
  }
  for (const signal of signals) process.on(signal, interrupt)
  process.stdout.on('error', endWithoutReader)
  // Nobody reads what is said meanwhile: that ends no deployment halfway.
  process.stderr.on('error', () => undefined)
  process.exitCode = await runToolkit(argv, processTerminal(interrupted))
  stopListening()
}

/** A reader that has seen enough, as `head`, is no failure; a disk that is full is one. */
function endWithoutReader(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0)
  process.stderr.write(`error: the result cannot be written\n  because: ${error.message}\n`)
  process.exit(1)
}

function processTerminal(interrupted: AbortController): Terminal {
  const { stdin, stdout, stderr, env } = process
  return {
    ...{ stdin, stdout, stderr, env, cwd: process.cwd(), homeFolder: homedir() },
    signal: interrupted.signal,
    interrupt: () => interrupted.abort(),
  }
}
