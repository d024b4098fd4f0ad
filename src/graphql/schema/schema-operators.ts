/**
 * Operator blocks: the conditions a filter may put on one value, by the value's kind.
 */
import {
  GraphQLBoolean,
  GraphQLID,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLScalarType,
  GraphQLString,
} from 'graphql'
import type { AttributeKind } from '../catalog/entity.ts'
import { operatorSpellings, otherSpelling } from '../catalog/spelling.ts'
import { intScalar, quantityScalar } from './schema-scalars.ts'

/** A GraphQL scalar that conditions on a kind are written in. */
function operandScalar(kind: AttributeKind): GraphQLScalarType {
  if (kind === 'int') return intScalar
  if (kind === 'boolean') return GraphQLBoolean
  if (kind === 'quantity') return quantityScalar
  return kind === 'id' ? GraphQLID : GraphQLString
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
  if (kind === 'int' || kind === 'quantity') {
    for (const name of ranges) operator(fields, name, scalar)
  }
  for (const name of membership) operator(fields, name, new GraphQLList(scalar))
  if (kind !== 'int' && kind !== 'boolean' && kind !== 'id') {
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

const blocks: Readonly<Record<string, GraphQLInputObjectType>> = {
  Int: operatorBlock('int'),
  Quantity: operatorBlock('quantity'),
  Boolean: operatorBlock('boolean'),
  ID: operatorBlock('id'),
  String: operatorBlock('text'),
}

const listBlocks: Readonly<Record<string, GraphQLInputObjectType>> = {
  String: listOperatorBlock('text'),
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
  const block = list ? listBlocks[name] : blocks[name]
  if (block === undefined) throw new Error(`broken invariant: no operators for lists of ${name}`)
  return block
}

/** True for the inputs that a bare value may stand for. */
export function isOperatorBlock(type: GraphQLInputObjectType): boolean {
  return type.extensions['operatorBlock'] === true
}

/** The filter on the elements of an inline list, inside an aggregate. */
export const elementFilterInput: GraphQLInputObjectType = new GraphQLInputObjectType({
  name: 'StringFilterArg',
  description: 'Conditions on the elements of a list.',
  fields: () => ({
    ...scalarOperators('text'),
    _and: { type: new GraphQLList(new GraphQLNonNull(elementFilterInput)) },
    _or: { type: new GraphQLList(new GraphQLNonNull(elementFilterInput)) },
  }),
})
