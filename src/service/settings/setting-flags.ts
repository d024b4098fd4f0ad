/** Reads settings from a command's flags: `--node-rpc-url URL`, `--node-rpc-url=URL`. */
import { parseArgs } from 'node:util'
import { didYouMean, nearestName } from '../../did-you-mean.ts'
import { readSecretFile } from './secret-file.ts'
import { type AnySetting, type AnyTable, type FoundValue, flagOf, type Reading } from './setting.ts'

interface FlagReading extends Reading {
  /** What `--config` names; null without it. */
  readonly configFile: string | null
}

/** Reads all flags of a table. A flag given twice counts the second time. */
export function readFlags(table: AnyTable, argv: readonly string[]): FlagReading {
  const names = new Map(Object.entries(table).map(([name, setting]) => [flagOf(setting), name]))
  const flags = parseFlags([...names.keys(), 'config'], argv)
  const values = new Map<string, FoundValue>()
  const broken = new Set<string>()
  const problems: string[] = []
  for (const flag of flags) {
    const name = names.get(flag.name)
    const setting = name === undefined ? undefined : table[name]
    const { value, problem } = readFlag(setting, flag)
    if (problem !== null) problems.push(problem)
    if (name === undefined) continue
    const file = setting?.secret ? { file: flag.value } : {}
    if (problem === null)
      values.set(name, { value, origin: 'flag', place: `--${flag.name}`, ...file })
    else broken.add(name)
  }
  const configFile = flags.findLast(({ name }) => name === 'config')?.value
  return { values, problems, broken, configFile: configFile || null }
}

interface Flag {
  readonly name: string
  readonly value: string
  readonly problem: string | null
}

function parseFlags(known: readonly string[], argv: readonly string[]): Flag[] {
  const options = Object.fromEntries(known.map((flag) => [flag, { type: 'string' as const }]))
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true })
  const unknownAt = new Set(
    tokens.flatMap((token) =>
      token.kind === 'option' && !known.includes(token.name) ? [token.index] : [],
    ),
  )
  return tokens.flatMap((token): Flag[] => {
    if (token.kind === 'option-terminator') return []
    if (token.kind === 'positional') {
      // The value of a misspelt flag, which may be a secret and must not be repeated.
      if (unknownAt.has(token.index - 1)) return []
      const problem = `${token.value}: this command takes only flags`
      return [{ name: '', value: token.value, problem }]
    }
    const { name, rawName, value = '' } = token
    if (!known.includes(name)) return [{ name, value, problem: unknownFlag(name, rawName, known) }]
    return [{ name, value, problem: value === '' ? `${rawName} needs a value` : null }]
  })
}

function unknownFlag(name: string, rawName: string, known: readonly string[]): string {
  const near = nearestName(name, known)
  const hint = didYouMean(near === null ? null : `--${near}`)
  return `${rawName} is not a flag of this command${hint}`
}

function readFlag(setting: AnySetting | undefined, flag: Flag): Omit<Flag, 'name'> {
  if (!setting?.secret || flag.problem !== null) return flag
  const secret = readSecretFile(`--${flag.name}`, flag.value)
  return { value: secret.value ?? '', problem: secret.problem ?? null }
}
