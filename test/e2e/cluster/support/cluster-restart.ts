/** Restarts a cluster, or a part of it, beneath an operator, and listens to what the operator says of itself meanwhile. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChildProgram } from '../../../support/child-program.ts'
import type { Cluster } from './cluster.ts'

/** Distinct status codes that the operator's endpoints gave while the API server did not answer. */
interface SaidMeanwhile {
  readonly healthz: readonly number[]
  readonly readyz: readonly number[]
}

/** The shell command of an environment variable. Throws an error that says what to set. */
export function restartCommand(variable: string): string {
  const command = process.env[variable] ?? ''
  if (command !== '') return command
  throw new Error(
    `NOT RUN: ${variable} names no shell command. Set it to one that restarts what the test is about and ends when the cluster answers again; everybody who uses the cluster notices.`,
  )
}

/** Runs the command until it ends. Throws where it fails, or where the API server was there all the time. */
export async function restartBeneath(
  command: string,
  cluster: Cluster,
  operator: ChildProgram,
): Promise<SaidMeanwhile> {
  const before = await startOfApiServer(cluster)
  const shell = spawn('bash', ['-c', command], { stdio: ['ignore', 'inherit', 'inherit'] })
  const ended = once(shell, 'exit')
  const healthz = new Set<number>()
  const readyz = new Set<number>()
  const port = healthPort(operator)
  while (shell.exitCode === null && shell.signalCode === null) {
    await sleep(200)
    if (await answers(cluster)) continue
    healthz.add(await ask(port, '/healthz'))
    readyz.add(await ask(port, '/readyz'))
  }
  const [code] = await ended
  if (code !== 0) throw new Error(`the command that restarts ended with ${code}`)
  cluster.close()
  if ((await startOfApiServer(cluster)) === before)
    throw new Error('the API server did not restart')
  return { healthz: [...healthz], readyz: [...readyz] }
}

async function answers(cluster: Cluster): Promise<boolean> {
  const { code } = await cluster.kubectl(['get', '--raw', '/readyz', '--request-timeout', '1s'])
  return code === 0
}

/** Seconds, as the process itself reports them. */
async function startOfApiServer(cluster: Cluster): Promise<string> {
  const { stdout } = await cluster.kubectl(['get', '--raw', '/metrics'])
  const [, seconds] = /^process_start_time_seconds (\S+)$/m.exec(stdout) ?? []
  if (seconds === undefined) throw new Error('the API server does not say when it was started')
  return seconds
}

/** Where the operator answers for its health. */
export function healthPort(operator: ChildProgram): number {
  const [, port] = /"health":(\d+)/.exec(operator.stdout()) ?? []
  return Number(port)
}

async function ask(port: number, path: string): Promise<number> {
  const { status } = await fetch(`http://127.0.0.1:${port}${path}`)
  return status
}
