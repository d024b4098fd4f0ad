/** Forwards the warnings of a program, so that problems show without a look into its log. */
import type { Logger } from 'pino'
import { isObject, membersOf } from '../json-object.ts'
import { fromPlainError, type PlainError, toPlainError } from '../plain-error.ts'

/**
 * Repeats a line of a program's log, which is pino's JSON, when it is a warning or an error. What comes after the signal
 * comes of stopping and would hide why the programs stop; each has it in its log.
 */
export function forwardWarnings(
  program: string,
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): (line: string) => void {
  return (line) => {
    if (signal.aborted) return
    const { level, msg, time: _time, name: _name, err, ...rest } = readEntry(line)
    const facts = err === undefined ? rest : { ...rest, err: readError(err) }
    if (level === 'warn') log.warn(facts, `${program}: ${msg}`)
    if (level === 'error') log.error(facts, `${program}: ${msg}`)
  }
}

/** An error of a program as it was logged, with its own stack or none: ours would point here. */
export function readError(logged: unknown): Error {
  const plain = isObject(logged) ? (logged as unknown as PlainError) : toPlainError(logged)
  const error = fromPlainError(plain)
  if (plain.stack === undefined) delete error.stack
  return error
}

/** A line as data; empty for plain text, which a runtime writes when it crashes. */
export function readEntry(line: string): Readonly<Record<string, unknown>> {
  try {
    return membersOf(JSON.parse(line))
  } catch {
    return {}
  }
}
