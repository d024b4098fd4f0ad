/** The files of the charts that are made from something else, and what they are made from. */
import { readFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { repository } from '../support/repository.ts'
import { readSchema } from '../support/resources/crd-schema.ts'
import { withDefaults } from '../support/resources/schema-defaults.ts'
import { chartObjects } from './chart-objects.ts'
import { withSection } from './section-text.ts'
import { executionClients, sidecarSnippet } from './sidecar-snippet.ts'
import { valuesTable } from './values-table.ts'

/** Text of each made file by its path in the repository. */
export function chartFiles(): ReadonlyMap<string, string> {
  const programs = [
    { chart: 'generator', kind: 'Generator', own: ['executionNode'] },
    { chart: 'host', kind: 'Host', own: ['announce', 'siblings'] },
  ] as const
  const files = programs.flatMap(({ chart, kind, own }): [string, string][] => [
    [`charts/${chart}/files/defaults.yaml`, defaults(kind)],
    [`charts/${chart}/files/objects.yaml`, chartObjects(kind)],
    [`charts/${chart}/values.schema.json`, valuesSchema(kind, own)],
  ])
  const snippets = executionClients.map((client): [string, string] => [
    `charts/sidecar/${client.name}.yaml`,
    sidecarSnippet(client),
  ])
  const readmes = ['operator', 'generator', 'host'].map((chart): [string, string] => {
    const path = `charts/${chart}/README.md`
    return [path, withSection(read(path), 'values', valuesTable(chart))]
  })
  return new Map([...files, ...snippets, ...readmes])
}

function read(path: string): string {
  return readFileSync(`${repository}/${path}`, 'utf8')
}

type Kind = 'Generator' | 'Host'
type Schema = Readonly<Record<string, unknown>>

/** What the API server fills in, as far as a spec that says nothing shows it. */
function defaults(kind: Kind): string {
  const filled = withDefaults(readSchema(kind), { spec: {} }) as { readonly spec: object }
  return `# Made from crds/${kind.toLowerCase()}.yaml: what the API server fills in.\n${stringify(filled.spec)}`
}

/** Schemas of the values beside `spec` that only one chart has. */
const ownValues: Readonly<Record<string, Schema>> = {
  executionNode: {
    type: 'object',
    additionalProperties: false,
    properties: { namespace: text(), labels: { type: 'object', additionalProperties: text() } },
  },
  announce: { type: 'array', maxItems: 16, items: { type: 'array', items: text() } },
  siblings: { type: 'array', maxItems: 16, items: text() },
}

/** The closed schema of a chart's values: its `spec` is that of the resource. */
function valuesSchema(kind: Kind, own: readonly string[]): string {
  const { properties } = readSchema(kind) as { readonly properties: { readonly spec: Schema } }
  const { required: _, ...spec } = toJsonSchema(properties.spec)
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    additionalProperties: false,
    properties: {
      // Open: Helm hands the globals of an umbrella chart to each of its charts.
      global: {
        type: 'object',
        properties: {
          imageRegistry: text(),
          imagePullSecrets: {
            type: 'array',
            items: {
              type: 'object',
              additionalProperties: false,
              required: ['name'],
              properties: { name: text() },
            },
          },
          commonLabels: {
            type: 'object',
            additionalProperties: text(),
            propertyNames: {
              not: { pattern: '^(app\\.kubernetes\\.io|helm\\.sh|viewmesh\\.io)/' },
            },
          },
        },
      },
      mode: { enum: ['', 'operator', 'standalone'] },
      nameOverride: text(),
      existingSecret: text(),
      clusterDomain: text(),
      annotations: { type: 'object', additionalProperties: text() },
      podMonitor: {
        type: 'object',
        additionalProperties: false,
        properties: {
          enabled: { type: 'boolean' },
          interval: text(),
          scrapeTimeout: text(),
          honorLabels: { type: 'boolean' },
          labels: { type: 'object', additionalProperties: text() },
          relabelings: { type: 'array', items: { type: 'object' } },
          metricRelabelings: { type: 'array', items: { type: 'object' } },
        },
      },
      ...Object.fromEntries(own.map((name) => [name, ownValues[name]])),
      // Helm hands them to the library chart, which has no values of its own.
      library: { type: 'object', additionalProperties: false, properties: { global: {} } },
      spec,
    },
  }
  return `${JSON.stringify(schema, null, 2)}\n`
}

function text(): Schema {
  return { type: 'string' }
}

const kept = [
  ...['type', 'description', 'enum', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties', 'required'],
]

/** A schema of the API as JSON Schema: objects take no fields but theirs, rules are the API server's. */
function toJsonSchema(schema: Schema): Schema {
  const plain = Object.fromEntries(Object.entries(schema).filter(([name]) => kept.includes(name)))
  const properties = schema['properties'] as Readonly<Record<string, Schema>> | undefined
  const items = schema['items'] as Schema | undefined
  const values = schema['additionalProperties'] as Schema | undefined
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true
  return {
    ...plain,
    ...(items === undefined ? {} : { items: toJsonSchema(items) }),
    ...(values === undefined ? {} : { additionalProperties: toJsonSchema(values) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, value]) => [name, toJsonSchema(value)]),
          ),
          ...(isOpen ? {} : { additionalProperties: false }),
        }),
  }
}
