/** A whole CustomResourceDefinition: names, schema, columns, status and scale. */
import {
  apiGroup,
  apiVersion,
  type Column,
  category,
  type ResourceKind,
} from '../api/resource-kinds.ts'
import type { Declarations } from './declarations.ts'
import { type Schema, schemaOf } from './schema.ts'

/** A CRD as it is written to a file; the field names are those of Kubernetes. */
interface Definition {
  readonly apiVersion: 'apiextensions.k8s.io/v1'
  readonly kind: 'CustomResourceDefinition'
  readonly metadata: { readonly name: string }
  readonly spec: Readonly<Record<string, unknown>>
}

/** The CRD of one kind. */
export function definitionOf(resource: ResourceKind, declarations: Declarations): Definition {
  const { kind, plural, singular, shortName } = resource
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${apiGroup}` },
    spec: {
      group: apiGroup,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular,
        shortNames: [shortName],
        categories: [category],
      },
      scope: 'Namespaced',
      versions: [versionOf(resource, declarations)],
    },
  }
}

function versionOf(resource: ResourceKind, declarations: Declarations): object {
  return {
    name: apiVersion,
    served: true,
    storage: true,
    additionalPrinterColumns: resource.columns.map(columnOf),
    ...(resource.selectableFields.length === 0
      ? {}
      : { selectableFields: resource.selectableFields.map((jsonPath) => ({ jsonPath })) }),
    subresources: {
      status: {},
      ...(resource.scale
        ? {
            scale: {
              specReplicasPath: '.spec.replicas',
              statusReplicasPath: '.status.replicas',
              labelSelectorPath: '.status.selector',
            },
          }
        : {}),
    },
    schema: { openAPIV3Schema: rootSchema(resource, declarations) },
  }
}

/** Kubernetes itself describes `apiVersion`, `kind` and `metadata`. */
function rootSchema({ type }: ResourceKind, declarations: Declarations): Schema {
  const schema = schemaOf(type, declarations)
  return {
    ...schema,
    required: ['spec'],
    properties: {
      ...schema.properties,
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object', properties: { name: { type: 'string' } } },
    },
  }
}

function columnOf({ wide, ...column }: Column): object {
  return { ...column, ...(wide ? { priority: 1 } : {}) }
}
