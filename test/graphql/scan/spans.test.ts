import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  bothCursor,
  eitherCursor,
  emptyCursor,
  type HeightCursor,
  linkedCursor,
  locationsCursor,
  rangesCursor,
} from '../../../src/graphql/scan/height-cursor.ts'
import { sortInSlices } from '../../../src/graphql/scan/sort.ts'
import {
  intersectSpans,
  mergeSpans,
  type Span,
  type SpanSet,
  uniteSpans,
} from '../../../src/graphql/scan/spans.ts'
import { createTopK } from '../../../src/graphql/scan/top-k.ts'
import {
  type HeightRange,
  type HeightRanges,
  uniteHeights,
} from '../../../src/primitives/height-ranges.ts'
import { createTestBudget } from '../support/graphql-room.ts'

const small = fc.integer({ min: 0, max: 40 })
const ranges = fc
  .array(fc.tuple(small, fc.integer({ min: 0, max: 6 })), { maxLength: 6 })
  .map((pairs) => uniteHeights(pairs.map(([from, length]): HeightRange => [from, from + length])))
const spans = fc
  .array(fc.tuple(small, fc.integer({ min: 0, max: 6 })), { maxLength: 6 })
  .map((pairs) => mergeSpans(pairs.map(([start, length]): Span => [start, start + length])))

const heights = (set: HeightRanges): number[] =>
  set.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => from + index))
const positions = (set: readonly Span[]): number[] =>
  heights(set.map(([start, end]) => [start, end - 1]))
const sorted = (numbers: Iterable<number>): number[] => [...numbers].sort((a, b) => a - b)

/** Ascending, none of them empty, and with something between them. */
function isApart(set: SpanSet): boolean {
  if (set === 'whole') return true
  return set.every(([start, end], index) => start < end && start > (set[index - 1]?.[1] ?? -1))
}

test('sets of positions unite and intersect like sets', () => {
  fc.assert(
    fc.property(spans, spans, (a, b) => {
      const [inA, inB] = [new Set(positions(a)), new Set(positions(b))]
      const both = intersectSpans(a, b)
      const either = uniteSpans(a, b)
      assert.ok([a, both, either].every(isApart))
      assert.deepEqual(
        positions(both === 'whole' ? [] : both),
        sorted([...inA].filter((one) => inB.has(one))),
      )
      assert.deepEqual(
        positions(either === 'whole' ? [] : either),
        sorted(new Set([...inA, ...inB])),
      )
      assert.deepEqual([intersectSpans(a, 'whole'), uniteSpans(a, 'whole')], [a, 'whole'])
    }),
  )
})

/** Everything a cursor has, from one end to the other. */
function walk(cursor: HeightCursor, descending: boolean): number[] {
  const found: number[] = []
  const step = descending ? -1 : 1
  for (
    let height = cursor.seek(descending ? 100 : 0);
    height !== null;
    height = cursor.seek(height + step)
  ) {
    assert.equal(cursor.seek(height), height)
    found.push(height)
  }
  return found
}

test('cursors unite and intersect like sets, in both directions', () => {
  fc.assert(
    fc.property(ranges, ranges, fc.array(small), fc.boolean(), (a, b, places, descending) => {
      const one = () => rangesCursor(a, descending)
      const other = () => rangesCursor(b, descending)
      const found = () =>
        locationsCursor(
          places.map((height) => ({ type: 'block', height })),
          descending,
        )
      const [inA, inB, inPlaces] = [new Set(heights(a)), new Set(heights(b)), new Set(places)]
      const expected = [...inPlaces].filter((height) => inA.has(height) || inB.has(height))
      const inOrder = descending ? sorted(expected).reverse() : sorted(expected)
      const combined = bothCursor([found(), eitherCursor([one(), other()], descending)])
      assert.deepEqual(walk(combined, descending), inOrder)
    }),
  )
})

/** A cursor over some heights, of each of which it names these positions. */
function cursorOf(set: readonly number[], spans: SpanSet): HeightCursor {
  const seek = (height: number) => set.find((each) => each >= height) ?? null
  return { width: 1, seek, spans: () => spans }
}

const spansAt = (cursor: HeightCursor, height: number): SpanSet =>
  cursor.spans({ height } as never, 'Log')

test('positions of a height are those of the cursors that have it: of all, or of any', () => {
  const one = cursorOf([1, 3], [[0, 5]])
  const other = cursorOf([2, 3], [[4, 9]])
  assert.deepEqual(
    [1, 2, 3].map((height) => spansAt(eitherCursor([one, other], false), height)),
    [[[0, 5]], [[4, 9]], [[0, 9]]],
  )
  assert.deepEqual(
    [1, 2, 3].map((height) => spansAt(bothCursor([one, other]), height)),
    [[], [], [[4, 5]]],
  )
  const ranges = rangesCursor([[3, 3]], false)
  assert.deepEqual(spansAt(bothCursor([one, ranges]), 3), [[0, 5]])
  assert.deepEqual([emptyCursor.seek(0), spansAt(emptyCursor, 0)], [null, []])
  const block = { height: 3 } as never
  assert.equal(linkedCursor(one, 'Transaction').spans(block, null), 'whole')
  assert.equal(linkedCursor(ranges, 'Transaction').spans(block, 'Log'), 'whole')
})

test('cursors that do not agree for 256 steps end a step at a height without any position', () => {
  const everyOther = (from: number) => Array.from({ length: 500 }, (_, index) => from + 2 * index)
  const both = bothCursor([cursorOf(everyOther(0), 'whole'), cursorOf(everyOther(1), 'whole')])
  assert.equal(both.seek(0), 256)
  assert.deepEqual(spansAt(both, 256), [])
  assert.equal(both.seek(257), 513)
  const agreeing = [cursorOf([...everyOther(0), 256], 'whole'), cursorOf([256], 'whole')]
  assert.equal(bothCursor(agreeing).seek(0), 256)
})

test('a combined cursor counts as many comparisons a height as all that it is made of', () => {
  const one = rangesCursor([[0, 5]], false)
  const two = bothCursor([one, one])
  const three = eitherCursor([one, two], false)
  assert.deepEqual([two.width, three.width], [2 * one.width, 3 * one.width])
  assert.ok(one.width > 0)
})

test('top-k keeps the items that a full sort puts first, and returns the others', async () => {
  const property = fc.asyncProperty(
    fc.array(small),
    fc.integer({ min: 0, max: 12 }),
    async (numbers, capacity) => {
      const kept = createTopK<number>(capacity, (a, b) => a - b)
      const dropped = numbers.flatMap((number) => kept.add(number) ?? [])
      const inOrder = sorted(numbers)
      assert.deepEqual(await kept.sorted(createTestBudget()), inOrder.slice(0, capacity))
      assert.deepEqual(sorted(dropped), inOrder.slice(capacity))
    },
  )
  await fc.assert(property)
})

test('sorting in slices is stable', async () => {
  const item = fc.record({ key: fc.integer({ min: 0, max: 20 }), place: fc.integer() })
  const byKey = (a: { key: number }, b: { key: number }): number => a.key - b.key
  const property = fc.asyncProperty(
    fc.array(item, { maxLength: 2_000, size: 'max' }),
    async (items) => {
      assert.deepEqual(await sortInSlices(createTestBudget(), items, byKey), items.toSorted(byKey))
    },
  )
  await fc.assert(property, { numRuns: 30 })
})
