/** What is wrong with a manifest that a page shows, as far as that can be known without an API server. */
import * as client from '@kubernetes/client-node'
import { parseAllDocuments } from 'yaml'
import { fieldSchema, readSchema } from '../../support/resources/crd-schema.ts'
import { withoutPlaceholders } from './placeholders.ts'
import { schemaComplaints } from './schema-complaints.ts'

/** Group and version of ours. */
const apiVersion = 'viewmesh.io/v1alpha1'

/** A manifest, or the `spec` of a Host alone. */
export interface ShownManifest {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata?: { readonly name?: string; readonly namespace?: string }
  readonly spec: Readonly<Record<string, unknown>>
}

/** The documents of a YAML block. Throws what the parser has against them. */
export function manifestsIn(text: string): ShownManifest[] {
  return parseAllDocuments(withoutPlaceholders(text)).map((document) => {
    const [error] = document.errors
    if (error !== undefined) throw error
    return document.toJS() as ShownManifest
  })
}

/** A whole manifest: a lone `spec` becomes that of a Host. */
export function wholeManifest(manifest: ShownManifest): ShownManifest {
  if (manifest.kind !== undefined) return manifest
  return { apiVersion, kind: 'Host', metadata: { name: 'shown' }, spec: manifest.spec }
}

/** Complaints with the paths of fields; none where everything shown is a field of its kind. */
export function manifestComplaints(shown: ShownManifest): string[] {
  const manifest = wholeManifest(shown)
  const { kind } = manifest
  if (kind === 'Generator' || kind === 'Host' || kind === 'View') {
    return [
      ...(manifest.apiVersion === apiVersion ? [] : [`apiVersion: not ${apiVersion}`]),
      ...modelComplaints('V1ObjectMeta', manifest.metadata, '.metadata'),
      ...schemaComplaints(fieldSchema(readSchema(kind), 'spec'), manifest.spec, '.spec'),
      ...modelComplaints('V1PodTemplateSpec', manifest.spec['podTemplate'], '.spec.podTemplate'),
    ]
  }
  const version = (manifest.apiVersion ?? '').replace(/^.*\//, '')
  return modelComplaints(`${version.toUpperCase()}${kind}`, manifest, '')
}

interface Model {
  getAttributeTypeMap(): readonly { readonly baseName: string; readonly type: string }[]
}

const models: Readonly<Record<string, unknown>> = { ...client }

function isModel(value: unknown): value is Model {
  return typeof value === 'function' && 'getAttributeTypeMap' in value
}

/** Fields that the type of this name in Kubernetes does not have. */
function modelComplaints(type: string, value: unknown, path: string): string[] {
  const [, list] = /^Array<(.*)>$/.exec(type) ?? []
  if (list !== undefined) {
    if (!Array.isArray(value)) return [`${path}: no list`]
    return value.flatMap((item, at) => modelComplaints(list, item, `${path}[${at}]`))
  }
  const model = models[type]
  if (!isModel(model)) return /^V\d/.test(type) ? [`${path}: no type ${type}`] : []
  if (typeof value !== 'object' || value === null)
    return value === undefined ? [] : [`${path}: no object`]
  const known = new Map(
    model.getAttributeTypeMap().map(({ baseName, type: own }) => [baseName, own]),
  )
  return Object.entries(value).flatMap(([name, field]) => {
    const own = known.get(name)
    return own === undefined
      ? [`${path}.${name}: unknown`]
      : modelComplaints(own, field, `${path}.${name}`)
  })
}
