/**
 * What a setting is: the types of a table's entries and how an entry is spelt as a flag and in
 * help texts. `settings.ts` reads tables of them.
 */
import type { SettingKind } from './setting-kinds.ts'

/** One setting. The flag follows from the key: `node.rpc_url` is `--node-rpc-url`. */
interface SettingEntry {
  /** Path in the YAML file. */
  readonly key: string
  readonly env: string
  /** One or two sentences on what it does, without key, default and unit. */
  readonly doc: string
  /** `ms`, `bytes`, `blocks`. */
  readonly unit?: string
  /** Also read from the file that `<env>_FILE` or the flag names; never shown or logged. */
  readonly secret?: true
}

/** The default as one would write it in the YAML file. */
type RawDefault = string | number | boolean | readonly string[]

/** A setting of type `T`: nullable ones may be left out, others have a default or are required. */
type Setting<T> = SettingEntry & { readonly kind: SettingKind<Exclude<T, null>> } & (
    | (null extends T ? { readonly default?: undefined; readonly required?: undefined } : never)
    | { readonly default: RawDefault; readonly required?: undefined }
    | { readonly required: true; readonly default?: undefined }
  )

/** A program's settings by the name the code uses. */
export type SettingsTable<T> = { readonly [K in keyof T]-?: Setting<T[K]> }

/** Where a value came from. */
export type Origin = 'default' | 'file' | 'environment' | 'flag'

/** A value as it was found, before it is checked. */
export interface FoundValue {
  readonly value: unknown
  readonly origin: Origin
  /** Where it was found: `NODE_RPC_URL`, `--node-rpc-url`, `node.rpc_url in config.yaml`. */
  readonly place: string
  /** The file of a secret that was read from one. */
  readonly file?: string
}

/** The values of one source, by name in the table, and the problems with it. */
export interface Reading {
  readonly values: ReadonlyMap<string, FoundValue>
  readonly problems: readonly string[]
  /** Settings whose value could not be read: they are in `problems`, so not reported as missing as well. */
  readonly broken: ReadonlySet<string>
}

export type AnySetting = SettingEntry & {
  readonly kind: SettingKind<unknown>
  readonly default?: RawDefault | undefined
  readonly required?: true | undefined
}

export type AnyTable = Readonly<Record<string, AnySetting>>

/** The flag of a setting, without the dashes; a secret's flag names the file that holds it. */
export function flagOf(setting: SettingEntry): string {
  const name = setting.key.replaceAll(/[._]/g, '-')
  return setting.secret ? `${name}-file` : name
}

/** A default as the table and the help show it. */
export function defaultText(setting: AnySetting): string {
  if (setting.required) return 'required'
  if (setting.default === undefined) return 'none'
  const text = String(setting.default)
  return text === '' ? 'empty' : `\`${text}\``
}
