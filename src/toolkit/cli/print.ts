/** What commands print: results on standard output, progress and remarks on standard error. */
import { stripVTControlCharacters } from 'node:util'
import { failureText } from '../../service/failure-text.ts'
import type { Terminal } from './terminal.ts'

interface PrintedForms {
  /** Whether `--json` was given. */
  readonly json: boolean | undefined
  /** For people; without the last line end. */
  readonly text: string
}

/** Prints a result: the value as JSON with two spaces, or its text. Neither carries what controls a terminal. */
export function printResult(
  terminal: Terminal,
  value: unknown,
  { json, text }: PrintedForms,
): void {
  terminal.stdout.write(`${json === true ? jsonText(value) : toSafeText(text)}\n`)
}

/** A line on standard error that is no result. */
export function remark(terminal: Terminal, text: string): void {
  terminal.stderr.write(`${toSafeText(text)}\n`)
}

/** JSON escapes no control character above U+001F, and some terminals act on those too. */
function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(
    /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** What the bounds of `boundedFailure` allow a failure to take, in characters and lines. */
const maxFailureLine = 2_000
const maxFailureLines = 100

/** A failure for a terminal: bounded and without styles, as a part of it may be the text of a stranger. */
export function boundedFailure(error: unknown): string {
  const lines = withoutControls(failureText(error).replaceAll('\r\n', '\n')).split('\n')
  // The last lines say what to do.
  const shown =
    lines.length <= maxFailureLines
      ? lines
      : [...lines.slice(0, maxFailureLines / 2), '…', ...lines.slice(-maxFailureLines / 2)]
  return shown
    .map((line) => (line.length > maxFailureLine ? `${line.slice(0, maxFailureLine)}…` : line))
    .join('\n')
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
  // A terminal that nobody gave a size has 0.
  const width = (stderr.columns || 80) - 1
  return {
    show: (text) => void stderr.write(`${clear}${toSingleLine(text).slice(0, width)}`),
    end: () => void stderr.write(clear),
  }
}

/** Several lines that keep their ends, tabs and the styles of `styleOf`; nothing else in them controls the terminal. */
function toSafeText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .split(ownStyles)
    .map((part, index) => (index % 2 === 1 ? part : withoutControls(part)))
    .join('')
}

/** Bold and dim, four colours, and their ends. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those that styles begin with.
const ownStyles = /(\u001b\[(?:1|2|22|31|32|33|36|39)m)/

function withoutControls(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[^\P{Cc}\n\t]+|[\p{Cf}\u2028\u2029]+/gu, ' ')
}

/** Text of a stranger as one line that moves no cursor and changes neither colour nor direction. */
export function toSingleLine(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
}
