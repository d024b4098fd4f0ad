/**
 * Compiles a validated operation into a plan.
 */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  isObjectType,
  type OperationDefinitionNode,
} from 'graphql'
import { invariant } from '../../errors.ts'
import { refusal } from '../budget/limits.ts'
import { type Entity, findAttribute, type ViewSource } from '../catalog/entity.ts'
import { foldOf, isGroupField } from '../catalog/spelling.ts'
import { type CollectedFields, collectFields, type ShapeVariables } from './collect-fields.ts'
import {
  type Compilation,
  compileAggregate,
  fieldsBelow,
  firstOf,
  objectOf,
  shapeArgument,
  toSource,
} from './compilation.ts'
import { compileGroups } from './compile-group.ts'
import { compileIntrospection } from './compile-introspection.ts'
import type {
  AggregateField,
  ArgumentSource,
  ListPlan,
  NamedField,
  QueryPlan,
  RootField,
  RowField,
  RowSelection,
} from './plan.ts'
import { renderFor } from './render-value.ts'

/** Parts of a document and of a request that a plan depends on. */
interface PlanInput {
  readonly operation: OperationDefinitionNode
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly shape: ShapeVariables
  readonly omitted: ReadonlySet<string>
}

/** Compiles an operation. Throws GraphQLError where it nests too deep or groups wrongly. */
export function compilePlan(
  parts: Pick<Compilation, 'schema' | 'catalog' | 'entities' | 'limits'>,
  input: PlanInput,
): QueryPlan {
  const { operation, fragments, shape, omitted } = input
  const compilation = { ...parts, omitted, collector: { fragments, shape, count: 0 } }
  const root = parts.schema.getRootType(operation.operation)
  invariant(isObjectType(root), `the schema has a root for ${operation.operation}`)
  const fields = collectFields(compilation.collector, [operation.selectionSet])
  return { fields: [...fields].map((field) => compileRoot(compilation, root, field)) }
}

type KeyedNodes = readonly [key: string, nodes: readonly FieldNode[]]

function compileRoot(
  compilation: Compilation,
  root: GraphQLObjectType,
  [key, nodes]: KeyedNodes,
): RootField {
  const node = firstOf(nodes)
  const name = node.name.value
  if (name === '__typename') return { type: 'constant', key, value: root.name }
  if (name.startsWith('__')) {
    return { type: 'introspection', key, field: compileIntrospection(compilation, key, nodes) }
  }
  const entity = compilation.entities.get(name)
  if (entity !== undefined) {
    const source = toSource(compilation, root, node)
    return { type: 'list', key, node, list: compileList(compilation, entity, source, nodes, 2) }
  }
  const source = toSource(compilation, root, node)
  if (name === '_commits') {
    return { type: 'commits', key, source, fields: namedFields(compilation, nodes, 1) }
  }
  const aggregate = compileAggregate(key, source, (argument) => {
    const target = compilation.entities.get(argument)
    return target === undefined ? undefined : { type: 'collection', argument, entity: target }
  })
  return { type: 'aggregate', key, aggregate }
}

/** A list of an entity, with or without groups. */
function compileList(
  compilation: Compilation,
  entity: Entity,
  source: ArgumentSource,
  nodes: readonly FieldNode[],
  depth: number,
): ListPlan {
  const groupBy = shapeArgument(compilation, source, 'groupBy')
  if (groupBy !== undefined && groupBy !== null) {
    const names = new Set([groupBy].flat().map(String))
    const selection = compileGroups(compilation, { entity, names, nodes, depth }, compileList)
    return { type: 'groups', entity, source, selection }
  }
  return { type: 'rows', entity, source, selection: compileRows(compilation, entity, nodes, depth) }
}

function compileRows(
  compilation: Compilation,
  entity: Entity,
  nodes: readonly FieldNode[],
  depth: number,
): RowSelection {
  const fields = fieldsBelow(compilation, nodes, depth)
  return {
    entity,
    fields: [...fields].map((field) => compileField(compilation, entity, fields, field, depth)),
  }
}

function compileField(
  compilation: Compilation,
  entity: Entity,
  siblings: CollectedFields,
  [key, nodes]: KeyedNodes,
  depth: number,
): RowField {
  const node = firstOf(nodes)
  const name = node.name.value
  if (name === '__typename') return { type: 'constant', key, value: entity.typeName }
  if (name === '_deleted') return { type: 'constant', key, value: false }
  if (name === '_version')
    return { type: 'version', key, fields: namedFields(compilation, nodes, depth) }
  if (name === '_proof')
    return { type: 'proof', key, fields: namedFields(compilation, nodes, depth) }
  if (name === '_source' && entity.view !== undefined)
    return compileSource(compilation, entity.view, key)
  if (isGroupField(name)) throw strayGroup(name, node)
  const source = toSource(compilation, objectOf(compilation, entity), node)
  const attribute = findAttribute(entity, name)
  if (attribute !== undefined) {
    const render = renderFor(attribute, shapeArgument(compilation, source, 'format'), node)
    return { type: 'value', key, attribute, render }
  }
  const link = entity.links.get(name)
  if (link === undefined)
    return compileRowAggregate(compilation, entity, siblings, key, source, depth)
  const target = compilation.catalog.get(link.target)
  invariant(target !== undefined, `the catalog has ${link.target}`)
  if (link.many) {
    return {
      type: 'many',
      key,
      link,
      list: compileList(compilation, target, source, nodes, depth + 1),
    }
  }
  const selection = compileRows(compilation, target, nodes, depth + 1)
  return { type: 'one', key, link, target, source, selection }
}

/** What a View reads, as its author wrote it; null where that is not known. */
function compileSource(compilation: Compilation, view: ViewSource, key: string): RowField {
  const { selection } = view
  if (selection === null) return { type: 'constant', key, value: null }
  const root = compilation.schema.getQueryType()
  const entity = compilation.entities.get(selection.name.value)
  invariant(isObjectType(root) && entity !== undefined, 'a View reads a collection')
  const constant = { ...compilation, omitted: new Set<string>() }
  const source = toSource(constant, root, selection)
  return {
    type: 'source',
    key,
    view,
    list: compileList(constant, entity, source, [selection], 2),
  }
}

function strayGroup(name: string, node: FieldNode): Error {
  return refusal(
    'GRAPHQL_CONDITION_INVALID',
    `${name} may only be referenced when within a groupBy request.`,
    'Add groupBy to the field around it.',
    node,
  )
}

function compileRowAggregate(
  compilation: Compilation,
  entity: Entity,
  siblings: CollectedFields,
  key: string,
  source: ArgumentSource,
  depth: number,
): RowField {
  invariant(foldOf(source.node.name.value) !== undefined, `${entity.name} has a field ${key}`)
  return compileAggregate(key, source, (argument) => {
    const link = entity.links.get(argument)
    if (link !== undefined) {
      const target = compilation.catalog.get(link.target)
      invariant(target !== undefined, `the catalog has ${link.target}`)
      const inner = innerAggregates(compilation, target, siblings, link.field, depth)
      return { type: 'link', argument, link, target, inner }
    }
    if (argument === '_version') return { type: 'version', argument }
    if (isGroupField(argument)) throw strayGroup(argument, source.node)
    const attribute = findAttribute(entity, argument)
    return attribute === undefined ? undefined : { type: 'list', argument, attribute }
  })
}

/** The aggregates that a link's own selection has. */
function innerAggregates(
  compilation: Compilation,
  target: Entity,
  siblings: CollectedFields,
  field: string,
  depth: number,
): readonly AggregateField[] {
  const nodes = [...siblings.values()].flat().filter((node) => node.name.value === field)
  if (nodes.length === 0) return []
  const { fields } = compileRows(compilation, target, nodes, depth + 1)
  return fields.filter((one) => one.type === 'aggregate')
}

/** The fields of an object of a fixed type. */
function namedFields(
  compilation: Compilation,
  nodes: readonly FieldNode[],
  depth: number,
): NamedField[] {
  const fields = fieldsBelow(compilation, nodes, depth + 1)
  return [...fields].map(([key, below]) => {
    const { name, selectionSet } = firstOf(below)
    const isLeaf = selectionSet === undefined
    return {
      key,
      name: name.value,
      fields: isLeaf ? [] : namedFields(compilation, below, depth + 1),
    }
  })
}
