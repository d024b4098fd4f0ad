/** What `images/Dockerfile` sets in the environment of a program. */
import { readFileSync } from 'node:fs'
import { repository } from './repository.ts'

/** ENV of a stage, by name. Throws where the stage is not there or sets nothing. */
export function imageEnvironment(stage: string): Record<string, string> {
  const stages = readFileSync(`${repository}/images/Dockerfile`, 'utf8').split(/^FROM /m)
  const found = stages.find((text) => text.split('\n', 1)[0]?.endsWith(` AS ${stage}`))
  const [, assignments] = /^ENV ((?:.*\\\n)*.*)$/m.exec(found ?? '') ?? []
  if (assignments === undefined) throw new Error(`images/Dockerfile has no ENV in stage ${stage}`)
  const pairs = [...assignments.matchAll(/(\w+)=(\S+)/g)]
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value]))
}
