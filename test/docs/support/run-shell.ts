/** Runs the shell blocks of pages, with the command of this repository in the place of an installed one. */
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import { repository } from '../../support/repository.ts'

interface Shell {
  readonly cwd: string
  /** Beside PATH and VIEWMESH; without HOME it is `cwd`. */
  readonly env?: Readonly<Record<string, string>>
}

/** What `npm install` would fetch is here already; `npx` needs nothing but this repository either. */
const shims = `viewmesh() { node "$VIEWMESH/src/viewmesh.js" "$@"; }
npm() { ln -s "$VIEWMESH/node_modules" node_modules; }
npx() { "$@"; }
`

function bash(commands: string, { cwd, env = {} }: Shell) {
  const PATH = `${repository}/node_modules/.bin:${process.env['PATH']}`
  const options = { cwd, env: { PATH, HOME: cwd, VIEWMESH: repository, ...env } }
  return { args: ['-ec', `${shims}${commands}`], options }
}

/** What the commands print on standard output. @throws where one of them fails */
export async function runShell(commands: string, shell: Shell): Promise<string> {
  const { args, options } = bash(commands, shell)
  return (await promisify(execFile)('bash', args, options)).stdout
}

/** Commands that run until they are interrupted, in a process group of their own as in a terminal. */
export function startShell(
  t: { after(end: () => unknown): void },
  commands: string,
  shell: Shell,
): ChildProcessWithoutNullStreams & { interrupt(signal: NodeJS.Signals): void } {
  const { args, options } = bash(commands, shell)
  const child = spawn('bash', args, { ...options, detached: true })
  const interrupt = (signal: NodeJS.Signals): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, signal)
  }
  t.after(() => interrupt('SIGKILL'))
  return Object.assign(child, { interrupt })
}
