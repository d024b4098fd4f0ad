/**
 * Operator blocks: the conditions a filter may put on one value, by the value's kind.
 */
import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLScalarType,
  GraphQLString,
} from 'graphql'
import { invariant } from '../../errors.ts'
import { type AttributeKind, isNumeric } from '../catalog/entity.ts'
import { operatorSpellings, otherSpelling } from '../catalog/spelling.ts'
import { bigIntScalar, intScalar, jsonScalar, quantityScalar } from './schema-scalars.ts'

/** A GraphQL scalar that conditions on a kind are written in. */
function operandScalar(kind: AttributeKind): GraphQLScalarType {
  return kind === 'quantity' ? quantityScalar : scalarOf(kind)
}

/** The scalar that values of a kind are answered as. */
export function scalarOf(kind: AttributeKind): GraphQLScalarType {
  return scalars[kind] ?? GraphQLString
}

const scalars: Readonly<Partial<Record<AttributeKind, GraphQLScalarType>>> = {
  int: intScalar,
  boolean: GraphQLBoolean,
  id: GraphQLID,
  name: GraphQLID,
  float: GraphQLFloat,
  bigint: bigIntScalar,
  json: jsonScalar,
}

const equality = ['_eq', '_neq'] as const
const membership = ['_in', '_nin'] as const
const ranges = ['_gt', '_geq', '_lt', '_leq'] as const
const patterns = ['_like', '_nlike', '_ilike', '_nilike'] as const

const meanings: Readonly<Record<string, string>> = {
  _eq: 'Equal; null means that there is no value.',
  _neq: 'Not equal; rows without a value match unless this is null.',
  _gt: 'Greater.',
  _geq: 'Greater or equal.',
  _lt: 'Less.',
  _leq: 'Less or equal.',
  _in: 'One of these.',
  _nin: 'None of these.',
  _like: 'Text with % at its start, its end, or once in its middle.',
  _nlike: 'Not like.',
  _ilike: 'Like, in any case.',
  _nilike: 'Not like, in any case.',
  _any: 'At least one element matches.',
  _all: 'Every element matches.',
  _none: 'No element matches.',
}

type Fields = GraphQLInputFieldConfigMap

/** Adds an operator and its other spellings. */
function operator(fields: Fields, name: string, type: GraphQLInputType): void {
  fields[name] = { type, description: meanings[name] }
  for (const spelling of operatorSpellings[name] ?? []) {
    fields[spelling] = { type, deprecationReason: otherSpelling(name) }
  }
}

function scalarOperators(kind: AttributeKind): Fields {
  const scalar = operandScalar(kind)
  const fields: Fields = {}
  for (const name of equality) operator(fields, name, scalar)
  if (kind === 'json') return fields
  if (isNumeric(kind)) {
    for (const name of ranges) operator(fields, name, scalar)
  }
  for (const name of membership) operator(fields, name, new GraphQLList(scalar))
  if (kind === 'quantity' || scalar === GraphQLString) {
    for (const name of patterns) operator(fields, name, GraphQLString)
  }
  return fields
}

const isBlock = { operatorBlock: true } as const

function operatorBlock(kind: AttributeKind): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name: `${operandScalar(kind).name}OperatorBlock`,
    description: 'Conditions on one value; all of them must hold. A bare value means `_eq`.',
    fields: () => scalarOperators(kind),
    extensions: isBlock,
  })
}

/** A kind of each scalar that conditions are written in. */
const kinds: readonly AttributeKind[] = [
  ...(['int', 'quantity', 'boolean', 'id', 'text', 'float', 'bigint', 'json'] as const),
]

const blocks: ReadonlyMap<string, GraphQLInputObjectType> = new Map(
  kinds.map((kind) => [operandScalar(kind).name, operatorBlock(kind)]),
)

/** Lists of JSON are compared with null alone, as JSON is. */
const listBlocks: ReadonlyMap<string, GraphQLInputObjectType> = new Map(
  kinds.map((kind) => {
    const { name } = operandScalar(kind)
    return [name, kind === 'json' ? operatorBlockOf(name) : listOperatorBlock(kind)]
  }),
)

function operatorBlockOf(name: string): GraphQLInputObjectType {
  const block = blocks.get(name)
  invariant(block !== undefined, `there are operators for ${name}`)
  return block
}

function listOperatorBlock(kind: AttributeKind): GraphQLInputObjectType {
  const scalar = operandScalar(kind)
  return new GraphQLInputObjectType({
    name: `${scalar.name}ListOperatorBlock`,
    description: 'Conditions on a list; all of them must hold. A bare list means `_eq`.',
    extensions: isBlock,
    fields: () => {
      const fields: Fields = {}
      for (const name of ['_any', '_all', '_none']) operator(fields, name, blockFor(kind, false))
      for (const name of equality) operator(fields, name, new GraphQLList(scalar))
      return fields
    },
  })
}

/** The operator block for values of a kind. */
export function blockFor(kind: AttributeKind, list: boolean): GraphQLInputObjectType {
  const { name } = operandScalar(kind)
  return (list ? listBlocks.get(name) : undefined) ?? operatorBlockOf(name)
}

/** True for the inputs that a bare value may stand for. */
export function isOperatorBlock(type: GraphQLInputObjectType): boolean {
  return type.extensions['operatorBlock'] === true
}

/** The filter on the elements of an inline list of a kind, inside an aggregate. */
export function elementFilterFor(kind: AttributeKind): GraphQLInputObjectType {
  const filter = elementFilters.get(operandScalar(kind).name)
  invariant(filter !== undefined, `there is a filter for elements of kind ${kind}`)
  return filter
}

const elementFilters: ReadonlyMap<string, GraphQLInputObjectType> = new Map(
  kinds.map((kind) => [operandScalar(kind).name, elementFilter(kind)]),
)

function elementFilter(kind: AttributeKind): GraphQLInputObjectType {
  const filter: GraphQLInputObjectType = new GraphQLInputObjectType({
    name: `${operandScalar(kind).name}FilterArg`,
    description: 'Conditions on the elements of a list.',
    fields: () => ({
      ...scalarOperators(kind),
      _and: { type: new GraphQLList(new GraphQLNonNull(filter)) },
      _or: { type: new GraphQLList(new GraphQLNonNull(filter)) },
    }),
  })
  return filter
}
