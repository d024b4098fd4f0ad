import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { allOf, anyOf, type FilterCondition } from '../../../src/graphql/filter/condition.ts'
import { type Operator, valueTest } from '../../../src/graphql/filter/value-test.ts'
import { heightsOf, splitByHeight } from '../../../src/graphql/scan/height-condition.ts'
import { hasHeight } from '../../../src/primitives/height-ranges.ts'

const number = { name: '_blockNumber', kind: 'int' } as never
const other = { name: 'other', kind: 'int' } as never
const entity = { attributes: new Map([['_blockNumber', number]]) } as never

const height = fc.integer({ min: -1, max: 12 })
const ranged = fc.tuple(fc.constantFrom<Operator>('_eq', '_gt', '_geq', '_lt', '_leq'), height)
const listed = fc.tuple(fc.constant<Operator>('_in'), fc.array(height, { maxLength: 4 }))
const others = fc.oneof(
  fc.tuple(fc.constantFrom<Operator>('_neq', '_like'), height),
  fc.tuple(fc.constant<Operator>('_nin'), fc.array(height, { maxLength: 4 })),
)
const heights = Array.from({ length: 14 }, (_, each) => each)

test('the heights of an operator are those that it accepts', () => {
  fc.assert(
    fc.property(fc.oneof(ranged, listed), ([operator, operand]) => {
      const found = heightsOf({ operator, operand }) ?? assert.fail()
      const accepts = valueTest('int', operator, operand)
      for (const each of heights) assert.equal(hasHeight(found, each), accepts(each))
    }),
  )
})

test('an operator that may accept any height, and null, has none', () => {
  for (const operator of ['_neq', '_nin', '_like'] as const)
    assert.equal(heightsOf({ operator, operand: 1 }), null)
  for (const operator of ['_eq', '_gt', '_leq'] as const)
    assert.equal(heightsOf({ operator, operand: null }), null)
  assert.deepEqual(heightsOf({ operator: '_in', operand: [null, 3, 4] }), [[3, 4]])
})

const value = fc.tuple(fc.constantFrom(number, other), fc.oneof(ranged, listed, others)).map(
  ([attribute, [operator, operand]]): FilterCondition => ({
    ...{ op: 'value', attribute, operator, operand },
  }),
)
const withNull = fc.constant<FilterCondition>({
  ...{ op: 'value', attribute: number, operator: '_in', operand: [3, null] },
})
const { condition } = fc.letrec<{ condition: FilterCondition }>((tie) => {
  const parts = fc.array(tie('condition'), { maxLength: 3 })
  return {
    condition: fc.oneof(
      { maxDepth: 3 },
      fc.oneof({ weight: 9, arbitrary: value }, { weight: 1, arbitrary: withNull }),
      parts.map(allOf),
      parts.map(anyOf),
      tie('condition').map((part): FilterCondition => ({ op: 'not', part })),
    ),
  }
})

function matches(condition: FilterCondition, at: number | null, rest: number): boolean {
  switch (condition.op) {
    case 'and':
      return condition.parts.every((part) => matches(part, at, rest))
    case 'or':
      return condition.parts.some((part) => matches(part, at, rest))
    case 'not':
      return !matches(condition.part, at, rest)
    case 'value': {
      const { attribute, operator, operand } = condition
      return valueTest('int', operator, operand)(attribute === number ? at : rest)
    }
    default:
      return condition.op === 'all'
  }
}

test('a condition is split into its heights and the rest, which together say the same', () => {
  fc.assert(
    fc.property(condition, height, (whole, value) => {
      const { heights: accepted, rest } = splitByHeight(entity, whole)
      for (const at of heights)
        assert.equal(hasHeight(accepted, at) && matches(rest, at, value), matches(whole, at, value))
    }),
  )
})

test('what must hold of the height alone is not looked at again', () => {
  const of = (attribute: never, operator: Operator, operand: number | (number | null)[]) =>
    ({ op: 'value', attribute, operator, operand }) as FilterCondition
  const either = anyOf([of(number, '_eq', 3), of(number, '_geq', 9)])
  const condition = allOf([of(number, '_leq', 9), of(other, '_eq', 5), either])
  assert.deepEqual(splitByHeight(entity, condition), {
    heights: [
      [3, 3],
      [9, 9],
    ],
    rest: of(other, '_eq', 5),
  })
  const excluded = allOf([
    of(number, '_neq', 3),
    of(number, '_nin', [5, 6]),
    { op: 'not', part: either },
  ])
  assert.deepEqual(splitByHeight(entity, excluded), {
    heights: [
      [0, 2],
      [4, 4],
      [7, 8],
    ],
    rest: { op: 'all' },
  })
  const nullable = of(number, '_in', [3, null])
  assert.deepEqual(splitByHeight(entity, nullable).rest, nullable)
  const mixed = anyOf([of(number, '_eq', 3), of(other, '_eq', 5)])
  assert.deepEqual(splitByHeight(entity, mixed).rest, mixed)
})
