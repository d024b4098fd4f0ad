/**
 * What all parts of the compiler share: the document and schema they read, and small functions over
 * these.
 */
import {
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isObjectType,
  valueFromAST,
} from 'graphql'
import { invariant } from '../../errors.ts'
import { type QueryLimits, refusal } from '../budget/limits.ts'
import type { Catalog, Entity } from '../catalog/entity.ts'
import { foldOf } from '../catalog/spelling.ts'
import { type CollectedFields, type Collector, collectFields } from './collect-fields.ts'
import type { AggregateField, AggregateTarget, ArgumentSource } from './plan.ts'
import { hasVariable, pruneArguments } from './variables.ts'

/** What a compilation works with. */
export interface Compilation {
  readonly schema: GraphQLSchema
  readonly catalog: Catalog
  /** Entities by both names of their root fields. */
  readonly entities: ReadonlyMap<string, Entity>
  readonly limits: QueryLimits
  readonly collector: Collector
  /** Variables that have no value in this request. */
  readonly omitted: ReadonlySet<string>
}

/** The first node of a field; the others agree with it in everything but their selections. */
export function firstOf(nodes: readonly FieldNode[]): FieldNode {
  const [node] = nodes
  invariant(node !== undefined, 'a collected field has a node')
  return node
}

/** The arguments of a field, without those that depend on omitted variables. */
export function toSource(
  compilation: Compilation,
  parent: GraphQLObjectType,
  node: FieldNode,
): ArgumentSource {
  return toSourceOf(compilation, selectedField(parent, node.name.value), node)
}

/** The field of a type that a valid query selects. */
export function selectedField(
  type: GraphQLObjectType,
  name: string,
): GraphQLField<unknown, unknown> {
  const field = type.getFields()[name]
  invariant(field !== undefined, `${type.name} has a field ${name}`)
  return field
}

/** The same for a field that is known. */
export function toSourceOf(
  { omitted }: Compilation,
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
): ArgumentSource {
  const isAggregate = foldOf(node.name.value) !== undefined
  const args = pruneArguments(node.arguments, omitted, isAggregate)
  const isConstant = !args.some((argument) => hasVariable(argument.value))
  return { field, node: { ...node, arguments: args }, isConstant }
}

/** The value of an argument that decides the shape of the answer. */
export function shapeArgument(
  { collector }: Compilation,
  { field, node }: ArgumentSource,
  name: string,
): unknown {
  const definition = field.args.find((argument) => argument.name === name)
  const written = node.arguments?.find((argument) => argument.name.value === name)
  if (definition === undefined || written === undefined) return undefined
  return valueFromAST(written.value, definition.type, { ...collector.shape })
}

/** The fields below the nodes of one field, within the depth limit. */
export function fieldsBelow(
  compilation: Compilation,
  nodes: readonly FieldNode[],
  depth: number,
): CollectedFields {
  if (depth > compilation.limits.maxDepth) throw tooDeep(compilation.limits, firstOf(nodes))
  return collectFields(
    compilation.collector,
    nodes.map((node) => node.selectionSet),
  )
}

function tooDeep(limits: QueryLimits, node: FieldNode): Error {
  return refusal(
    'GRAPHQL_DEPTH_LIMIT',
    `The query nests deeper than ${limits.maxDepth} levels.`,
    'Select fewer levels, and ask for the documents further down by a query of their own.',
    node,
  )
}

/** The GraphQL type of an entity's rows. */
export function objectOf({ schema }: Compilation, entity: Entity): GraphQLObjectType {
  const type = schema.getType(entity.typeName)
  invariant(isObjectType(type), `the schema has ${entity.typeName}`)
  return type
}

/** Compiles an aggregate. Throws GraphQLError when no argument says over what. */
export function compileAggregate(
  key: string,
  source: ArgumentSource,
  toTarget: (argument: string) => AggregateTarget | undefined,
): AggregateField {
  const fold = foldOf(source.node.name.value)
  invariant(fold !== undefined, `${source.node.name.value} is an aggregate`)
  const names = (source.node.arguments ?? []).map((argument) => argument.name.value)
  const targets = names.map((name) => {
    const target = toTarget(name)
    invariant(target !== undefined, `${fold} has a target ${name}`)
    return target
  })
  if (targets.length > 0) return { type: 'aggregate', key, fold, source, targets }
  const choices = source.field.args.filter(
    (one) => one.deprecationReason === undefined && !one.name.includes('__'),
  )
  throw refusal(
    'GRAPHQL_CONDITION_INVALID',
    'aggregate must be provided with a property to aggregate.',
    `Name one of: ${choices.map((one) => one.name).join(', ')}.`,
    source.node,
  )
}
