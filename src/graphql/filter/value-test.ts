/**
 * The operators on one value, with the dialect's rules for null: `_neq: x` and `_nin` match rows
 * without a value, ranges and patterns do not, `_gt: null` means "has a value".
 */
import type { JsonValue } from '../../views/rows/row-values.ts'
import type { AttributeKind } from '../catalog/entity.ts'
import { hexLowered, isHexText } from '../rows/hex-text.ts'
import { compareQuantities } from '../rows/quantity.ts'
import { compareWholeNumbers } from '../rows/whole-number.ts'

/** A predicate over one value. */
export type ValueTest = (value: JsonValue) => boolean

/** An operand as `operandOf` returns it. */
export type Operand = string | number | boolean | null

/** Operators in their first spelling. */
export type Operator =
  | '_eq'
  | '_neq'
  | '_gt'
  | '_geq'
  | '_lt'
  | '_leq'
  | '_in'
  | '_nin'
  | '_like'
  | '_nlike'
  | '_ilike'
  | '_nilike'

/**
 * Orders two values of a kind: null is smallest, false before true, quantities as numbers, text by
 * code unit.
 */
export function compareValues(kind: AttributeKind, a: JsonValue, b: JsonValue): number {
  if (a === b) return 0
  if (a === null) return -1
  if (b === null) return 1
  if (kind === 'quantity') return compareQuantities(String(a), String(b))
  if (kind === 'bigint') return compareWholeNumbers(String(a), String(b))
  return a < b ? -1 : 1
}

/** The test that an operator with its operand makes; `operand` is a list for `_in` and `_nin`. */
export function valueTest(
  kind: AttributeKind,
  operator: Operator,
  operand: Operand | readonly Operand[],
): ValueTest {
  if (operator === '_in' || operator === '_nin') {
    const members = new Set<JsonValue>(Array.isArray(operand) ? operand : [operand as Operand])
    const isMember = isFreeText(kind)
      ? (value: JsonValue) => members.has(hexLowered(value))
      : (value: JsonValue) => members.has(value)
    return operator === '_in' ? isMember : negated(isMember)
  }
  return singleTest(kind, operator, operand as Operand)
}

type SingleOperator = Exclude<Operator, '_in' | '_nin'>

function singleTest(kind: AttributeKind, operator: SingleOperator, operand: Operand): ValueTest {
  switch (operator) {
    case '_eq':
      return equalTest(kind, operand)
    case '_neq':
      return negated(equalTest(kind, operand))
    case '_gt':
    case '_geq':
    case '_lt':
    case '_leq':
      return rangeTest(kind, operator, operand)
    case '_like':
      return likeTest(operand, false)
    case '_ilike':
      return anyCaseTest(kind, operand)
    case '_nlike':
      return negated(likeTest(operand, false))
    case '_nilike':
      return negated(anyCaseTest(kind, operand))
  }
}

function equalTest(kind: AttributeKind, operand: Operand): ValueTest {
  if (isFreeText(kind) && isHexText(operand)) return (value) => hexLowered(value) === operand
  return (value) => value === operand
}

/** The text of a View's rows is written by its lenses, in any case. */
const isFreeText = (kind: AttributeKind): boolean => kind === 'string' || kind === 'name'

const negated =
  (test: ValueTest): ValueTest =>
  (value) =>
    !test(value)

function rangeTest(
  kind: AttributeKind,
  operator: '_gt' | '_geq' | '_lt' | '_leq',
  operand: Operand,
): ValueTest {
  if (operand === null) return nullBound[operator]
  const holds = outcomes[operator]
  return (value) => value !== null && holds(compareValues(kind, value, operand))
}

const outcomes = {
  _gt: (order: number) => order > 0,
  _geq: (order: number) => order >= 0,
  _lt: (order: number) => order < 0,
  _leq: (order: number) => order <= 0,
} as const

/** Null is the smallest value. */
const nullBound = {
  _gt: (value: JsonValue) => value !== null,
  _geq: () => true,
  _lt: () => false,
  _leq: (value: JsonValue) => value === null,
} as const

/**
 * A pattern has % at its start, at its end, at both, or exactly once in its middle; anything else is
 * plain equality. A null pattern matches missing values.
 */
function likeTest(pattern: Operand, ignoreCase: boolean): ValueTest {
  if (pattern === null) return (value) => value === null
  const matches = textMatcher(String(pattern))
  if (!ignoreCase) return (value) => typeof value === 'string' && matches(value)
  return (value) => typeof value === 'string' && matches(value.toLowerCase())
}

/** Only free text has upper case. */
function anyCaseTest(kind: AttributeKind, pattern: Operand): ValueTest {
  const lower = pattern === null ? null : String(pattern).toLowerCase()
  return likeTest(lower, kind === 'text' || isFreeText(kind))
}

type TextMatcher = (text: string) => boolean

function textMatcher(pattern: string): TextMatcher {
  const equal: TextMatcher = (text) => text === pattern
  const first = pattern.indexOf('%')
  if (first < 0 || pattern.length < 2) return equal
  const last = pattern.length - 1
  const second = pattern.indexOf('%', first + 1)
  if (second < 0) return endsMatcher(pattern)
  const within = pattern.slice(1, -1)
  return first === 0 && second === last ? (text) => text.includes(within) : equal
}

/** `a%b`: starts with a and ends with b, which do not overlap; either may be empty. */
function endsMatcher(pattern: string): TextMatcher {
  const [head = '', tail = ''] = pattern.split('%')
  const least = head.length + tail.length
  return (text) => text.length >= least && text.startsWith(head) && text.endsWith(tail)
}
