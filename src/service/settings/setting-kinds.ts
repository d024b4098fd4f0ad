/**
 * The kinds of values a setting can have. Each knows what it accepts, in words for messages,
 * and a zod schema that reads the text of an environment variable as well as a YAML value.
 */
import { isIP } from 'node:net'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { z } from 'zod'

/** How a setting's value is read. `accepts` completes the sentence "accepted is ...". */
export interface SettingKind<T> {
  readonly accepts: string
  readonly schema: z.ZodType<T>
}

/** A custom kind: `read` returns the value, or undefined for what is not accepted. */
export function kind<T>(accepts: string, read: (value: unknown) => T | undefined): SettingKind<T> {
  const schema = z.unknown().transform((value, context): T => {
    const result = read(value)
    if (result !== undefined) return result
    context.addIssue({ code: 'custom', message: accepts })
    return z.NEVER
  })
  return { accepts, schema }
}

/** The trimmed text of a scalar, undefined for anything else and for nothing. */
export function scalarText(value: unknown): string | undefined {
  const isScalar =
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  const trimmed = isScalar ? String(value).trim() : ''
  return trimmed === '' ? undefined : trimmed
}

/** Text that matches `pattern`, or any text. */
export function text(accepts: string, pattern: RegExp = /./s): SettingKind<string> {
  return kind(accepts, (value) => {
    const found = scalarText(value)
    return found !== undefined && pattern.test(found) ? found : undefined
  })
}

/** Secret text: used unchanged, except that line breaks at its end are dropped. */
export const secretText: SettingKind<string> = kind('any text that is not empty', (value) =>
  typeof value === 'string' && value.trim() !== '' ? value.replace(/[\r\n]+$/, '') : undefined,
)

/** One of a few words. */
export function choice<const T extends string>(choices: readonly T[]): SettingKind<T> {
  return kind(`one of ${choices.join(', ')}`, (value) => {
    const found = scalarText(value)
    return choices.find((known) => known === found)
  })
}

/** A whole number within a range; `_` and a decimal point are not accepted. */
export function integerBetween(
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): SettingKind<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`
  return kind(`a whole number ${range}`, (value) => {
    const found = scalarText(value)
    if (found === undefined || !/^-?\d{1,16}$/.test(found)) return undefined
    const number = Number(found)
    return number >= min && number <= max ? number : undefined
  })
}

const words: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  1: true,
  false: false,
  no: false,
  off: false,
  0: false,
}

/** In any case. */
export const boolean: SettingKind<boolean> = kind(
  'true or false, yes or no, on or off, 1 or 0',
  (value) => {
    const found = scalarText(value)?.toLowerCase()
    return found !== undefined && Object.hasOwn(words, found) ? words[found] : undefined
  },
)

/** A file or directory; `~/` is the user's home, a relative path starts at the working directory. */
export const path: SettingKind<string> = kind('a path', (value) => {
  if (typeof value !== 'string' || value.trim() === '' || value.includes('\0')) return undefined
  const found = value.trim()
  if (found === '~') return homedir()
  return resolve(found.startsWith('~/') ? join(homedir(), found.slice(2)) : found)
})

/** Schemes with which every URL has a host. */
type UrlScheme = 'http' | 'https' | 'ws' | 'wss'

/** A URL with one of these schemes, returned as it was written. */
export function url(...schemes: readonly UrlScheme[]): SettingKind<string> {
  return kind(`a URL that begins with ${schemes.map((s) => `${s}://`).join(' or ')}`, (value) => {
    const found = scalarText(value)
    if (found === undefined || !URL.canParse(found)) return undefined
    const { protocol } = new URL(found)
    return schemes.some((scheme) => protocol === `${scheme}:`) ? found : undefined
  })
}

/** Where a server listens. */
export interface Address {
  readonly host: string
  /** 0 lets the system choose. */
  readonly port: number
}

/** `host:port`, `[ipv6]:port` or `:port` (all interfaces). */
export const hostAndPort: SettingKind<Address> = kind(
  'host:port, as in 0.0.0.0:8080 or [::]:8080',
  (value) => {
    const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]*)):(\d{1,5})$/.exec(
      scalarText(value) ?? '',
    )
    if (match === null) return undefined
    const [, ipv6, name, digits] = match
    const port = Number(digits)
    if (port > 65_535 || (ipv6 !== undefined && isIP(ipv6) !== 6)) return undefined
    return { host: ipv6 ?? (name || '0.0.0.0'), port }
  },
)

/** Several values: a YAML list, or text with commas between. Empty entries are dropped. */
export function list<T>(item: SettingKind<T>): SettingKind<readonly T[]> {
  const schema = z.unknown().transform((value, context): readonly T[] => {
    const entries: unknown[] = Array.isArray(value)
      ? value
      : (scalarText(value)?.split(',') ?? [value])
    const results: T[] = []
    for (const entry of entries) {
      if (typeof entry === 'string' && entry.trim() === '') continue
      const result = item.schema.safeParse(entry)
      if (result.success) results.push(result.data)
      else context.addIssue({ code: 'custom', message: item.accepts, params: { found: entry } })
    }
    return results
  })
  return { accepts: `a list in which each entry is ${item.accepts}`, schema }
}
