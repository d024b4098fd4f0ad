/** Where a command writes: what was asked for, and what a person should know beside it. */
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { printable } from './printable.ts'

export interface Output {
  /** A line of what was asked for. */
  line(text: string): void
  /** A line for the person, which a pipe does not get. */
  note(text: string): void
  /** A line of something long; resolves as soon as the next one may be written. */
  next(text: string): Promise<void>
  /** Bytes as they are, for programs; they are not escaped. */
  raw(text: string): Promise<void>
  /** Characters in a line of the terminal; 100 where there is none. */
  readonly width: number
  /** Whether a person reads what was asked for, rather than a program or a file. */
  readonly isTerminal: boolean
}

interface OutputParts {
  readonly stdout: Writable & { readonly columns?: number; readonly isTTY?: boolean }
  readonly stderr: Writable
}

const defaultWidth = 100

/** Every line is escaped, see `printable`. */
export function createOutput({ stdout, stderr }: OutputParts): Output {
  const raw = async (text: string): Promise<void> => {
    if (!stdout.write(text)) await once(stdout, 'drain')
  }
  return {
    line: (text) => void stdout.write(`${printable(text)}\n`),
    note: (text) => void stderr.write(`${printable(text)}\n`),
    next: (text) => raw(`${printable(text)}\n`),
    raw,
    width: stdout.columns ?? defaultWidth,
    isTerminal: stdout.isTTY === true,
  }
}
