/**
 * The scalars that differ from GraphQL's own: integers up to 2^53 (block heights of other chains
 * pass 2^31), quantities as operands, and free-form JSON for conditions on aliases.
 */
import {
  GraphQLEnumType,
  GraphQLError,
  GraphQLScalarType,
  Kind,
  print,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql'
import { parseHexQuantity } from '../rows/quantity.ts'
import { parseWholeNumber } from '../rows/whole-number.ts'

/** `Int`, with the range of a JavaScript integer instead of 32 bits. */
export const intScalar: GraphQLScalarType<number> = new GraphQLScalarType({
  name: 'Int',
  description: 'A whole number between -(2^53 - 1) and 2^53 - 1.',
  serialize: (value) => Number(value),
  parseValue: (value) => checkInt(value, String(value)),
  parseLiteral: (node) =>
    checkInt(node.kind === Kind.INT ? Number(node.value) : undefined, print(node), node),
})

function checkInt(value: unknown, shown: string, node?: ValueNode): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw literalError(`Int cannot represent ${shown}: write a whole number, without quotes.`, node)
}

/** Operands of quantities: decimal or 0x hex text, or a whole number. */
export const quantityScalar: GraphQLScalarType<string> = new GraphQLScalarType({
  name: 'Quantity',
  description:
    'A number of up to 256 bits: decimal text ("1000000000"), 0x hex ("0x3b9aca00"), or a whole number.',
  serialize: (value) => String(value),
  parseValue: (value) => checkQuantity(value, JSON.stringify(value)),
  parseLiteral: (node) => checkQuantity(writtenValue(node), print(node), node),
})

function checkQuantity(value: unknown, shown: string, node?: ValueNode): string {
  const parsed = parseHexQuantity(value)
  if (parsed !== undefined) return parsed
  throw literalError(
    `Quantity cannot represent ${shown}: write decimal text ("1000"), 0x hex ("0x3e8") or a whole number.`,
    node,
  )
}

/** What a literal says, as text but for `true` and `false`; undefined where it is a list or an object. */
const writtenValue = (node: ValueNode): unknown => ('value' in node ? node.value : undefined)

function literalError(message: string, node: ValueNode | undefined): GraphQLError {
  return new GraphQLError(message, node === undefined ? {} : { nodes: node })
}

/** Whole numbers of any size, as decimal text. */
export const bigIntScalar: GraphQLScalarType<string> = new GraphQLScalarType({
  name: 'BigInt',
  description:
    'A whole number of any size as decimal text; compared with decimal text ("-1000"), 0x hex ("0x3e8"), or a whole number.',
  serialize: (value) => String(value),
  parseValue: (value) => checkWholeNumber(value, JSON.stringify(value)),
  parseLiteral: (node) => checkWholeNumber(writtenValue(node), print(node), node),
})

function checkWholeNumber(value: unknown, shown: string, node?: ValueNode): string {
  const parsed = parseWholeNumber(value)
  if (parsed !== undefined) return parsed
  throw literalError(
    `BigInt cannot represent ${shown}: write decimal text ("1000"), 0x hex ("0x3e8") or a whole number.`,
    node,
  )
}

/** Any value; the conditions under `_alias` are checked against what the alias stands for. */
export const jsonScalar: GraphQLScalarType<unknown> = new GraphQLScalarType({
  name: 'JSON',
  description: 'Any JSON value.',
  parseValue: (value) => value,
  parseLiteral: (node, variables) => valueFromASTUntyped(node, variables),
})

/** The direction of an order. */
export const orderingEnum: GraphQLEnumType = new GraphQLEnumType({
  name: 'Ordering',
  values: {
    ASC: { value: 'ASC', description: 'Smallest first; null is smaller than everything.' },
    DESC: { value: 'DESC', description: 'Largest first; ties descend as well.' },
  },
})

/** How a value is written. */
export const formatEnum: GraphQLEnumType = new GraphQLEnumType({
  name: 'ValueFormat',
  description: 'How a value is written; without it as lower-case 0x hex.',
  values: {
    HEX: { value: 'HEX', description: 'Lower-case 0x hex.' },
    DECIMAL: { value: 'DECIMAL', description: 'Decimal text; for quantities.' },
    CHECKSUM: { value: 'CHECKSUM', description: 'Mixed-case checksum (EIP-55); for addresses.' },
  },
})
