/**
 * A file with one value a line that is read again whenever it changes: peers' and our own
 * addresses reach running programs this way. Blank lines and lines that begin with # are skipped.
 */
import { readFile } from 'node:fs/promises'
import type { Logger } from 'pino'
import type { SettingKind } from './setting-kinds.ts'

export interface LineFileOptions<T> {
  readonly path: string
  /** The setting that names the file, for the log. */
  readonly setting: string
  /** What a line may be; other lines are reported once and skipped. */
  readonly kind: SettingKind<T>
  /** How often the file is looked at. Default 2,000. */
  readonly intervalMs?: number
}

export interface LineFileParts<T> {
  readonly log: Logger
  /** Called with the whole list after each change; never for the first reading. */
  readonly onChange: (values: readonly T[]) => void
}

export interface LineFile<T> {
  /** What the file holds now; empty while there is none. */
  values(): readonly T[]
  close(): void
}

const maxCharacters = 1_048_576

/** Reads the file and keeps looking at it. A file that is missing or unreadable keeps the last list. */
export async function openLineFile<T>(
  options: LineFileOptions<T>,
  parts: LineFileParts<T>,
): Promise<LineFile<T>> {
  const { path, setting } = options
  let lastText: string | null = null
  let lastProblem: string | null = null
  let values: readonly T[] = []
  let busy = false

  const look = async (): Promise<boolean> => {
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      const problem = error instanceof Error && 'code' in error ? String(error.code) : String(error)
      if (problem !== lastProblem) parts.log.warn({ setting, path, problem }, 'file not readable')
      lastProblem = problem
      return null
    })
    if (text === null || text === lastText || text.length > maxCharacters) return false
    lastText = text
    lastProblem = null
    values = parseLines(text, options, parts.log)
    return true
  }

  const tick = async (): Promise<void> => {
    if (busy) return
    busy = true
    if (await look()) {
      parts.log.info({ setting, path, entries: values.length }, 'file read again')
      parts.onChange(values)
    }
    busy = false
  }

  await look()
  const timer = setInterval(() => void tick(), options.intervalMs ?? 2_000)
  timer.unref()
  return { values: () => values, close: () => clearInterval(timer) }
}

function parseLines<T>(text: string, options: LineFileOptions<T>, log: Logger): T[] {
  const { path, setting, kind } = options
  return text.split('\n').flatMap((line, index) => {
    const value = line.trim()
    if (value === '' || value.startsWith('#')) return []
    const result = kind.schema.safeParse(value)
    if (result.success) return [result.data]
    const facts = { setting, path, line: index + 1, found: value, accepted: kind.accepts }
    log.warn(facts, 'line skipped')
    return []
  })
}
