/** What is wrong with a kubectl command that a page shows: names that are not there. */
import { existsSync, readFileSync } from 'node:fs'
import { parse as parseQuery } from 'graphql'
import { parse } from 'yaml'
import { consents, labels, requests } from '../../../operator/api/annotations.ts'
import { type ConditionDefinition, conditions } from '../../../operator/api/conditions.ts'
import { type ResourceKind, resourceKinds } from '../../../operator/api/resource-kinds.ts'
import { paths, ports } from '../../../src/service/contract.ts'
import { repository } from '../../support/repository.ts'
import { fieldSchema, readSchema } from '../../support/resources/crd-schema.ts'
import { jsonPathFields } from './json-path.ts'

type Kind = ResourceKind['kind']

interface Definition {
  readonly spec: {
    readonly names: {
      readonly plural: string
      readonly singular: string
      readonly shortNames?: readonly string[]
      readonly categories?: readonly string[]
    }
    readonly versions: readonly [
      { readonly selectableFields?: readonly { readonly jsonPath: string }[] },
    ]
  }
}

const definitions = resourceKinds.map(({ kind }) => {
  const text = readFileSync(`${repository}/crds/${kind.toLowerCase()}.yaml`, 'utf8')
  const { spec }: Definition = parse(text)
  const { plural, singular, shortNames = [], categories = [] } = spec.names
  const fields = (spec.versions[0].selectableFields ?? []).map(({ jsonPath }) => jsonPath)
  return { kind, names: [plural, singular, ...shortNames], categories, fields }
})

/** Kinds of Kubernetes that the pages name. */
const builtIn: readonly string[] = ['secret', 'secrets', 'pvc', 'pod', 'service']

/** Files that commands on the pages write, or that would have been downloaded. */
const written: readonly string[] = ['keyrings.yaml', 'install.yaml']

/** A command in parts: what it is about, and the values of its flags. */
interface Parts {
  readonly verb: string
  /** What is no flag: kinds, names, and assignments of `annotate`. */
  readonly operands: readonly string[]
  readonly flags: ReadonlyMap<string, readonly string[]>
}

/** Flags without a value of their own. */
const switches: readonly string[] = [
  ...[
    '-A',
    '--all-namespaces',
    '--server-side',
    '--force-conflicts',
    '--ignore-not-found',
    '--overwrite',
  ],
]

function partsOf([, verb = '', ...words]: readonly string[]): Parts {
  const operands: string[] = []
  const flags = new Map<string, string[]>()
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    if (!word.startsWith('-')) {
      operands.push(word)
      continue
    }
    const [name = '', ...inside] = word.split('=')
    const needsNext = inside.length === 0 && !switches.includes(name)
    if (needsNext) at += 1
    const value = needsNext ? (words[at] ?? '') : inside.join('=')
    flags.set(name, [...(flags.get(name) ?? []), value])
  }
  return { verb, operands, flags }
}

/** Complaints about a command that begins with `kubectl`. */
export function kubectlComplaints(words: readonly string[]): string[] {
  const parts = partsOf(words)
  // What the plugin takes is for test/docs/plugin.test.ts.
  if (parts.verb === 'viewmesh') return []
  const all = (...names: readonly string[]): readonly string[] =>
    names.flatMap((name) => parts.flags.get(name) ?? [])
  return [
    ...operandComplaints(parts),
    ...all('-f')
      .filter((path) => !written.includes(path) && !existsSync(`${repository}/${path}`))
      .map((path) => `no file ${path}`),
    ...all('--raw').flatMap(rawComplaints),
    ...all('--for').flatMap((what) => conditionComplaints(kindsOf(parts), what)),
    ...all('--selector', '-l').flatMap(selectorComplaints),
    ...all('--field-selector').flatMap((what) => fieldSelectorComplaints(kindsOf(parts), what)),
    ...all('-o', '--output').flatMap((format) => outputComplaints(kindsOf(parts), format)),
  ]
}

/** Verbs whose first operand is a kind, or `kind/name`. */
const aboutKinds: readonly string[] = [
  'get',
  'describe',
  'delete',
  'scale',
  'patch',
  'annotate',
  'wait',
  'exec',
]

function operandComplaints(parts: Parts): string[] {
  const { verb, operands } = parts
  if (verb === 'apply' || (verb === 'get' && parts.flags.has('--raw'))) return []
  if (verb === 'create')
    return ['secret', 'configmap'].includes(operands[0] ?? '') ? [] : [`creates ${operands[0]}`]
  if (verb === 'explain') return operands.flatMap(explainComplaints)
  if (verb === 'exec') return []
  if (!aboutKinds.includes(verb)) return [`no verb ${verb}`]
  const strange = kindNames(operands)
    .filter((name) => !isKind(name))
    .map((name) => `no kind ${name}`)
  const unknown = operands
    .flatMap((word) => /^(viewmesh\.io\/[\w-]+)=/.exec(word)?.[1] ?? [])
    .filter((name) => !Object.values<string>({ ...requests, ...consents }).includes(name))
  return [...strange, ...unknown.map((name) => `nobody reads the annotation ${name}`)]
}

/** The kinds that the operands name: of each `kind/name`, or the first one. */
function kindNames(operands: readonly string[]): string[] {
  const pairs = operands.filter((word) => /^[a-z]+\/[\w.-]+$/.test(word))
  const named = pairs.length > 0 ? pairs : operands.slice(0, 1)
  return named.map((word) => word.split('/')[0] ?? '')
}

function isKind(name: string): boolean {
  const ours = definitions.flatMap(({ names, categories }) => [...names, ...categories])
  return [...ours, ...builtIn].includes(name)
}

/** Those of our kinds that a command is about. */
function kindsOf({ operands }: Parts): Kind[] {
  const names = kindNames(operands)
  return definitions
    .filter((one) => [...one.names, ...one.categories].some((name) => names.includes(name)))
    .map(({ kind }) => kind)
}

function explainComplaints(path: string): string[] {
  const [kind, ...fields] = path.split('.')
  const found = definitions.find(({ names }) => names.includes(kind ?? ''))
  if (found === undefined) return [`no kind ${kind}`]
  return fieldComplaint(found.kind, fields)
}

function fieldComplaint(kind: Kind, fields: readonly string[]): string[] {
  try {
    if (fields.length > 0) fieldSchema(readSchema(kind), fields.join('.'))
    return []
  } catch {
    return [`${kind} has no field ${fields.join('.')}`]
  }
}

function conditionComplaints(kinds: readonly Kind[], what: string): string[] {
  if (what === 'delete') return []
  const [, type = ''] = /^condition=(\w+)$/.exec(what) ?? []
  const known: Readonly<Record<string, ConditionDefinition>> = conditions
  return kinds
    .filter((kind) => !known[type]?.kinds.includes(kind))
    .map((kind) => `${kind} has no condition ${type}`)
}

function selectorComplaints(selector: string): string[] {
  const [name = ''] = selector.split('=')
  return Object.values<string>(labels).includes(name) ? [] : [`no label ${name}`]
}

function fieldSelectorComplaints(kinds: readonly Kind[], selector: string): string[] {
  const path = `.${selector.split('=')[0]}`
  return definitions
    .filter(({ kind, fields }) => kinds.includes(kind) && !fields.includes(path))
    .map(({ kind }) => `${kind} has no selectable field ${path}`)
}

function outputComplaints(kinds: readonly Kind[], format: string): string[] {
  const [, template] = /^jsonpath=(.*)$/s.exec(format) ?? []
  if (template === undefined) {
    return ['yaml', 'wide', 'name'].includes(format) ? [] : [`no format ${format}`]
  }
  const used = jsonPathFields(template)
  if (used.length === 0) return [`no field in ${template}`]
  return kinds.flatMap((kind) => used.flatMap((fields) => fieldComplaint(kind, fields)))
}

/** A path of the API server that leads to a program: its port, its path, and a query that can be read. */
function rawComplaints(raw: string): string[] {
  const url = new URL(raw, 'https://cluster')
  const [, port, path = ''] =
    /^\/api\/v1\/namespaces\/[\w-]+\/(?:pods|services)\/[\w-]+:(\d+)\/proxy(\/.*)$/.exec(
      url.pathname,
    ) ?? []
  const query = url.searchParams.get('query')
  if (query !== null) parseQuery(query)
  return [
    ...(Object.values<number>(ports).includes(Number(port)) ? [] : [`no port ${port}`]),
    ...(Object.values<string>(paths).includes(path) ? [] : [`no path ${path}`]),
  ]
}
