/**
 * Compiles introspection: the fields of `__schema` and `__type`, which are those of graphql-js.
 */
import {
  type FieldNode,
  type GraphQLField,
  getIntrospectionQuery,
  getNamedType,
  isObjectType,
  SchemaMetaFieldDef,
  stripIgnoredCharacters,
  TypeMetaFieldDef,
} from 'graphql'
import { collectFields } from './collect-fields.ts'
import { type Compilation, firstOf, selectedField, toSourceOf } from './compilation.ts'
import type { IntrospectionField } from './plan.ts'

const standardText = stripIgnoredCharacters(getIntrospectionQuery())

/** Whether this is the query by which GraphiQL and other tools read the schema. Only its answer is cached. */
export function isStandardIntrospection(text: string): boolean {
  if (!text.includes('__schema') || text.length > 4 * standardText.length) return false
  return stripIgnoredCharacters(text) === standardText
}

/** Compiles `__schema` or `__type`. */
export function compileIntrospection(
  compilation: Compilation,
  key: string,
  nodes: readonly FieldNode[],
): IntrospectionField {
  const isSchema = firstOf(nodes).name.value === '__schema'
  const definition = isSchema ? SchemaMetaFieldDef : TypeMetaFieldDef
  return compileField(compilation, definition, key, nodes)
}

function compileField(
  compilation: Compilation,
  definition: GraphQLField<unknown, unknown>,
  key: string,
  nodes: readonly FieldNode[],
): IntrospectionField {
  const source = toSourceOf(compilation, definition, firstOf(nodes))
  const type = getNamedType(definition.type)
  if (!isObjectType(type)) return { type: 'field', key, source, below: [] }
  const sets = nodes.map(({ selectionSet }) => selectionSet)
  const below = [...collectFields(compilation.collector, sets)].map(
    ([name, found]): IntrospectionField['below'][number] => {
      const field = firstOf(found).name.value
      if (field === '__typename') return { type: 'constant', key: name, value: type.name }
      return compileField(compilation, selectedField(type, field), name, found)
    },
  )
  return { type: 'field', key, source, below }
}
