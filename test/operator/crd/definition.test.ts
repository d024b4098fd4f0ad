import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import {
  generatorKind,
  hostKind,
  resourceKinds,
  viewKind,
} from '../../../operator/api/resource-kinds.ts'
import { readDeclarations } from '../../../operator/crd/declarations.ts'
import { definitionOf } from '../../../operator/crd/definition.ts'
import { type Schema, schemaOf } from '../../../operator/crd/schema.ts'
import { knownNetworks } from '../../../src/service/known-networks.ts'
import { chartRules } from '../../e2e/cluster/support/cluster-operator.ts'
import { repository } from '../../support/repository.ts'
import { withDefaults } from '../../support/resources/schema-defaults.ts'
import { plainDefinition } from '../../support/resources/view-cases.ts'

const declarations = readDeclarations()
const schemas = new Map(resourceKinds.map(({ kind, type }) => [kind, schemaOf(type, declarations)]))

/** A schema with its path, and all schemas below it. */
function everySchema(path: string, schema: Schema): [string, Schema][] {
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    everySchema(`${path}.${name}`, property),
  )
  const items = schema.items === undefined ? [] : everySchema(`${path}[]`, schema.items)
  return [[path, schema], ...below, ...items]
}

const fields = [...schemas].flatMap(([kind, schema]) => everySchema(kind, schema))
const pathsOf = (found: readonly [string, Schema][]): string[] => found.map(([path]) => path)

test('crds/ is what operator/api.ts says', () => {
  for (const resource of resourceKinds) {
    const text = readFileSync(`${repository}/crds/${resource.singular}.yaml`, 'utf8')
    const made = JSON.parse(JSON.stringify(definitionOf(resource, declarations)))
    assert.deepEqual(parse(text), made)
  }
})

test('kubectl explain has a sentence for every field', () => {
  const silent = fields.filter(
    ([path, { description }]) => !path.endsWith('[]') && !/^[A-Z].*\.$/s.test(description ?? ''),
  )
  assert.deepEqual(pathsOf(silent), [])
})

test('every rule has a message for the user, in one line without a full stop', () => {
  const rules = fields.flatMap(([, schema]) => schema['x-kubernetes-validations'] ?? [])
  const vague = rules.filter(({ message }) => !/^[^\n]{20,}[^.\n]$/.test(message))
  assert.deepEqual(vague, [])
  assert.ok(rules.length >= 40)
})

test('what a rule reads has a bound, without which the API server refuses the rule as too dear', () => {
  const hasRules = ([, schema]: [string, Schema]): boolean =>
    schema['x-kubernetes-validations'] !== undefined
  const texts = fields.filter(
    (field) => hasRules(field) && field[1].type === 'string' && field[1].maxLength === undefined,
  )
  const lists = fields.filter(
    ([path, { items, maxItems }]) =>
      items !== undefined && maxItems === undefined && everySchema(path, items).some(hasRules),
  )
  assert.deepEqual(pathsOf([...texts, ...lists]), [])
})

test('defaults are those that the API server fills in', () => {
  for (const [kind, spec] of [
    ['Generator', { upstream: { service: { name: 'geth' } } }],
    ['Host', {}],
    ['View', { definition: plainDefinition }],
  ] as const) {
    const schema = schemas.get(kind)?.properties?.['spec'] ?? {}
    const fixture = `${repository}/test/fixtures/operator/defaults-${kind.toLowerCase()}.yaml`
    assert.deepEqual(withDefaults(schema, spec), parse(readFileSync(fixture, 'utf8')))
  }
})

test('a resource that was not reconciled yet is not taken for one that is ready', () => {
  for (const schema of schemas.values()) {
    assert.deepEqual(schema.properties?.['status']?.default, { observedGeneration: -1 })
  }
})

test('Hosts scale, a Generator is always one pod', () => {
  assert.deepEqual([generatorKind.scale, hostKind.scale], [false, true])
  assert.equal(schemas.get('Generator')?.properties?.['spec']?.properties?.['replicas'], undefined)
  const replicas = schemas.get('Host')?.properties?.['spec']?.properties?.['replicas']
  assert.deepEqual([replicas?.minimum, replicas?.maximum, replicas?.default], [0, 16, 1])
})

test('kubectl get shows what matters in its narrow columns', () => {
  const narrow = ({ columns }: typeof viewKind): string[] =>
    columns.filter(({ wide }) => !wide).map(({ name }) => name)
  assert.deepEqual(narrow(generatorKind), [
    'Chain',
    'Network',
    'Head',
    'Lag',
    'Peers',
    'Upstream',
    'Ready',
    'Reason',
    'Age',
  ])
  assert.deepEqual(narrow(hostKind), [
    'Chain',
    'Network',
    'Head',
    'Lag',
    'Peers',
    'Pods',
    'Signers',
    'Ready',
    'Reason',
    'Age',
  ])
})

test('kubectl get shows of a View what it is, how far it is, and where it is served', () => {
  const shown = viewKind.columns.filter(({ wide }) => !wide).map(({ name }) => name)
  assert.deepEqual(shown, ['ID', 'State', 'Rows', 'Hosts', 'Last Block', 'Ready', 'Reason', 'Age'])
})

test('UPSTREAM says why no block comes, not only that none does', () => {
  const upstream = generatorKind.columns.find(({ name }) => name === 'Upstream')
  assert.equal(upstream?.jsonPath, '.status.conditions[?(@.type=="UpstreamReachable")].reason')
})

test('the rights of the chart are for every kind, its status and its owner references', () => {
  const rights = chartRules().flatMap(({ resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
  )
  const wanted = resourceKinds.flatMap(({ plural }) => [
    `list ${plural}`,
    `watch ${plural}`,
    `patch ${plural}/status`,
    `update ${plural}/finalizers`,
  ])
  assert.deepEqual(
    wanted.filter((right) => !rights.includes(right)),
    [],
  )
})

test('kubectl takes a short name for each kind', () => {
  const names = resourceKinds.map((resource) => definitionOf(resource, declarations).spec['names'])
  assert.deepEqual(
    names.map((one) => Reflect.get(Object(one), 'shortNames')),
    [['vmg'], ['vmh'], ['vmv']],
  )
})

test('a chain ID that contradicts the names of a known network is refused, as the program does', () => {
  const chain = schemas.get('Generator')?.properties?.['spec']?.properties?.['chain']
  const [rule] = chain?.['x-kubernetes-validations'] ?? []
  const rules = readFileSync(`${repository}/charts/library/templates/_rules.tpl`, 'utf8')
  const tables = [...(rule?.rule ?? '').split('&&'), /\$networks := (.*)/.exec(rules)?.[1] ?? '']
  assert.equal(tables.length, 3, 'the definition has it twice, the charts once')
  for (const table of tables) {
    const listed = [...table.matchAll(/['"]([a-z]+__[a-z]+)['"]:? ([0-9]+)/g)]
    assert.deepEqual(
      listed.map(([, network, chainId]) => [network, Number(chainId)]),
      knownNetworks.map(([network, chainId]) => [network.toLowerCase(), chainId]),
    )
  }
})
