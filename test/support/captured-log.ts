/** A real pino log whose lines a test reads, and can wait for. */
import { type Logger, pino } from 'pino'

export interface LogLine {
  readonly level: string
  readonly msg: string
  readonly [fact: string]: unknown
}

export interface CapturedLog {
  readonly log: Logger
  readonly lines: readonly LogLine[]
  /** The messages of one level, in order. */
  messages(level: string): string[]
  /** The first line with this message, now or as soon as it is written. */
  line(message: string): Promise<LogLine>
}

export function captureLog(): CapturedLog {
  const lines: LogLine[] = []
  const waiting = new Set<{ readonly message: string; readonly found: (line: LogLine) => void }>()
  const write = (text: string): void => {
    const line = JSON.parse(text) as LogLine
    lines.push(line)
    for (const wait of waiting)
      if (wait.message === line.msg) {
        waiting.delete(wait)
        wait.found(line)
      }
  }
  const formatters = { level: (level: string) => ({ level }) }
  return {
    log: pino({ level: 'trace', base: null, formatters }, { write }),
    lines,
    messages: (level) => lines.filter((line) => line.level === level).map(({ msg }) => msg),
    line(message) {
      const known = lines.find(({ msg }) => msg === message)
      if (known !== undefined) return Promise.resolve(known)
      return new Promise((found) => waiting.add({ message, found }))
    },
  }
}
