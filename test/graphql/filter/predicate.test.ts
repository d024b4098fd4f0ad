import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Attribute, RowLink } from '../../../src/graphql/catalog/entity.ts'
import type { FilterCondition } from '../../../src/graphql/filter/condition.ts'
import { toMatcher } from '../../../src/graphql/filter/predicate.ts'
import { type Operator, valueTest } from '../../../src/graphql/filter/value-test.ts'
import { type Row, rowAt } from '../../../src/graphql/rows/row.ts'
import type { JsonValue } from '../../../src/views/rows/row-values.ts'
import { createTestBudget } from '../support/graphql-room.ts'
import { fields, numberedScan } from '../support/numbered-rows.ts'

const rowCount = 9
const { scan, rows } = numberedScan(
  new Map([
    [3, rowCount],
    [4, rowCount],
  ]),
)
const { entity } = scan

const attribute = (
  name: string,
  read: (row: Row) => JsonValue,
  rest: Partial<Attribute> = {},
): Attribute => ({ ...{ name, kind: 'int', list: false, description: '' }, ...rest, read })

const listOf = (row: Row): readonly number[] | null =>
  row.position % 4 === 3 ? null : [row.position % 3, row.block.height].slice(row.position % 2)
const list = attribute('list', listOf, { list: true })
const word = attribute('word', ({ position }) => `word ${position % 3}`, { kind: 'text' })
const fast = attribute('fast', ({ position }) => `0xa${position}`, {
  kind: 'string',
  equals: (text) => (row) => `0xa${row.position}` === text,
})

/** The rows that belong to a row are those behind it, as many as its position leaves over by three. */
const many: RowLink = {
  ...{ field: 'many', description: '', target: 'Number', many: true },
  span: ({ position }) => [position, Math.min(rowCount, position + (position % 3))],
}
const one: RowLink = {
  ...{ field: 'one', description: '', target: 'Number', many: false },
  span: ({ position }) => [position >> 1, (position >> 1) + 1],
}

const operator = fc.constantFrom<Operator>('_eq', '_neq', '_gt', '_leq')
const number = fc.oneof(fc.nat(6), fc.constant(null))
const plain: fc.Arbitrary<FilterCondition> = fc.oneof(
  fc
    .record({ attribute: fc.constantFrom(...Object.values(fields)), operator, operand: number })
    .map((value) => ({ op: 'value' as const, ...value })),
  fc
    .constantFrom('word 0', 'word 2', 'nothing')
    .map((operand) => ({ op: 'value', attribute: word, operator: '_eq', operand }) as const),
  fc
    .constantFrom('0xa1', '0xa7', null)
    .map((operand) => ({ op: 'value', attribute: fast, operator: '_eq', operand }) as const),
  fc
    .record({
      quantifier: fc.constantFrom('_any' as const, '_all' as const, '_none' as const),
      part: fc.array(fc.record({ operator, operand: number }), { maxLength: 2 }),
    })
    .map((elements) => ({ op: 'elements' as const, attribute: list, ...elements })),
  fc
    .record({
      isEqual: fc.boolean(),
      items: fc.constantFrom(null, [], [3], [4], [0, 3], [1], [2, 4], [3, 0]),
    })
    .map((lists) => ({ op: 'list' as const, attribute: list, ...lists })),
  fc.constantFrom(many, one).map((link) => ({ op: 'unlinked' as const, link })),
  fc.record({ operator, operand: number }).map((computed) => ({
    ...{ op: 'computed' as const, computed: { kind: 'int' as const, read: fields.third.read } },
    ...computed,
  })),
  fc.constantFrom<FilterCondition>({ op: 'all' }, { op: 'none' }),
)
const { condition } = fc.letrec<{ condition: FilterCondition }>((tie) => {
  const parts = fc.array(tie('condition'), { maxLength: 3 })
  return {
    condition: fc.oneof(
      { maxDepth: 4, depthSize: 'medium' },
      plain,
      parts.map((all) => ({ op: 'and' as const, parts: all })),
      parts.map((any) => ({ op: 'or' as const, parts: any })),
      tie('condition').map((part) => ({ op: 'not' as const, part })),
      fc
        .record({ link: fc.constantFrom(many, one), part: tie('condition') })
        .map((link) => ({ op: 'link' as const, target: entity, ...link })),
    ),
  }
})

/** What a condition says of a row, one part after the other. */
function holds(condition: FilterCondition, row: Row): boolean {
  switch (condition.op) {
    case 'and':
      return condition.parts.every((part) => holds(part, row))
    case 'or':
      return condition.parts.some((part) => holds(part, row))
    case 'not':
      return !holds(condition.part, row)
    case 'value':
      return valueTest('int', condition.operator, condition.operand)(condition.attribute.read(row))
    case 'computed':
      return valueTest('int', condition.operator, condition.operand)(condition.computed.read(row))
    case 'unlinked':
      return linkedTo(condition.link, row).length === 0
    case 'link':
      return linkedTo(condition.link, row).some((each) => holds(condition.part, each))
    case 'list':
      return (JSON.stringify(listOf(row)) === JSON.stringify(condition.items)) === condition.isEqual
    case 'elements': {
      const elements = listOf(row)
      const matching = (element: JsonValue) =>
        condition.part.every((test) => valueTest('int', test.operator, test.operand)(element))
      if (elements === null) return false
      if (condition.quantifier === '_all') return elements.every(matching)
      return elements.some(matching) === (condition.quantifier === '_any')
    }
    default:
      return condition.op === 'all'
  }
}

function linkedTo(link: RowLink, row: Row): Row[] {
  const [start, end] = link.span(row)
  return rows.filter((each) => each.block.height === row.block.height).slice(start, end)
}

test('a compiled condition matches the rows of which all that it says holds', () => {
  fc.assert(
    fc.property(condition, (whole) => {
      const { matches } = toMatcher(entity, whole)
      // Rows of one block beside those of another, as scans of several blocks meet them.
      const mixed = rows.flatMap((row, index) => [
        row,
        rows[(index + rowCount) % rows.length] ?? row,
      ])
      for (const row of mixed)
        assert.equal(matches(row), holds(whole, row), `${row.block.height}/${row.position}`)
    }),
    { numRuns: 1_000 },
  )
})

const value = (of: Attribute, operand: number | string): FilterCondition => {
  return { op: 'value', attribute: of, operator: '_geq', operand }
}

test('what is the same for a block is decided first, and rows that are linked last', () => {
  const seen: string[] = []
  const noted = ({ name, read, ...rest }: Attribute): Attribute => ({
    ...{ ...rest, name },
    read: (row) => {
      seen.push(name)
      return read(row)
    },
  })
  const computed = { kind: 'int' as const, read: () => seen.push('computed') }
  const link = (of: RowLink): FilterCondition => ({
    ...{ op: 'link', link: of, target: entity },
    part: value(noted(attribute(of.field, () => 1)), 0),
  })
  const parts: FilterCondition[] = [
    { op: 'computed', computed, operator: '_neq', operand: null },
    link(many),
    link(one),
    { op: 'elements', attribute: noted(list), quantifier: '_any', part: [] },
    { op: 'or', parts: [value(noted(fields.position), 99), value(noted(fields.third), 0)] },
    { op: 'not', part: value(noted(fields.height), 99) },
  ]
  const { matches } = toMatcher(entity, { op: 'and', parts })
  assert.ok(matches(rows[2] ?? assert.fail()))
  const order = ['_blockNumber', 'position', 'third', 'list', 'one', 'many', 'computed']
  assert.deepEqual(seen, order)
})

test('hex in a list is the same in any case, and other text is not', () => {
  const words = attribute('words', () => ['0xAB', 'Cd'], { kind: 'string', list: true })
  const isList = (items: readonly string[]): boolean =>
    toMatcher(entity, { op: 'list', attribute: words, isEqual: true, items }).matches(
      rows[0] ?? assert.fail(),
    )
  assert.deepEqual([isList(['0xab', 'Cd']), isList(['0xab', 'cd'])], [true, false])
})

test('rows that are no stored documents have no CID', () => {
  const { matches } = toMatcher({ ...entity, section: null }, { op: 'cid', cid: Buffer.alloc(36) })
  assert.ok(!rows.some((row) => matches(row)))
})

test('a value that several parts compare is read once from each row', () => {
  let reads = 0
  const costly = attribute('costly', ({ position }) => {
    reads++
    return position
  })
  const range: FilterCondition = { op: 'and', parts: [value(costly, 0), value(costly, 1)] }
  const { matches } = toMatcher(entity, { op: 'or', parts: [{ op: 'not', part: range }, range] })
  assert.ok(rows.every((row) => matches(row)))
  assert.equal(reads, rows.length)
})

test('neighbours that are linked to the same row look at it once', () => {
  const budget = createTestBudget()
  const room = numberedScan(new Map([[3, 6]]), { budget })
  const part: FilterCondition = {
    op: 'link',
    link: one,
    target: entity,
    part: value(fields.position, 1),
  }
  const { matches } = toMatcher(entity, part)
  assert.deepEqual(
    room.rows.map((row) => matches(row)),
    [false, false, true, true, true, true],
  )
  assert.equal(budget.usage().cost, 3)
  const each = toMatcher(entity, { ...part, link: many })
  assert.deepEqual(
    room.rows.map((row) => each.matches(row)),
    [false, true, true, false, true, true],
  )
  assert.equal(budget.usage().cost, 3 + 1 + 1 + 1 + 1)
})

/** How many comparisons a row may yet take after those of a condition. */
function comparisonsLeft(condition: FilterCondition): number {
  const budget = createTestBudget()
  const { blockAt } = numberedScan(new Map([[3, 1]]), { budget })
  toMatcher(entity, condition).matches(rowAt(blockAt(3), 0))
  let left = 0
  assert.throws(() => {
    for (;;) {
      budget.countComparisons(1)
      left++
    }
  }, /A single row, with what hangs on it, takes more than 250000 comparisons/)
  return left
}

test('long values and lists count as many comparisons as they take', () => {
  const text = (length: number, rest: Partial<Attribute> = {}) =>
    attribute('text', () => 'x'.repeat(length), { kind: 'data', ...rest })
  const counted = (condition: FilterCondition) => 250_000 - comparisonsLeft(condition)
  for (const [length, comparisons] of [
    [64, 0],
    [65, 1],
    [127, 1],
    [128, 2],
  ] as const) {
    const like = { op: 'value', operator: '_like', operand: '%y%' } as const
    for (const kind of ['data', 'string', 'name'] as const)
      assert.equal(counted({ ...like, attribute: text(length, { kind }) }), comparisons)
    assert.equal(counted({ ...like, attribute: text(length, { kind: 'hash' }) }), 0)
    const equals = () => () => false
    const operand = 'y'.repeat(length)
    const equal = { op: 'value', operator: '_eq', operand } as const
    assert.equal(counted({ ...equal, attribute: text(9, { equals }) }), comparisons)
  }
  const two = [1, 2].map((operand) => ({ operator: '_eq', operand }) as const)
  const three = attribute('three', () => [1, 2, 3], { list: true })
  const elements = { op: 'elements', attribute: three, quantifier: '_none' } as const
  assert.equal(counted({ ...elements, part: two }), 6)
})
