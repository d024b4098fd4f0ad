/** Reads settings from the YAML file; `${NAME}` in a text is replaced by that environment variable. */
import { readFileSync } from 'node:fs'
import { parseDocument } from 'yaml'
import { didYouMean, nearestName } from '../../did-you-mean.ts'
import { messageOf } from '../../errors.ts'
import { isObject, type JsonObject } from '../../json-object.ts'
import type { AnyTable, FoundValue, Reading } from './setting.ts'

type Environment = Readonly<Record<string, string | undefined>>

const nothing: Reading = { values: new Map(), problems: [], broken: new Set() }
const maxBytes = 1_048_576

/** Reads the file, null for none. Unknown keys are problems. */
export function readYamlFile(table: AnyTable, path: string | null, env: Environment): Reading {
  if (path === null) return nothing
  const parsed = parseFile(path)
  if ('problem' in parsed) return { ...nothing, problems: [parsed.problem] }
  const byKey = new Map(Object.entries(table).map(([name, { key }]) => [key, name]))
  const values = new Map<string, FoundValue>()
  const problems: string[] = []
  const broken = new Set<string>()
  for (const { key, value } of leaves(parsed.content, byKey)) {
    const name = byKey.get(key)
    if (name === undefined) {
      const hint = didYouMean(nearestKey(key, [...byKey.keys()]))
      problems.push(`${key} in ${path} is not a setting${hint}`)
      continue
    }
    const place = `${key} in ${path}`
    const expanded = expand(value, env, place)
    problems.push(...expanded.problems)
    if (expanded.problems.length > 0) broken.add(name)
    else if (expanded.value !== undefined) {
      values.set(name, { value: expanded.value, origin: 'file', place })
    }
  }
  return { values, problems, broken }
}

function parseFile(path: string): { readonly content: JsonObject } | { readonly problem: string } {
  try {
    const text = readFileSync(path, 'utf8')
    if (text.length > maxBytes) return { problem: `${path} has more than ${maxBytes} characters` }
    const document = parseDocument(text, { prettyErrors: true })
    const [error] = document.errors
    if (error !== undefined) return { problem: `${path} is not valid YAML: ${firstLine(error)}` }
    const content: unknown = document.toJS({ maxAliasCount: 100 }) ?? {}
    if (!isObject(content)) return { problem: `${path} must hold keys and values, as in "chain:"` }
    return { content }
  } catch (error) {
    const reason = messageOf(error)
    return { problem: `--config: ${path} cannot be read (${reason})` }
  }
}

/** `Map keys must be unique at line 2, column 1`, without the excerpt below it. */
function firstLine(error: Error): string {
  return error.message.replace(/:?(?:\n.*)?$/s, '')
}

/** The settings of a nested map with their dotted keys; empty values are not set. */
function* leaves(
  content: JsonObject,
  known: ReadonlyMap<string, string>,
  prefix = '',
): Generator<{ readonly key: string; readonly value: unknown }> {
  for (const [part, value] of Object.entries(content)) {
    const key = `${prefix}${part}`
    if (isObject(value) && !known.has(key)) yield* leaves(value, known, `${key}.`)
    else if (!known.has(key) || (value !== null && value !== '')) yield { key, value }
  }
}

/** The nearest key, or a key of another section that ends alike. */
function nearestKey(key: string, known: readonly string[]): string | null {
  const last = key.split('.').at(-1)
  return (
    nearestName(key, known) ??
    known.find((candidate) => candidate.split('.').at(-1) === last) ??
    null
  )
}

interface Expanded {
  /** Undefined when the whole text names a variable that is not set. */
  readonly value: unknown
  readonly problems: readonly string[]
}

const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

function expand(value: unknown, env: Environment, place: string): Expanded {
  if (Array.isArray(value)) {
    const entries = value.map((entry) => expand(entry, env, place))
    return {
      value: entries.map((entry) => entry.value).filter((entry) => entry !== undefined),
      problems: entries.flatMap((entry) => entry.problems),
    }
  }
  if (typeof value !== 'string') return { value, problems: [] }
  const names = [...value.matchAll(reference)].map(([, name]) => name ?? '')
  const unset = names.filter((name) => (env[name] ?? '') === '')
  if (unset.length > 0) {
    const alone = value.trim() === `\${${unset[0]}}`
    const problems = alone ? [] : [`${place} refers to ${unset.join(', ')}, which is not set`]
    return { value: undefined, problems }
  }
  return { value: value.replaceAll(reference, (_, name: string) => env[name] ?? ''), problems: [] }
}
