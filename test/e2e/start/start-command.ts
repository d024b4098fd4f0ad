/** `npm start` as a user runs it, for tests from outside. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { repository } from '../../support/repository.ts'

/** Everything that a file waits for. */
const signal = AbortSignal.timeout(300_000)

/** `npm start` and all that it started. */
export interface RunningStart {
  output(): string
  /** Waits until the output matches; returns the match. */
  line(pattern: RegExp): Promise<string>
  /** Ctrl-C, as a terminal sends it; answers after how many milliseconds it had ended. */
  interrupt(): Promise<number>
  kill(): Promise<void>
}

/** Starts it, with this environment and as the leader of a group of processes. */
export function startCommand(env: NodeJS.ProcessEnv): RunningStart {
  const child = spawn('npm', ['start'], {
    cwd: repository,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const signalGroup = async (name: NodeJS.Signals): Promise<void> => {
    if (hasEnded(child) || child.pid === undefined) return
    process.kill(-child.pid, name)
    await once(child, 'exit')
  }
  return {
    output: () => output,
    line: (pattern) =>
      until(async () => {
        if (hasEnded(child)) throw new Error(`npm start ended:\n${output}`)
        return pattern.exec(output)?.[0] ?? null
      }),
    async interrupt() {
      const beganMs = performance.now()
      await signalGroup('SIGINT')
      return performance.now() - beganMs
    },
    kill: () => signalGroup('SIGKILL'),
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** Waits until there is something. */
export async function until<T>(look: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const found = await look()
    if (found !== null) return found
    await delay(100, undefined, { signal })
  }
}
