/**
 * Operands as the values they are compared with: hex in lower case, quantities as minimal hex. A
 * variable's value was coerced by the variable's type, so it is brought into form here again.
 */
import { isObject } from '../../json-object.ts'
import { maxPatternLength, refusal } from '../budget/limits.ts'
import type { Attribute, AttributeKind } from '../catalog/entity.ts'
import { canonicalOperator } from '../catalog/spelling.ts'
import { hexLowered } from '../rows/hex-text.ts'
import { parseHexQuantity } from '../rows/quantity.ts'
import { parseWholeNumber } from '../rows/whole-number.ts'
import type { ElementCondition } from './condition.ts'
import { type Operand, type Operator, type ValueTest, valueTest } from './value-test.ts'

/** The operators of a block in their first spelling, with operands of the attribute's kind. */
export function toOperators(attribute: Attribute, block: unknown): ElementCondition {
  if (block === null) return [{ operator: '_eq', operand: null }]
  if (!isObject(block)) return []
  return Object.entries(block).map(([name, value]) => {
    const operator = canonicalOperator(name) as Operator
    return { operator, operand: operandOf(attribute, operator, value) }
  })
}

const patterns: ReadonlySet<string> = new Set(['_like', '_nlike', '_ilike', '_nilike'])

function operandOf(
  attribute: Attribute,
  operator: Operator,
  value: unknown,
): Operand | readonly Operand[] {
  if (operator === '_in' || operator === '_nin') {
    return [...new Set([value].flat().map((one) => singleOperand(attribute, one)))]
  }
  if (patterns.has(operator))
    return value === null ? null : patternOf(attribute.kind, String(value))
  return singleOperand(attribute, value)
}

/** Hex is stored in lower case, so that filters on it ignore case. */
const lowerCased: ReadonlySet<AttributeKind> = new Set([
  'hash',
  'address',
  'data',
  'quantity',
  'id',
])

function patternOf(kind: AttributeKind, pattern: string): string {
  const isWithin = pattern.startsWith('%') && pattern.indexOf('%', 1) === pattern.length - 1
  if (isWithin && pattern.length - 2 > maxPatternLength) throw tooLongPattern()
  return lowerCased.has(kind) ? pattern.toLowerCase() : pattern
}

/** One operand, as values of the attribute are written. */
export function singleOperand(attribute: Attribute, value: unknown): Operand {
  if (value === null || value === undefined) return null
  switch (attribute.kind) {
    case 'quantity':
      return quantityOperand(attribute, value)
    case 'bigint':
      return wholeNumberOperand(attribute, value)
    case 'int':
    case 'float':
      return Number(value)
    case 'boolean':
      return value === true
    case 'json':
      throw jsonOperand(attribute)
    case 'string':
    case 'name':
      return hexLowered(String(value))
    case 'text':
      return String(value)
    case 'id': {
      const text = String(value).toLowerCase()
      return attribute.spelled?.(text) ?? text
    }
    default:
      return hexOperand(attribute, String(value))
  }
}

function wholeNumberOperand(attribute: Attribute, value: unknown): string {
  const parsed = parseWholeNumber(value)
  if (parsed !== undefined) return parsed
  throw refusal(
    'GRAPHQL_CONDITION_INVALID',
    `The field ${attribute.name} is a whole number and cannot be compared with ${JSON.stringify(value)}.`,
    'Write decimal text ("-1000"), 0x hex ("0x3e8") or a whole number.',
  )
}

const jsonOperand = ({ name }: Attribute): Error =>
  refusal(
    'GRAPHQL_CONDITION_INVALID',
    `The field ${name} is JSON, of which a filter knows only whether it has a value.`,
    'Write {_eq: null} or {_neq: null}.',
  )

/** Hex in any case; empty text is what some applications write for no value. */
const hexText = /^(?:0x[0-9a-f]*)?$/i

function hexOperand(attribute: Attribute, text: string): string {
  if (hexText.test(text)) return text.toLowerCase()
  throw refusal(
    'GRAPHQL_CONDITION_INVALID',
    `The field ${attribute.name} is hex and cannot be compared with ${JSON.stringify(text)}.`,
    'Write 0x and hex digits ("0xa0b86991"), or a part of them with _like ("%b86991%").',
  )
}

function quantityOperand(attribute: Attribute, value: unknown): string {
  const parsed = parseHexQuantity(value)
  if (parsed !== undefined) return parsed
  throw refusal(
    'GRAPHQL_CONDITION_INVALID',
    `The field ${attribute.name} is a quantity and cannot be compared with ${JSON.stringify(value)}.`,
    'Write decimal text ("1000"), 0x hex ("0x3e8") or a whole number.',
  )
}

const tooLongPattern = (): Error =>
  refusal(
    'GRAPHQL_SYNTAX_LIMIT',
    `A pattern has more than ${maxPatternLength} characters between two %.`,
    'Leave out the % at one end, or look for a part of the text.',
  )

/** The test that a filter on the elements of an inline list makes. */
export function elementFilterTest(attribute: Attribute, filter: unknown): ValueTest {
  if (!isObject(filter)) return () => true
  const tests = Object.entries(filter).map(([name, part]): ValueTest => {
    if (name !== '_and' && name !== '_or') {
      return elementTest(attribute, toOperators(attribute, { [name]: part }))
    }
    const parts = [part].flat().map((one) => elementFilterTest(attribute, one))
    return name === '_and'
      ? (value) => parts.every((test) => test(value))
      : (value) => parts.some((test) => test(value))
  })
  return (value) => tests.every((test) => test(value))
}

/** All operators of an element condition as one test. */
export function elementTest(attribute: Attribute, part: ElementCondition): ValueTest {
  const tests = part.map(({ operator, operand }) => valueTest(attribute.kind, operator, operand))
  return (value) => tests.every((test) => test(value))
}
