/**
 * Compiles the selection of a grouped list: its keys, its aggregates and its members.
 */
import type { FieldNode } from 'graphql'
import { refusal } from '../budget/limits.ts'
import { type Attribute, type Entity, findAttribute } from '../catalog/entity.ts'
import { foldOf, isGroupField } from '../catalog/spelling.ts'
import {
  type Compilation,
  compileAggregate,
  fieldsBelow,
  firstOf,
  objectOf,
  shapeArgument,
  toSource,
} from './compilation.ts'
import type { ArgumentSource, GroupField, GroupSelection, ListPlan } from './plan.ts'
import { renderFor } from './render-value.ts'

/** A list with `groupBy`. */
interface GroupedList {
  readonly entity: Entity
  /** What it is grouped by; different names may mean one field. */
  readonly names: Iterable<string>
  readonly nodes: readonly FieldNode[]
  readonly depth: number
}

/** Compiles a list of rows below the one that is being compiled. */
type CompileList = (
  compilation: Compilation,
  entity: Entity,
  source: ArgumentSource,
  nodes: readonly FieldNode[],
  depth: number,
) => ListPlan

/** Compiles what stands below a list with `groupBy`. Throws GraphQLError for a field that is no key. */
export function compileGroups(
  compilation: Compilation,
  { entity, names, nodes, depth }: GroupedList,
  compileList: CompileList,
): GroupSelection {
  const keys = [...new Set([...names].map((name) => keyOf(entity, name, firstOf(nodes))))]
  const siblings = fieldsBelow(compilation, nodes, depth)
  const members = compileMembers(compilation, entity, [...siblings.values()], (source, below) =>
    compileList(compilation, entity, source, below, depth + 1),
  )
  const fields = [...siblings].map(([key, below]): GroupField => {
    const node = firstOf(below)
    const name = node.name.value
    if (name === '__typename') return { type: 'constant', key, value: entity.typeName }
    const list = members.get(node)
    if (list !== undefined) return { type: 'members', key, list }
    const source = toSource(compilation, objectOf(compilation, entity), node)
    if (foldOf(name) === undefined) return keyField(compilation, entity, keys, key, node)
    return compileAggregate(key, source, (argument) => {
      if (!isGroupField(argument)) throw notAKey(argument, node)
      return { type: 'group', argument, members: [...members.values()][0] ?? null }
    })
  })
  return { entity, keys, fields }
}

/** The field or, for a link, the id it is grouped by. */
function keyOf(entity: Entity, name: string, node: FieldNode): Attribute {
  const link = entity.links.get(name)
  const attribute = findAttribute(entity, link === undefined || link.many ? name : `${name}_id`)
  if (attribute !== undefined) return attribute
  throw refusal(
    'GRAPHQL_CONDITION_INVALID',
    `invalid field value to groupBy. Field: ${name}.`,
    'Group by a value or a single link.',
    node,
  )
}

function compileMembers(
  compilation: Compilation,
  entity: Entity,
  siblings: readonly (readonly FieldNode[])[],
  toList: (source: ArgumentSource, nodes: readonly FieldNode[]) => ListPlan,
): ReadonlyMap<FieldNode, ListPlan> {
  const members = new Map<FieldNode, ListPlan>()
  for (const nodes of siblings) {
    const node = firstOf(nodes)
    if (!isGroupField(node.name.value)) continue
    const source = toSource(compilation, objectOf(compilation, entity), node)
    members.set(node, toList(source, nodes))
  }
  return members
}

function keyField(
  compilation: Compilation,
  entity: Entity,
  keys: readonly Attribute[],
  key: string,
  node: FieldNode,
): GroupField {
  const name = node.name.value
  const attribute = findAttribute(entity, name)
  if (attribute === undefined) throw notAKey(name, node)
  const index = keys.indexOf(attribute)
  if (index < 0) throw notAKey(name, node)
  const source = toSource(compilation, objectOf(compilation, entity), node)
  const format = shapeArgument(compilation, source, 'format')
  return { type: 'key', key, index, render: renderFor(attribute, format, node) }
}

/** A field that differs within a group. */
export function notAKey(name: string, node?: FieldNode): Error {
  return refusal(
    'GRAPHQL_CONDITION_INVALID',
    `cannot select a non-group-by field at group-level. Field: ${name}.`,
    'Add it to groupBy, or select it inside GROUP.',
    node,
  )
}
