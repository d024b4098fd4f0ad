import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  all,
  allOf,
  anyOf,
  comparisonsOf,
  type FilterCondition,
  isOfBlock,
  none,
  notOf,
} from '../../../src/graphql/filter/condition.ts'

/** A condition beside what it means for each of four rows. */
interface Meant {
  readonly condition: FilterCondition
  readonly rows: readonly boolean[]
}

const leaf = fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }).map((rows): Meant => {
  const attribute = { name: rows.join() } as never
  return { condition: { op: 'value', attribute, operator: '_eq', operand: 1 }, rows }
})
const whole = fc.constantFrom<Meant>(
  { condition: all, rows: [true, true, true, true] },
  { condition: none, rows: [false, false, false, false] },
)
const { meant } = fc.letrec<{ meant: Meant }>((tie) => {
  const parts = fc.array(tie('meant'), { maxLength: 4 })
  return {
    meant: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(leaf, whole),
      parts.map((list) => joined(list, allOf, (row) => list.every(({ rows }) => rows[row]))),
      parts.map((list) => joined(list, anyOf, (row) => list.some(({ rows }) => rows[row]))),
      tie('meant').map(({ condition, rows }) => ({
        condition: notOf(condition),
        rows: rows.map((matches) => !matches),
      })),
    ),
  }
})

function joined(
  parts: readonly Meant[],
  join: typeof allOf,
  matches: (row: number) => boolean,
): Meant {
  const rows = [0, 1, 2, 3].map(matches)
  return { condition: join(parts.map(({ condition }) => condition)), rows }
}

function matches(condition: FilterCondition, row: number): boolean {
  switch (condition.op) {
    case 'value':
      return condition.attribute.name.split(',')[row] === 'true'
    case 'and':
      return condition.parts.every((part) => matches(part, row))
    case 'or':
      return condition.parts.some((part) => matches(part, row))
    case 'not':
      return !matches(condition.part, row)
    default:
      return condition.op === 'all'
  }
}

/** Whether nothing in it restricts nothing, or could stand one level higher. */
function isSimple(condition: FilterCondition): boolean {
  if (condition.op === 'not') return isSimplePart(condition.part)
  if (condition.op !== 'and' && condition.op !== 'or') return true
  const { op, parts } = condition
  return parts.length > 1 && parts.every((part) => part.op !== op && isSimplePart(part))
}

const isSimplePart = (part: FilterCondition): boolean =>
  part.op !== 'all' && part.op !== 'none' && isSimple(part)

test('joined and negated conditions match what their parts say, and are as simple as they can be', () => {
  fc.assert(
    fc.property(meant, ({ condition, rows }) => {
      assert.deepEqual(
        rows.map((_, row) => matches(condition, row)),
        rows,
      )
      assert.ok(isSimple(condition))
    }),
  )
})

const value = (ofBlock?: true): FilterCondition => {
  const attribute = { name: 'x', ...(ofBlock && { ofBlock }) } as never
  return { op: 'value', attribute, operator: '_eq', operand: 1 }
}
const link = (target: string): FilterCondition => {
  return { op: 'link', link: { target } as never, target: {} as never, part: value() }
}

test('a condition is of a block where all of it is', () => {
  const ofBlock: FilterCondition[] = [all, none, value(true), link('Block')]
  const others: FilterCondition[] = [value(), link('Log'), { op: 'cid', cid: new Uint8Array() }]
  for (const op of ['and', 'or'] as const) {
    assert.ok(isOfBlock({ op, parts: ofBlock }))
    for (const other of others) assert.ok(!isOfBlock({ op, parts: [...ofBlock, other] }))
  }
  for (const part of ofBlock) assert.ok(isOfBlock({ op: 'not', part }))
  for (const part of others) assert.ok(!isOfBlock({ op: 'not', part }))
})

test('comparisons are counted over all parts, lists and elements', () => {
  const attribute = {} as never
  const one = { operator: '_eq', operand: 1 } as const
  const list = { op: 'list', attribute, isEqual: true } as const
  assert.equal(comparisonsOf({ op: 'and', parts: [value(), value()] }), 2)
  assert.equal(comparisonsOf({ op: 'or', parts: [value(), { op: 'not', part: value() }] }), 2)
  const elements = { op: 'elements', attribute, quantifier: '_any' } as const
  assert.equal(comparisonsOf({ ...elements, part: [one, one, one] }), 3)
  assert.equal(comparisonsOf({ ...list, items: [1, 2] }), 2)
  assert.equal(comparisonsOf({ ...list, items: null }), 1)
  assert.ok(comparisonsOf({ op: 'cid', cid: new Uint8Array() }) > 1)
})
