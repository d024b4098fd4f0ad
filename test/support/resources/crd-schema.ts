/** The schemas of the CRDs, read from the files in `crds/`. */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Resource } from '../../../operator/api.ts'
import type { Schema } from '../../../operator/crd/schema.ts'
import { repository } from '../repository.ts'

/** The schema of a whole resource. */
export function readSchema(kind: Resource['kind']): Schema {
  const definition = parse(readFileSync(`${repository}/crds/${kind.toLowerCase()}.yaml`, 'utf8'))
  return definition.spec.versions[0].schema.openAPIV3Schema
}

/** The schema of a field, by its path in the resource, such as `spec.storage.data`; `[]` are items. */
export function fieldSchema(schema: Schema, path: string): Schema {
  return path.split('.').reduce((found: Schema, name): Schema => {
    const next = name === '[]' ? found.items : found.properties?.[name]
    if (next === undefined) throw new Error(`no field ${name} on the path ${path}`)
    return next
  }, schema)
}
