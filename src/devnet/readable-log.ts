/** The log of a program that people watch: one short line an event, on a terminal and in a pipe. */
import type { Logger } from 'pino'
import type { PlainError } from '../plain-error.ts'
import { failureText } from '../service/failure-text.ts'
import { openLog } from '../service/log.ts'
import { readError } from './program-log.ts'

interface Entry {
  readonly level: string
  readonly time: string
  readonly msg: string
  readonly err?: PlainError
}

/** Opens a log that writes readable lines to `write`. */
export function openReadableLog(write: (text: string) => void): Logger {
  const options = { name: 'devnet', level: 'info', pretty: false } as const
  return openLog(options, { write: (line) => write(readableLine(JSON.parse(line))) })
}

/** `12:03:11 blocks arrive at the Host  node 9  generator 9  host 8`, and a failure in full. */
function readableLine(entry: Entry): string {
  const { level, time, msg, err, name: _name, ...facts } = entry as Entry & Record<string, unknown>
  const clock = new Date(time).toTimeString().slice(0, 8)
  const mark = level === 'info' ? '' : `${level}: `
  const shown = Object.entries(facts).map(([name, value]) => `  ${name} ${shownValue(value)}`)
  const failure = err === undefined ? '' : `\n${failureText(readError(err))}`
  return `${clock} ${mark}${msg}${shown.join('')}${failure}\n`
}

function shownValue(value: unknown): string {
  if (value === null) return '-'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
