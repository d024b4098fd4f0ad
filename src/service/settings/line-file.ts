/**
 * A file with one value per line that is reloaded whenever it changes: peers, announced addresses and
 * accepted signers reach running programs this way. Blank lines and lines that begin with # are skipped.
 */
import { readFile } from 'node:fs/promises'
import type { Logger } from 'pino'
import { codeOf } from '../../errors.ts'
import { openPolling } from '../polling.ts'
import type { SettingKind } from './setting-kinds.ts'

interface LineFileOptions<T> {
  readonly path: string
  /** The setting that names the file, for the log. */
  readonly setting: string
  /** What a line may be; other lines are reported once and skipped. */
  readonly kind: SettingKind<T>
  /** Poll interval in ms. Default 2,000. */
  readonly pollIntervalMs?: number
  /**
   * True where the list is only valid as a whole: one that is empty or has an invalid line is rejected, and
   * the last valid one is kept. Default false: such lines are skipped.
   */
  readonly isWhole?: boolean
  /** True where a whole list may be empty. Default false. */
  readonly mayBeEmpty?: boolean
}

interface LineFileParts<T> {
  readonly log: Logger
  /** Called with the whole list after each change; never for the first reading. */
  readonly onChange: (values: readonly T[]) => void
}

export interface LineFile<T> {
  readonly path: string
  /** The values in the file; empty while there is none. */
  values(): readonly T[]
  /** Why the file cannot be used; null while it can. */
  problem(): string | null
  close(): void
}

const maxCharacters = 1_048_576

/** Reads the file and polls it for changes. While it is missing or unreadable, the last list is kept. */
export async function openLineFile<T>(
  options: LineFileOptions<T>,
  parts: LineFileParts<T>,
): Promise<LineFile<T>> {
  const { path, setting } = options
  let lastText: string | null = null
  let lastProblem: string | null = null
  let lastRefusal: string | null = null
  let values: readonly T[] = []

  const readIfChanged = async (): Promise<boolean> => {
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      const problem = codeOf(error) ?? String(error)
      if (problem !== lastProblem) parts.log.warn({ setting, path, problem }, 'file not readable')
      lastProblem = problem
      return null
    })
    if (text === null) return false
    lastProblem = null
    if (text === lastText) return false
    lastText = text
    const list = parseList(text, options, parts.log)
    lastRefusal = list.refusal
    if (list.refusal !== null) {
      const facts = { setting, path, problem: list.refusal, entries: values.length }
      parts.log.warn(facts, 'file not taken over, the last good list stays')
      return false
    }
    values = list.values
    return true
  }

  await readIfChanged()
  const polling = openPolling(options.pollIntervalMs ?? 2_000, async () => {
    if (!(await readIfChanged())) return
    parts.log.info({ setting, path, entries: values.length }, 'file read again')
    parts.onChange(values)
  })
  return {
    path,
    values: () => values,
    problem: () => lastProblem ?? lastRefusal,
    close: () => void polling.close(),
  }
}

interface List<T> {
  readonly values: readonly T[]
  /** Why it is not taken over; null where it is. */
  readonly refusal: string | null
}

function parseList<T>(text: string, options: LineFileOptions<T>, log: Logger): List<T> {
  if (text.length > maxCharacters)
    return { values: [], refusal: `it has more than ${maxCharacters} characters` }
  const parsed = parseLines(text, options, log)
  const refusal = options.isWhole === true ? refusalOf(parsed, options) : null
  return { values: parsed.values, refusal }
}

interface Parsed<T> {
  readonly values: T[]
  /** Number of the first invalid line, from 1; null without one. */
  readonly badLine: number | null
}

function refusalOf(
  { values, badLine }: Parsed<unknown>,
  { mayBeEmpty = false }: Pick<LineFileOptions<unknown>, 'mayBeEmpty'>,
): string | null {
  if (badLine !== null) return `line ${badLine} cannot be read`
  return values.length === 0 && !mayBeEmpty ? 'it names nothing' : null
}

function parseLines<T>(text: string, options: LineFileOptions<T>, log: Logger): Parsed<T> {
  const { path, setting, kind, isWhole } = options
  const values: T[] = []
  let badLine: number | null = null
  for (const [index, raw] of text.split('\n').entries()) {
    const found = raw.trim()
    if (found === '' || found.startsWith('#')) continue
    const result = kind.schema.safeParse(found)
    const line = index + 1
    if (result.success) values.push(result.data)
    else {
      badLine ??= line
      if (!isWhole) log.warn({ setting, path, line, found, accepted: kind.accepts }, 'line skipped')
    }
  }
  return { values, badLine }
}
