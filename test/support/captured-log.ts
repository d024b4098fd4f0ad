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
  /** The first line with this message, or the one of this number from 1, now or as soon as it is written. */
  line(message: string, number?: number): Promise<LogLine>
}

export function captureLog(): CapturedLog {
  const lines: LogLine[] = []
  const waiting = new Set<() => boolean>()
  const nth = (message: string, number: number): LogLine | undefined =>
    lines.filter(({ msg }) => msg === message)[number - 1]
  const write = (text: string): void => {
    lines.push(JSON.parse(text) as LogLine)
    for (const isFound of waiting) if (isFound()) waiting.delete(isFound)
  }
  const formatters = { level: (level: string) => ({ level }) }
  return {
    log: pino({ level: 'trace', base: null, formatters }, { write }),
    lines,
    messages: (level) => lines.filter((line) => line.level === level).map(({ msg }) => msg),
    line: (message, number = 1) =>
      new Promise((resolve) => {
        const isFound = (): boolean => {
          const line = nth(message, number)
          if (line !== undefined) resolve(line)
          return line !== undefined
        }
        if (!isFound()) waiting.add(isFound)
      }),
  }
}
