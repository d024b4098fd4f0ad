import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { QueryBudget } from '../../../src/graphql/budget/query-budget.ts'
import {
  all,
  allOf,
  anyOf,
  type FilterCondition,
  none,
  notOf,
} from '../../../src/graphql/filter/condition.ts'
import { everyRow, type ListRequest } from '../../../src/graphql/filter/list-request.ts'
import { rank, rankedOrder } from '../../../src/graphql/filter/order.ts'
import { toMatcher } from '../../../src/graphql/filter/predicate.ts'
import type { Operator } from '../../../src/graphql/filter/value-test.ts'
import type { Row } from '../../../src/graphql/rows/row.ts'
import { createChildSelector } from '../../../src/graphql/scan/child-rows.ts'
import {
  countRows,
  selectAmong,
  selectRows,
  visitRows,
} from '../../../src/graphql/scan/select-rows.ts'
import { hasHeight } from '../../../src/primitives/height-ranges.ts'
import { createTestBudget } from '../support/graphql-room.ts'
import { fields, numberedScan, orderKey, type RowCounts } from '../support/numbered-rows.ts'

const names = ['height', 'position', 'third', 'value'] as const

const anyCounts = fc
  .uniqueArray(
    fc.tuple(
      fc.integer({ min: 3, max: 12 }),
      fc.oneof({ weight: 6, arbitrary: fc.nat(8) }, fc.constantFrom(512, 513, 1025, 1030)),
    ),
    { maxLength: 6, selector: ([height]) => height },
  )
  .map((pairs): RowCounts => new Map(pairs))

const anyValue = fc
  .record({
    attribute: fc.constantFrom(...names.map((name) => fields[name])),
    operator: fc.constantFrom<Operator>('_eq', '_neq', '_geq', '_lt'),
    operand: fc.oneof({ weight: 4, arbitrary: fc.nat(9) }, fc.nat(1_100)),
  })
  .map((value): FilterCondition => ({ op: 'value', ...value }))
const anyCondition = fc.oneof(
  { weight: 3, arbitrary: fc.constant(all) },
  { weight: 3, arbitrary: anyValue },
  fc.array(anyValue, { maxLength: 3 }).map(allOf),
  fc.array(anyValue, { maxLength: 3 }).map(anyOf),
  anyValue.map(notOf),
  fc.constant(none),
)
const anyRequest: fc.Arbitrary<ListRequest> = fc.record({
  condition: anyCondition,
  order: fc
    .array(fc.tuple(fc.constantFrom(...names), fc.boolean()), { maxLength: 3 })
    .map((keys) => keys.map(([name, descending]) => orderKey(name, descending))),
  offset: fc.oneof(fc.nat(6), fc.nat(1_100)),
  limit: fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 6 }), fc.constant(600)),
})
const anyWindow = fc.constantFrom(
  undefined,
  [[0, 6]] as const,
  [
    [4, 7],
    [9, 10],
  ] as const,
)

const placeOf = ({ block, position }: Row) => `${block.height}/${position}`

/** All rows that match, in order, by a plain sort. */
function expected(
  rows: readonly Row[],
  entity: Parameters<typeof toMatcher>[0],
  { condition, order, offset, limit }: ListRequest,
): string[] {
  const { matches } = toMatcher(entity, condition)
  const ranked = rows.filter((row) => matches(row)).map((row) => rank(row, order))
  const sorted = ranked.sort(rankedOrder(order)).map(({ row }) => placeOf(row))
  return sorted.slice(offset, offset + limit)
}

test('a list has the rows that match, in order, from offset to limit, in short batches', async () => {
  await fc.assert(
    fc.asyncProperty(anyCounts, anyRequest, anyWindow, async (counts, request, window) => {
      const { scan, rows } = numberedScan(counts, window === undefined ? {} : { window })
      const seen = rows.filter(({ block }) => hasHeight(scan.window, block.height))
      const batches: number[] = []
      const found: string[] = []
      for await (const batch of selectRows(scan, request)) {
        batches.push(batch.length)
        for (const { chunk } of batch) assert.equal(chunk, null, 'keeps nothing of its block')
        found.push(...batch.map(placeOf))
      }
      assert.deepEqual(found, expected(seen, scan.entity, request))
      for (const length of batches) assert.ok(length > 0 && length <= 256, `${length} rows`)
      const matching = expected(seen, scan.entity, { ...everyRow, condition: request.condition })
      assert.equal(await countRows(scan, request.condition), matching.length)
      const visited: string[] = []
      await visitRows(scan, request.condition, (row) => visited.push(placeOf(row)), 0)
      assert.deepEqual(visited, matching)
    }),
    { numRuns: 300 },
  )
})

test('rows of small blocks come together, once there are 256 of them', async () => {
  const lengths = async (blocks: number, rows: number) => {
    const counts = Array.from({ length: blocks }, (_, index) => [index + 1, rows] as const)
    const batches = []
    for await (const batch of selectRows(numberedScan(new Map(counts)).scan, everyRow))
      batches.push(batch.length)
    return batches
  }
  assert.deepEqual(await lengths(5, 10), [50])
  assert.deepEqual(await lengths(7, 100), [256, 44, 256, 44, 100])
  assert.deepEqual(await lengths(3, 256), [256, 256, 256])
})

test('rows under a row, and those of a group, are selected as those of a list are', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(12), fc.nat(12), anyRequest, async (start, length, request) => {
      const { scan, rows, blockAt } = numberedScan(new Map([[5, start + length + 2]]))
      const span = [start, start + length] as const
      const expectedRows = expected(rows.slice(...span), scan.entity, request)
      const select = createChildSelector(scan.entity, request)
      assert.deepEqual(select(blockAt(5), span).map(placeOf), expectedRows)
      const members = rows.slice(...span)
      const among = await selectAmong(createTestBudget(), scan.entity, members, request)
      assert.deepEqual(among.map(placeOf), expectedRows)
      for (const { chunk } of among) assert.equal(chunk, null, 'keeps nothing of its block')
    }),
    { numRuns: 300 },
  )
})

/** The documents that are looked at for a list: one for each block, and one for each row. */
async function costOf(counts: RowCounts, request: Partial<ListRequest>): Promise<number> {
  const budget = createTestBudget()
  const { scan } = numberedScan(counts, { budget })
  for await (const _ of selectRows(scan, { ...everyRow, ...request }));
  return budget.usage().cost
}

const tenEach: RowCounts = new Map([1, 2, 3, 4, 5].map((height) => [height, 10]))
const third = (operand: number): FilterCondition => {
  return { op: 'value', attribute: fields.third, operator: '_eq', operand }
}

test('a list in the order of the chain looks at no row behind its limit', async () => {
  const blockFirst = [orderKey('height', true), orderKey('value', false)]
  for (const [request, cost] of [
    [{ limit: 7 }, 1 + 7],
    [{ limit: 10 }, 1 + 10],
    [{ limit: 11 }, 2 + 11],
    [{ limit: 10, offset: 10 }, 2 + 10],
    [{ limit: 3, order: [orderKey('height', true)] }, 1 + 3],
    [{ limit: 3, order: blockFirst }, 1 + 10],
    [{ limit: 11, order: blockFirst }, 2 + 20],
    [{ limit: 2, condition: third(0) }, 1 + 2],
    [{ limit: 2, condition: third(1) }, 1 + 5],
    [{ limit: 4, condition: third(0) }, 2 + 11],
    [{ limit: 2, offset: 3, condition: third(0) }, 2 + 12],
    [{ limit: 2, order: [orderKey('value', false)] }, 5 + 50],
  ] as const) {
    assert.equal(await costOf(tenEach, request), cost, JSON.stringify(request))
  }
  const forty = new Map([[1, 40]])
  assert.equal(await costOf(forty, { limit: 1, condition: third(12) }), 1 + 37)
  assert.equal(await costOf(forty, { offset: 1, limit: 1, condition: third(12) }), 1 + 38)
})

const unlike = (operand: number): FilterCondition => {
  return { op: 'value', attribute: fields.value, operator: '_neq', operand }
}
const lists: Readonly<Record<string, Partial<ListRequest>>> = {
  'in the order of the chain': { condition: unlike(9) },
  'sorted within blocks': { order: [orderKey('height', false), orderKey('value', false)] },
  'sorted as a whole': { order: [orderKey('value', false)] },
}

type Room = ReturnType<typeof numberedScan>
type Way = (room: Room, budget: QueryBudget) => Promise<unknown>

const eighty: RowCounts = new Map([
  [1, 40],
  [2, 40],
  [3, 0],
])

/** How often other requests may run while something looks at all rows, where it is always their turn or never. */
async function yieldsOf(isDue: boolean, way: Way, counts = eighty): Promise<number> {
  let yields = 0
  const yieldThread = async () => {
    yields++
  }
  const due = { shouldYield: () => isDue, yieldThread, yieldIfDue: async () => undefined }
  const budget = { ...createTestBudget(), ...due }
  await way(numberedScan(counts, { budget }), budget)
  return yields
}

for (const [which, part] of Object.entries(lists)) {
  test(`a list ${which} lets other requests run between rows`, async () => {
    const request = { ...everyRow, ...part }
    const ways: readonly Way[] = [
      async ({ scan }) => {
        for await (const _ of selectRows(scan, request));
      },
      ({ scan }) => countRows(scan, unlike(9)),
      ({ scan }) => visitRows(scan, all, () => undefined, 1),
      ({ scan, rows }, budget) =>
        selectAmong(budget, scan.entity, rows, { ...request, condition: unlike(9) }),
    ]
    for (const way of ways) {
      assert.ok((await yieldsOf(true, way)) >= 80)
      assert.equal(await yieldsOf(false, way), 0)
    }
  })
}

test('other requests run between blocks without rows as well', async () => {
  const empty: RowCounts = new Map([1, 2, 3].map((height) => [height, 0]))
  const ways: readonly Way[] = [
    async ({ scan }) => {
      for await (const _ of selectRows(scan, everyRow));
    },
    ({ scan }) => countRows(scan, unlike(9)),
    ({ scan }) => visitRows(scan, all, () => undefined, 1),
  ]
  for (const way of ways) assert.equal(await yieldsOf(true, way, empty), 3)
})

test('a list of more rows of one block than may be held is refused', async () => {
  await costOf(new Map([[1, 200_000]]), {})
  await assert.rejects(costOf(new Map([[1, 200_001]]), {}), {
    message:
      'The query must hold more than 200000 documents and running aggregates at once to group them. Narrow the range of blocks, group by fewer or coarser fields, or ask for fewer aggregates.',
  })
})

test('a single row is refused for its comparisons with all keys of an order', async () => {
  const order = Array.from({ length: 60 }, () => orderKey('value', false))
  const budget = createTestBudget()
  const { scan, blockAt } = numberedScan(new Map([[1, 10_000]]), { budget })
  const select = createChildSelector(scan.entity, { ...everyRow, order })
  assert.equal(select(blockAt(1), [0, 4_000]).length, 4_000)
  assert.throws(() => select(blockAt(1), [0, 6_000]), /A single row, with what hangs on it/)
})
