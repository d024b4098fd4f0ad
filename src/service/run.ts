/**
 * The life of a program: parts are opened in order and closed in reverse, a signal or a failure
 * ends it within thirty seconds, and what went wrong is told once with its remedy.
 */
import { isatty } from 'node:tty'
import type { Logger } from 'pino'
import { ServiceError } from '../errors.ts'
import { stopTimeoutMs } from './contract.ts'
import { failureText } from './failure-text.ts'
import { openLog } from './log.ts'

/** What a running program may ask of its surroundings. */
export interface Running {
  /** Aborted when the program begins to stop. */
  readonly signal: AbortSignal
  /** Registers a part to be closed, last opened first; returns it. */
  own<T extends { close(): Promise<void> | void }>(name: string, part: T): T
  /** Ends the program with exit code 1; only the first failure is told. */
  fail(error: unknown): void
  /** The log that tells of the end; before it is set, a plain one is used. */
  useLog(log: Logger): void
}

export interface ProgramOptions {
  /** `generator`, `host`, `devnet`. */
  readonly name: string
  /** Time for closing. Default 30,000. */
  readonly stopTimeoutMs?: number
}

interface Part {
  readonly name: string
  readonly close: () => Promise<void> | void
}

const signals = ['SIGINT', 'SIGTERM'] as const

/**
 * Opens the program with `open` and keeps it until a signal or a failure, then exits the process:
 * 0 after a signal, 1 after a failure or a close that took too long. A second signal ends it at once.
 */
export async function runProgram(
  options: ProgramOptions,
  open: (running: Running) => Promise<void>,
): Promise<never> {
  const stopping = new AbortController()
  const ended = Promise.withResolvers<void>()
  const parts: Part[] = []
  let log: Logger | null = null
  let failure: { readonly error: unknown } | null = null

  const stop = (reason: string): void => {
    if (stopping.signal.aborted) return
    log?.info({ reason }, 'stopping')
    stopping.abort()
    ended.resolve()
  }
  const fail = (error: unknown): void => {
    if (failure === null && !(stopping.signal.aborted && isAbort(error))) {
      failure = { error }
      tell(error, logOf(log, options.name))
    }
    stop('failure')
  }
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping.signal.aborted) process.exit(1)
    stop(signal)
  }
  for (const signal of signals) process.on(signal, onSignal)
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)

  const opening = open({
    signal: stopping.signal,
    own(name, part) {
      parts.push({ name, close: () => part.close() })
      return part
    },
    fail,
    useLog(next) {
      log = next
    },
  }).catch(fail)

  await ended.promise
  const timer = setTimeout(() => {
    tell(stopTimeout(parts.at(-1)?.name ?? 'start'), logOf(log, options.name))
    process.exit(1)
  }, options.stopTimeoutMs ?? stopTimeoutMs)
  await opening
  await closeAll(parts, fail)
  clearTimeout(timer)
  logOf(log, options.name).info('stopped')
  process.exit(failure === null ? 0 : 1)
}

/** Closes in reverse order; a part that fails to close does not keep the others open. */
async function closeAll(parts: Part[], fail: (error: unknown) => void): Promise<void> {
  for (let part = parts.at(-1); part !== undefined; part = parts.at(-1)) {
    try {
      await part.close()
    } catch (error) {
      fail(error)
    }
    parts.pop()
  }
}

function stopTimeout(part: string): ServiceError {
  return new ServiceError('SERVICE_STOP_TIMEOUT', `${part} did not close in time`, {
    facts: { part },
    remedy: 'Start again; what was stored is whole.',
  })
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

function logOf(log: Logger | null, name: string): Logger {
  return log ?? openLog({ name, level: 'info' })
}

/** A person at a terminal reads a short text, a pipe gets one JSON line. */
function tell(error: unknown, log: Logger): void {
  if (isatty(2)) process.stderr.write(`${failureText(error)}\n`)
  if (!isatty(1)) log.fatal({ err: error }, 'failed')
}
