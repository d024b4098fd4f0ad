/** Reads settings from environment variables; an empty one counts as not set. */
import { editDistance } from '../../did-you-mean.ts'
import { readSecretFile } from './secret-file.ts'
import type { AnySetting, AnyTable, FoundValue, Reading } from './setting.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Reads all variables of a table and reports names that look like misspelt ones. */
export function readEnvironment(table: AnyTable, env: Environment): Reading {
  const values = new Map<string, FoundValue>()
  const problems: string[] = []
  const broken = new Set<string>()
  for (const [name, setting] of Object.entries(table)) {
    const reading = readVariable(setting, env)
    if (reading === null) continue
    if ('problem' in reading) {
      problems.push(reading.problem)
      broken.add(name)
    } else values.set(name, reading)
  }
  return { values, problems: [...problems, ...misspelt(table, env)], broken }
}

function readVariable(
  setting: AnySetting,
  env: Environment,
): FoundValue | { problem: string } | null {
  const direct = env[setting.env] ?? ''
  const fileVariable = `${setting.env}_FILE`
  const file = setting.secret ? (env[fileVariable] ?? '') : ''
  if (direct !== '' && file !== '') {
    return { problem: `${setting.env} and ${fileVariable} are both set; keep one of them` }
  }
  if (direct !== '') return { value: direct, origin: 'environment', place: setting.env }
  if (file === '') return null
  const secret = readSecretFile(fileVariable, file)
  if (secret.value === undefined) return { problem: secret.problem }
  return { value: secret.value, origin: 'environment', place: fileVariable, file }
}

const minComparedLength = 8
const maxDistance = 2

/**
 * Names that share a first word with ours and differ from one by two letters at most. A shared
 * first word alone means nothing: orchestrators inject DB_SERVICE_HOST and the like.
 */
function misspelt(table: AnyTable, env: Environment): string[] {
  const known = Object.values(table).flatMap((setting) =>
    setting.secret ? [setting.env, `${setting.env}_FILE`] : [setting.env],
  )
  const firstWords = new Set(known.map(firstWord))
  const names = Object.keys(env).filter(
    (name) =>
      env[name] !== '' &&
      name.length >= minComparedLength &&
      !known.includes(name) &&
      firstWords.has(firstWord(name)),
  )
  return names.flatMap((name) => {
    const near = known.find((candidate) => editDistance(name, candidate) <= maxDistance)
    return near === undefined ? [] : [`${name} is not a variable of ours; did you mean ${near}?`]
  })
}

function firstWord(name: string): string | undefined {
  return name.split('_')[0]
}
