/**
 * Settings as data: one table says key, environment name, flag, default and meaning of each. From
 * it come the reading of YAML file, environment and flags (in rising precedence), the help text
 * and docs/reference/settings.md. All problems found are reported in one message.
 */
import { z } from 'zod'
import { ServiceError } from '../../errors.ts'
import {
  type AnySetting,
  type AnyTable,
  defaultText,
  type FoundValue,
  flagOf,
  type Origin,
  type SettingsTable,
} from './setting.ts'
import { readEnvironment } from './setting-environment.ts'
import { readYamlFile } from './setting-file.ts'
import { readFlags } from './setting-flags.ts'

/** What settings are read from. */
export interface SettingSources {
  /** Arguments after the command's name. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Where the value of each setting came from, beside the settings. */
export interface LoadedSettings<T> {
  readonly settings: T
  readonly origins: Readonly<Record<keyof T, Origin>>
  /** Files of the secrets that were read from one, so that the caller can watch them. */
  readonly secretFiles: Readonly<Partial<Record<keyof T, string>>>
}

interface LoadOptions<T> {
  /** Checks of several settings together; each returned text is a problem. */
  readonly check?: (settings: T) => readonly string[]
}

/** The settings alone; see `loadSettingsWithOrigins`. */
export function loadSettings<T>(
  table: SettingsTable<T>,
  sources: SettingSources,
  options?: LoadOptions<T>,
): T {
  return loadSettingsWithOrigins(table, sources, options).settings
}

/** Reads file, environment and flags. Throws CONFIG_INVALID with all problems in its message. */
export function loadSettingsWithOrigins<T>(
  table: SettingsTable<T>,
  sources: SettingSources,
  options: LoadOptions<T> = {},
): LoadedSettings<T> {
  const entries: AnyTable = table
  const flags = readFlags(entries, sources.argv)
  const environment = readEnvironment(entries, sources.env)
  const file = readYamlFile(entries, flags.configFile, sources.env)
  const found = new Map([...file.values, ...environment.values, ...flags.values])
  const problems = [...flags.problems, ...environment.problems, ...file.problems]
  const broken = new Set([...flags.broken, ...environment.broken, ...file.broken])
  const raw = Object.fromEntries(
    Object.entries(entries).map(([name, { default: fallback }]) => [
      name,
      found.get(name)?.value ?? fallback,
    ]),
  )
  const result = tableSchema(entries, broken).safeParse(raw)
  if (!result.success)
    problems.push(...result.error.issues.map((i) => problemOf(entries, found, i)))
  const settings = result.data as T
  if (problems.length === 0) problems.push(...(options.check?.(settings) ?? []))
  if (problems.length > 0) throw configInvalid(problems)
  const origins = Object.keys(entries).map((name) => [name, found.get(name)?.origin ?? 'default'])
  const files = [...found].flatMap(([name, { file }]) => (file === undefined ? [] : [[name, file]]))
  return {
    settings,
    origins: Object.fromEntries(origins) as LoadedSettings<T>['origins'],
    secretFiles: Object.fromEntries(files) as LoadedSettings<T>['secretFiles'],
  }
}

/** The one error for any number of configuration problems. */
function configInvalid(problems: readonly string[]): ServiceError {
  const [first = ''] = problems
  const message =
    problems.length === 1
      ? first
      : `${problems.length} problems in the configuration:\n${problems.map((m) => `  - ${m}`).join('\n')}`
  return new ServiceError('CONFIG_INVALID', message, {
    remedy: 'Correct what is named above and start again; --help lists every setting.',
  })
}

function tableSchema(entries: AnyTable, broken: ReadonlySet<string>): z.ZodType {
  const shape = Object.entries(entries)
    .filter(([name]) => !broken.has(name))
    .map(([name, setting]) => [name, orMissing(setting)])
  return z.object(Object.fromEntries(shape))
}

function orMissing(setting: AnySetting): z.ZodType {
  return z.unknown().transform((value, context) => {
    if (value === undefined) {
      if (setting.required) context.addIssue({ code: 'custom' })
      return null
    }
    const result = setting.kind.schema.safeParse(value)
    if (result.success) return result.data
    for (const issue of result.error.issues) {
      const params = issue.code === 'custom' ? issue.params : undefined
      context.addIssue({ code: 'custom', message: issue.message, params })
    }
    return z.NEVER
  })
}

function problemOf(
  entries: AnyTable,
  found: ReadonlyMap<string, FoundValue>,
  issue: z.core.$ZodIssue,
): string {
  const name = String(issue.path[0])
  const setting = entries[name]
  if (setting === undefined) return issue.message
  const source = found.get(name)
  if (source === undefined) {
    const file = setting.secret ? ` or ${setting.env}_FILE` : ''
    return `${setting.key} (${setting.env}${file}) is required and not set; accepted is ${setting.kind.accepts}`
  }
  const { found: value = source.value } = (issue.code === 'custom' && issue.params) || {}
  const shown = setting.secret ? 'a value that is not shown' : withoutPassword(value)
  return `${source.place}: found ${shown}, accepted is ${issue.message}`
}

function withoutPassword(value: unknown): string {
  return String(JSON.stringify(value)).replaceAll(/\/\/[^/@"]*@/g, '//[redacted]@')
}

/** The values of all secret settings, which the log must never show. */
export function secretsOf<T>(table: SettingsTable<T>, settings: T): string[] {
  const names = Object.keys(table) as (keyof T & string)[]
  const values = names.filter((name) => table[name].secret).flatMap((name) => settings[name])
  return values.filter((value) => typeof value === 'string')
}

/** The table of docs/reference/settings.md, as Markdown. */
export function settingsTable<T>(table: SettingsTable<T>): string {
  const rows = Object.values<AnySetting>(table).map((setting) => {
    const meaning = `${setting.doc} Accepted: ${setting.kind.accepts}${setting.unit === undefined ? '' : ` (${setting.unit})`}.`
    return [
      `\`${setting.key}\``,
      `\`${setting.env}\`${setting.secret ? ` \`${setting.env}_FILE\`` : ''}`,
      `\`--${flagOf(setting)}\``,
      defaultText(setting),
      meaning.replaceAll('|', '\\|'),
    ]
  })
  const lines = [['Key in YAML', 'Environment', 'Flag', 'Default', 'Meaning'], Array(5).fill('---')]
  return [...lines, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
