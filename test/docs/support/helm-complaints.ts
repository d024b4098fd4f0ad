/** What is wrong with a helm command that a page shows: charts and values that are not there. */
import { existsSync, readFileSync } from 'node:fs'
import { repository } from '../../support/repository.ts'
import { type JsonObject, mergePatch } from '../../support/resources/merge-patch.ts'
import { withoutPlaceholders } from './placeholders.ts'
import { type CheckedSchema, schemaComplaints } from './schema-complaints.ts'

type Value = boolean | number | string | null | readonly Value[]

/** Complaints about a command that begins with `helm`. */
export function helmComplaints([, verb = '', ...words]: readonly string[]): string[] {
  if (verb !== 'install' && verb !== 'upgrade') return [`no verb ${verb}`]
  const chart = words.find((word) => word.includes('charts/'))
  const [, name = ''] = /charts\/(\w+)$/.exec(chart ?? '') ?? []
  if (!existsSync(`${repository}/charts/${name}/Chart.yaml`)) return [`no chart ${chart}`]
  const schema: CheckedSchema = JSON.parse(
    readFileSync(`${repository}/charts/${name}/values.schema.json`, 'utf8'),
  )
  const values = words
    .flatMap((word, at) => (words[at - 1] === '--set' ? [word] : []))
    .map((assignment) => valuesOf(withoutPlaceholders(assignment)))
    .reduce(mergePatch, {})
  return schemaComplaints(schema, values)
}

/** The values that one `--set` makes: `a.b=c`, `a[0].b=c`, and `a={b,c}`. */
function valuesOf(assignment: string): JsonObject {
  const [, path = '', text = ''] = /^([^=]+)=(.*)$/s.exec(assignment) ?? []
  const [first = '', ...steps] = path.split(/\.|(?=\[)/)
  const value = steps.reduceRight<unknown>(
    (inner, step) => (step.startsWith('[') ? [inner] : { [step]: inner }),
    helmValue(text),
  )
  return { [first]: value }
}

function helmValue(text: string): Value {
  const [, list] = /^\{(.*)\}$/.exec(text) ?? []
  if (list !== undefined) return list.split(',').map(helmValue)
  if (text === 'null') return null
  if (text === 'true' || text === 'false') return text === 'true'
  return /^\d+$/.test(text) ? Number(text) : text
}
