/** Start here: the toolkit in a process of its own. */
import { homedir } from 'node:os'
import process from 'node:process'
import type { Terminal } from './cli/terminal.ts'
import { runToolkit } from './toolkit.ts'

/** The last one is a terminal that is closed: what a command started is to end with it. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Runs `viewmesh <argv>` and sets the exit code. The first signal interrupts the command, a second one ends it. */
export async function runToolkitProgram(argv: readonly string[]): Promise<void> {
  const interrupted = new AbortController()
  const interrupt = (): void => interrupted.abort()
  for (const signal of signals) process.once(signal, interrupt)
  // A reader that has seen enough, as `head`, is no failure.
  process.stdout.on('error', () => process.exit(0))
  process.exitCode = await runToolkit(argv, processTerminal(interrupted))
  for (const signal of signals) process.off(signal, interrupt)
}

function processTerminal(interrupted: AbortController): Terminal {
  const { stdin, stdout, stderr, env } = process
  return {
    ...{ stdin, stdout, stderr, env, cwd: process.cwd(), homeFolder: homedir() },
    signal: interrupted.signal,
    interrupt: () => interrupted.abort(),
  }
}
