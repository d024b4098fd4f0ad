/**
 * The dialect's shorthand for conditions: a bare value where an operator block belongs means `{_eq:
 * value}`.
 */
import {
  type GraphQLInputType,
  getNamedType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql'
import { isObject } from '../../json-object.ts'
import { isOperatorBlock } from './schema-operators.ts'

/**
 * The same for a variable's JSON value: bare values become `{_eq: value}` where the type wants an
 * operator block.
 */
export function expandValue(value: unknown, type: GraphQLInputType): unknown {
  if (value === null || value === undefined) return value
  if (isNonNullType(type)) return expandValue(value, type.ofType)
  if (isListType(type)) {
    return Array.isArray(value)
      ? value.map((item: unknown) => expandValue(item, type.ofType))
      : expandValue(value, type.ofType)
  }
  if (!isInputObjectType(type)) return value
  if (isOperatorBlock(type) && !isObject(value)) return { _eq: value }
  if (!isObject(value)) return value
  const fields = type.getFields()
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      const field = fields[name]
      return [name, field === undefined ? item : expandValue(item, field.type)]
    }),
  )
}

/** True for types in whose values a bare value may stand for an operator block. */
export function mayHoldShorthand(type: GraphQLInputType): boolean {
  return isInputObjectType(getNamedType(type))
}
