/** Names in backticks on the pages about Kubernetes, and which of them are none. */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { consents, labels, records, requests } from '../../../operator/api/annotations.ts'
import { type ConditionDefinition, conditions } from '../../../operator/api/conditions.ts'
import { eventReasons } from '../../../operator/api/event-reasons.ts'
import { resourceKinds } from '../../../operator/api/resource-kinds.ts'
import type { Schema } from '../../../operator/crd/schema.ts'
import { operatorSettings } from '../../../operator/settings.ts'
import { errorCodes } from '../../../src/errors.ts'
import { generatorSettings } from '../../../src/generator/config.ts'
import { hostSettings } from '../../../src/host/config.ts'
import { repository } from '../../support/repository.ts'
import { fieldSchema, readSchema } from '../../support/resources/crd-schema.ts'

const kinds = resourceKinds.map(({ kind }) => kind)
const charts = ['operator', 'generator', 'host'] as const

/** Names that Kubernetes has, and that the pages write in backticks beside those of ours. */
const ofKubernetes: readonly string[] = ['podTemplate.spec.priorityClassName']

/** Conditions, reasons of theirs and of Events, kinds, and values that fields of theirs take. */
function knownWords(): ReadonlySet<string> {
  const table = Object.entries<ConditionDefinition>(conditions)
  return new Set([
    ...table.flatMap(([type, { reasons }]) => [type, ...Object.keys(reasons)]),
    ...Object.keys(eventReasons),
    ...kinds,
    ...kinds.flatMap((kind) => choicesIn(readSchema(kind))),
  ])
}

function choicesIn({ enum: choices = [], properties = {}, items }: Schema): string[] {
  const inner = [...Object.values(properties), ...(items === undefined ? [] : [items])]
  return [...choices, ...inner.flatMap(choicesIn)]
}

const words = knownWords()
const annotations = new Set<string>(
  Object.values({ ...requests, ...consents, ...records, ...labels }),
)
const codes = new Set([
  ...Object.keys(errorCodes),
  ...[generatorSettings, hostSettings, operatorSettings].flatMap((table) =>
    Object.values(table).map(({ env }) => env),
  ),
])
const values = charts.map((chart): object =>
  parse(readFileSync(`${repository}/charts/${chart}/values.yaml`, 'utf8')),
)

/** Headings of `kubectl get`. */
const columns = new Set(
  kinds.flatMap((kind) => {
    const text = readFileSync(`${repository}/crds/${kind.toLowerCase()}.yaml`, 'utf8')
    const [{ additionalPrinterColumns: found }]: readonly [{ additionalPrinterColumns: Column[] }] =
      parse(text).spec.versions
    return found.map(({ name }) => name.toUpperCase())
  }),
)

interface Column {
  readonly name: string
}

/** How names of each form are checked. The first form that fits decides. */
const forms: readonly (readonly [RegExp, (name: string) => boolean])[] = [
  [/^viewmesh\.io\/[\w-]+$/, (name) => annotations.has(name)],
  [/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/, (name) => codes.has(name)],
  [/^[A-Z]{3,}$/, (name) => columns.has(name)],
  [/^[A-Z][a-z]+[A-Za-z]*$/, (name) => words.has(name)],
  [/^[a-z][a-zA-Z]*(\.[a-z][a-zA-Z]*)+$/, isPath],
]

/** Names in backticks that look like one of ours and are not; a value after `=` or `:` is left out. */
export function strangeNames(text: string): string[] {
  return namesIn(text).filter((name) => {
    const [, isKnown] = forms.find(([form]) => form.test(name)) ?? []
    return isKnown !== undefined && !isKnown(name)
  })
}

/** Names in backticks that have a form that is checked. */
export function checkedNames(text: string): string[] {
  return namesIn(text).filter((name) => forms.some(([form]) => form.test(name)))
}

function namesIn(text: string): string[] {
  const prose = text.replaceAll(/^```.*?^```$/gms, '')
  return [...prose.matchAll(/`([^`]+)`/g)].map(([, inside = '']) => inside.split(/=|: /)[0] ?? '')
}

/** Whether it is a field of a resource, from its top, its spec or its status, or a value of a chart. */
function isPath(path: string): boolean {
  if (/\.(?:yaml|md|ts)$/.test(path) || ofKubernetes.includes(path)) return true
  const starts = ['', 'spec.', 'status.']
  return (
    kinds.some((kind) => starts.some((start) => isField(kind, start + path))) ||
    values.some((chart) => isValue(chart, path.split('.')))
  )
}

function isField(kind: (typeof kinds)[number], path: string): boolean {
  try {
    return fieldSchema(readSchema(kind), path) !== undefined
  } catch {
    return false
  }
}

function isValue(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false
  return isValue((value as Readonly<Record<string, unknown>>)[name], rest)
}
