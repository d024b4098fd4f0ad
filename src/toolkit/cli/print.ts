/** What commands print: results on standard output, progress and remarks on standard error. */
import { stripVTControlCharacters } from 'node:util'
import type { Terminal } from './terminal.ts'

interface PrintedForms {
  /** Whether `--json` was given. */
  readonly json: boolean | undefined
  /** For people; without the last line end. */
  readonly text: string
}

/** Prints a result: the value as JSON with two spaces, or its text. */
export function printResult(
  terminal: Terminal,
  value: unknown,
  { json, text }: PrintedForms,
): void {
  terminal.stdout.write(`${json === true ? JSON.stringify(value, null, 2) : text}\n`)
}

/** A line on standard error that is no result. */
export function remark(terminal: Terminal, text: string): void {
  terminal.stderr.write(`${text}\n`)
}

/** One line on standard error that is written over; nothing where that is no terminal. */
interface Progress {
  show(text: string): void
  /** Clears the line. */
  end(): void
}

/** Opens a line of progress; end it before anything else is printed. */
export function openProgressLine({ stderr }: Terminal): Progress {
  if (stderr.isTTY !== true) return { show: () => undefined, end: () => undefined }
  const clear = '\r\u001b[2K'
  const width = (stderr.columns ?? 80) - 1
  return {
    show: (text) => void stderr.write(`${clear}${toSingleLine(text).slice(0, width)}`),
    end: () => void stderr.write(clear),
  }
}

/** Text of a stranger as one line that moves no cursor and changes neither colour nor direction. */
export function toSingleLine(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
}
