/**
 * What the stand-in of the registry chain keeps over restarts: a file of JSON lines, each written through to the disk.
 * A last line that was cut short is dropped. Without a folder nothing is kept.
 */
import { closeSync, fsyncSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { ChainView, LedgerTransaction, ViewStep } from './ledger.ts'
import type { SentTransaction } from './sent-transaction.ts'

/** One line. */
type JournalEntry =
  | { readonly kind: 'views'; readonly transaction: LedgerTransaction }
  | { readonly kind: 'sent'; readonly sent: SentTransaction }

/** The open file. */
export interface Journal {
  /** What was written before it was opened. */
  readonly entries: readonly JournalEntry[]
  append(entry: JournalEntry): void
  close(): void
}

/** Opens the file in a folder that exists, or one in memory. */
export function openJournal(folder: string | null): Journal {
  if (folder === null) return { entries: [], append: () => undefined, close: () => undefined }
  const path = join(folder, 'registry.jsonl')
  const entries = readEntries(path)
  const file = openSync(path, 'a', 0o600)
  return {
    entries,
    append(entry) {
      writeSync(file, `${JSON.stringify(entry, encodeBytes)}\n`)
      fsyncSync(file)
    },
    close: () => closeSync(file),
  }
}

/** All whole lines; what follows the last of them is cut off, so that the next begins on its own. */
function readEntries(path: string): JournalEntry[] {
  const text = readText(path)
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  if (whole.length < text.length) truncateSync(path, Buffer.byteLength(whole))
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => readEntry(JSON.parse(line)))
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw err
  }
}

function encodeBytes(key: string, value: unknown): unknown {
  return key === 'wire' ? Buffer.from(value as Uint8Array).toString('base64') : value
}

type Encoded = JournalEntry & { readonly transaction: LedgerTransaction }

function readEntry(entry: JournalEntry): JournalEntry {
  if (entry.kind === 'sent') return entry
  const { transaction } = entry as Encoded
  return { ...entry, transaction: { ...transaction, steps: transaction.steps.map(readStep) } }
}

function readStep(step: ViewStep): ViewStep {
  const wire = Buffer.from(step.view.wire as unknown as string, 'base64')
  const view: ChainView = { ...step.view, wire: new Uint8Array(wire) }
  return { ...step, view }
}
