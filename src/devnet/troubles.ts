/** Shows what a program warns of, so that nobody needs its log to see that something is wrong. */
import type { Logger } from 'pino'

/** Repeats a line of a program's log when it is a warning or worse; `line` is pino's JSON or plain text. */
export function tellTrouble(program: string, line: string, log: Logger): void {
  const entry = parseEntry(line)
  if (entry === null) {
    log.warn({ program }, line)
    return
  }
  const { level, msg, time: _time, name: _name, ...facts } = entry
  if (level === 'warn') log.warn(facts, `${program}: ${msg}`)
  if (level === 'error' || level === 'fatal') log.error(facts, `${program}: ${msg}`)
}

function parseEntry(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? { ...value } : null
  } catch {
    return null
  }
}
