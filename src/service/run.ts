/**
 * The life cycle of a program: parts are opened in order and closed in reverse, a signal or a failure
 * ends it within thirty seconds, and a failure is reported once with its remedy.
 */
import process from 'node:process'
import { isatty } from 'node:tty'
import { setFlagsFromString } from 'node:v8'
import type { Logger } from 'pino'
import { ServiceError } from '../errors.ts'
import { stopTimeoutMs } from './contract.ts'
import { failureText } from './failure-text.ts'
import { openLog } from './log.ts'

/** The interface between a running program and its life cycle. */
export interface Running {
  /** Aborted when the program starts to stop. */
  readonly signal: AbortSignal
  /** Registers a part to be closed, last opened first; returns it. */
  own<T extends Closeable>(name: string, part: T): T
  /** Ends the program with exit code 1; only the first failure is reported. */
  fail(error: unknown): void
  /** The log that reports the end; an earlier failure is reported by a default one. */
  useLog(log: Logger): void
}

/** A part that lives until the program ends. */
export interface Closeable {
  close(): Promise<void> | void
}

interface ProgramOptions {
  /** `generator`, `host`, `devnet`: the name in the log. */
  readonly name: string
  /** Time for closing. Default 30,000. */
  readonly stopTimeoutMs?: number
}

interface OwnedPart {
  readonly name: string
  readonly part: Closeable
}

/**
 * How much the heap may grow between two full collections. Node lets it double, so that peers that send
 * garbage would double a program's memory. With half of this, queries while blocks arrive take half as long again.
 */
const heapGrowingPercent = 50

/** The state that `runProgram` and its steps share. */
interface Life {
  readonly name: string
  readonly stopping: AbortController
  readonly parts: OwnedPart[]
  log: Logger | null
  failed: boolean
}

/**
 * Opens the program with `open` and keeps it until a signal or a failure, then exits the process:
 * 0 after a signal, 1 after a failure or a close that took too long. A second signal ends it at once.
 */
export async function runProgram(
  options: ProgramOptions,
  open: (running: Running) => Promise<void>,
): Promise<never> {
  setFlagsFromString(`--heap-growing-percent=${heapGrowingPercent}`)
  const stopping = new AbortController()
  const life: Life = { name: options.name, stopping, parts: [], log: null, failed: false }
  const stopped = new Promise<void>((resolve) => {
    stopping.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => onSignal(life, signal))
  process.on('uncaughtException', (error) => fail(life, error))
  process.on('unhandledRejection', (error) => fail(life, error))

  const opening = open(runningOf(life)).catch((error: unknown) => fail(life, error))
  await stopped
  const limitMs = options.stopTimeoutMs ?? stopTimeoutMs
  setTimeout(() => onStopTimeout(life, limitMs), limitMs)
  await opening
  await closeParts(life)
  life.log?.info('stopped')
  process.exit(life.failed ? 1 : 0)
}

function runningOf(life: Life): Running {
  return {
    signal: life.stopping.signal,
    own(name, part) {
      life.parts.push({ name, part })
      return part
    },
    fail: (error) => fail(life, error),
    useLog(log) {
      life.log = log
    },
  }
}

function onSignal(life: Life, signal: string): void {
  if (life.stopping.signal.aborted) process.exit(1)
  life.log?.info({ signal }, 'stopping')
  life.stopping.abort()
}

function fail(life: Life, error: unknown): void {
  const isWanted = life.stopping.signal.aborted && isAbort(error)
  if (!life.failed && !isWanted) {
    life.failed = true
    report(life, error)
  }
  life.stopping.abort()
}

/** Closes in reverse order; a part that fails to close does not keep the others open. */
async function closeParts(life: Life): Promise<void> {
  for (let last = life.parts.at(-1); last !== undefined; last = life.parts.at(-1)) {
    try {
      await last.part.close()
    } catch (error) {
      fail(life, error)
    }
    life.parts.pop()
  }
}

function onStopTimeout(life: Life, limitMs: number): void {
  const part = life.parts.at(-1)?.name ?? 'the start'
  report(
    life,
    new ServiceError('SERVICE_STOP_TIMEOUT', `${part} did not end within ${limitMs} ms`, {
      facts: { part, limitMs },
      remedy: 'Nothing needs to be repaired: what was stored is whole. Start again.',
    }),
  )
  process.exit(1)
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

/** Writes readable text to a terminal, and one JSON line to a pipe. */
function report(life: Life, error: unknown): void {
  if (isatty(2)) process.stderr.write(`${failureText(error)}\n`)
  if (isatty(1)) return
  const log = life.log ?? openLog({ name: life.name, level: 'info' })
  log.fatal({ err: error }, 'failed')
}
