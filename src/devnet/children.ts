/**
 * The processes of the development chain. Each writes to a log file and runs in a process group of
 * its own: Ctrl-C reaches only this process, which stops them in order. A child that exits by itself is
 * a failure; children of a dead parent are ended by the reaper.
 */
import { spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { ServiceError } from '../errors.ts'
import { isObject } from '../json-object.ts'
import { openReaper, type Reaper } from '../reaper/open-reaper.ts'
import { readEntry, readError } from './program-log.ts'

interface ChildOptions {
  /** `node`, `generator`, `host`: in messages and as the name of the log file. */
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly logPath: string
  /** Called with every line it writes. */
  readonly onLine?: (line: string) => void
}

export interface Child {
  /** SIGTERM, and SIGKILL when it has not ended after `graceMs`. */
  stop(graceMs: number): Promise<void>
}

export interface Children {
  /** Starts a process; when it exits before `stop`, `onFailure` is called. */
  start(options: ChildOptions): Child
  /** Stops those that still run, then the reaper. */
  close(): Promise<void>
}

/** Enough for the message and the stack of a runtime that dies. */
const keptLines = 20
const closeGraceMs = 1_000

/** Opens an empty set of children. `onFailure` gets DEVNET_PROGRAM_ENDED. */
export function openChildren(parts: { readonly onFailure: (error: unknown) => void }): Children {
  const reaper = openReaper()
  const started: Child[] = []
  return {
    start(options) {
      const child = startChild(options, reaper, parts.onFailure)
      started.push(child)
      return child
    },
    async close() {
      await Promise.all(started.map((child) => child.stop(closeGraceMs)))
      await reaper.close()
    },
  }
}

function startChild(
  options: ChildOptions,
  reaper: Reaper,
  onFailure: (error: unknown) => void,
): Child {
  const { name, command, args, env, logPath } = options
  const child = spawn(command, args, { detached: true, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = Promise.withResolvers<void>()
  const lastLines: string[] = []
  let stopping = false
  let isOver = false
  if (child.pid !== undefined) reaper.watch(child.pid)
  const file = createWriteStream(logPath, { mode: 0o600 })
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      file.write(`${line}\n`)
      lastLines.push(line)
      if (lastLines.length > keptLines) lastLines.shift()
      options.onLine?.(line)
    })
  }
  const over = (reason: string): void => {
    if (isOver) return
    isOver = true
    file.end()
    if (child.pid !== undefined) reaper.forget(child.pid)
    ended.resolve()
    if (!stopping) onFailure(programEnded(name, reason, logPath, lastLines))
  }
  child.once('error', (error) => over(error.message))
  child.once('close', (code, signal) => over(signal ?? `exit code ${code}`))
  return {
    async stop(graceMs) {
      stopping = true
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
      await ended.promise
      clearTimeout(timer)
    },
  }
}

/** Prefers the program's own last error; a crashed runtime leaves plain text instead. */
function programEnded(
  name: string,
  reason: string,
  logPath: string,
  lines: readonly string[],
): ServiceError {
  const failed = lines.map(readEntry).findLast((entry) => isObject(entry['err']))
  const last =
    failed === undefined && lines.length > 0 ? `; its last lines:\n${lines.join('\n')}` : ''
  return new ServiceError(
    'DEVNET_PROGRAM_ENDED',
    `the ${name} ended by itself (${reason})${last}`,
    {
      facts: { program: name, reason, log: logPath },
      remedy: remedyOf(failed) ?? usualRemedy(reason, logPath),
      ...(failed !== undefined && { cause: readError(failed['err']) }),
    },
  )
}

/** A program that is killed writes nothing of it. */
function usualRemedy(reason: string, logPath: string): string {
  return reason === 'SIGKILL'
    ? 'Start again. Unless somebody killed it, the system did, as it does where memory runs out.'
    : `Read ${logPath}, remove the cause and start again.`
}

function remedyOf(entry: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const error = entry?.['err']
  return isObject(error) && 'remedy' in error ? String(error['remedy']) : undefined
}
