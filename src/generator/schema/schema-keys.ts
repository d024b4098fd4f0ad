/**
 * The keys that the schema endpoint accepts. Those of a file are reloaded whenever it changes, and the keys that are
 * no longer in it are accepted for an hour more: Hosts learn of new keys later than the Generator does.
 */
import type { Logger } from 'pino'
import { readSecretFile } from '../../service/settings/secret-file.ts'
import { list, secretText } from '../../service/settings/setting-kinds.ts'

interface SchemaKeysOptions {
  /** Those that were configured, and read at the start. */
  readonly keys: readonly string[]
  /** The file that they were read from, if it was one. */
  readonly file?: string | undefined
  /** Poll interval in ms. Default 2,000. */
  readonly pollIntervalMs?: number
}

interface SchemaKeysParts {
  readonly log: Pick<Logger, 'info' | 'warn'>
  /** A monotonic clock. Default: that of the process. */
  readonly nowMs?: () => number
}

export interface SchemaKeys {
  /** Those of the file, and those that were in it within the last hour; trimmed. */
  accepted(): readonly string[]
  close(): void
}

/** How long a key is accepted that is no longer in the file. */
const formerMs = 3_600_000
/** How many such keys there may be at once; the oldest ones go first. */
const maxFormer = 64
const setting = 'SCHEMA_API_KEYS_FILE'
const keyList = list(secretText)

/** Polls the file, if there is one. While it is missing, unreadable or empty, its last keys are kept. */
export function openSchemaKeys(
  { keys, file, pollIntervalMs = 2_000 }: SchemaKeysOptions,
  { log, nowMs = () => performance.now() }: SchemaKeysParts,
): SchemaKeys {
  let current = trimmed(keys)
  let lastProblem: string | null = null
  const former = new Map<string, number>()

  const take = (next: readonly string[]): void => {
    for (const key of current) if (!next.includes(key)) former.set(key, nowMs() + formerMs)
    for (const key of next) former.delete(key)
    for (const key of [...former.keys()].slice(0, -maxFormer)) former.delete(key)
    current = next
    log.info({ setting, path: file, keys: next.length, former: former.size }, 'file read again')
  }
  const readAgain = (path: string): void => {
    const { value, problem = null } = readSecretFile(setting, path)
    if (problem !== null && problem !== lastProblem)
      log.warn({ setting, path, problem }, 'file not taken over, the last keys stay')
    lastProblem = problem
    if (value === undefined) return
    const next = trimmed(keyList.schema.parse(value))
    if (next.join() !== current.join()) take(next)
  }

  const timer = file === undefined ? undefined : setInterval(readAgain, pollIntervalMs, file)
  timer?.unref()
  return {
    accepted() {
      for (const [key, endMs] of former) if (endMs <= nowMs()) former.delete(key)
      return [...current, ...former.keys()]
    },
    close: () => clearInterval(timer),
  }
}

/** What a request shows is trimmed as well. */
function trimmed(keys: readonly string[]): readonly string[] {
  return keys.map((key) => key.trim())
}
