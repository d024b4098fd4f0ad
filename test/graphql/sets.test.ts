import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  bothCursor,
  eitherCursor,
  type HeightCursor,
  intervalCursor,
  placesCursor,
} from '../../src/graphql/height-cursor.ts'
import {
  type Interval,
  type Intervals,
  intersect,
  nearest,
  union,
} from '../../src/graphql/intervals.ts'
import { createSmallest } from '../../src/graphql/smallest.ts'
import { sortInTurns } from '../../src/graphql/sort.ts'
import { intersectSpans, mergeSpans, type Span, uniteSpans } from '../../src/graphql/span-set.ts'
import { createTestWork } from '../support/graphql-room.ts'

const small = fc.integer({ min: 0, max: 40 })
const intervals = fc
  .array(fc.tuple(small, fc.integer({ min: 0, max: 6 })), { maxLength: 6 })
  .map((pairs) => union(pairs.map(([from, length]): Interval => [from, from + length])))
const spans = fc
  .array(fc.tuple(small, fc.integer({ min: 0, max: 6 })), { maxLength: 6 })
  .map((pairs) => mergeSpans(pairs.map(([start, length]): Span => [start, start + length])))

const heights = (set: Intervals): number[] =>
  set.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => from + index))
const positions = (set: readonly Span[]): number[] =>
  heights(set.map(([start, end]) => [start, end - 1]))
const sorted = (numbers: Iterable<number>): number[] => [...numbers].sort((a, b) => a - b)

test('sets of heights behave like sets', () => {
  fc.assert(
    fc.property(intervals, intervals, small, (a, b, height) => {
      const [inA, inB] = [new Set(heights(a)), new Set(heights(b))]
      assert.deepEqual(heights(union([...a, ...b])), sorted(new Set([...inA, ...inB])))
      assert.deepEqual(heights(intersect(a, b)), sorted([...inA].filter((one) => inB.has(one))))
      const above = sorted(inA).find((one) => one >= height) ?? null
      const below = sorted(inA).findLast((one) => one <= height) ?? null
      assert.deepEqual([nearest(a, height, false), nearest(a, height, true)], [above, below])
    }),
  )
})

test('sets of positions behave like sets', () => {
  fc.assert(
    fc.property(spans, spans, (a, b) => {
      const [inA, inB] = [new Set(positions(a)), new Set(positions(b))]
      const both = intersectSpans(a, b)
      const either = uniteSpans(a, b)
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

test('cursors combine like sets, in both directions', () => {
  fc.assert(
    fc.property(intervals, intervals, fc.array(small), fc.boolean(), (a, b, places, descending) => {
      const one = () => intervalCursor(a, descending)
      const other = () => intervalCursor(b, descending)
      const found = () =>
        placesCursor(
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

test('the smallest of many are those that a full sort puts first, and the others are told', async () => {
  const property = fc.asyncProperty(
    fc.array(small),
    fc.integer({ min: 0, max: 12 }),
    async (numbers, capacity) => {
      const kept = createSmallest<number>(capacity, (a, b) => a - b)
      const dropped = numbers.flatMap((number) => kept.add(number) ?? [])
      const inOrder = sorted(numbers)
      assert.deepEqual(await kept.sorted(createTestWork()), inOrder.slice(0, capacity))
      assert.deepEqual(sorted(dropped), inOrder.slice(capacity))
    },
  )
  await fc.assert(property)
})

test('sorting with turns in between is a stable sort', async () => {
  const item = fc.record({ key: fc.integer({ min: 0, max: 20 }), place: fc.integer() })
  const byKey = (a: { key: number }, b: { key: number }): number => a.key - b.key
  const property = fc.asyncProperty(fc.array(item, { maxLength: 2_000 }), async (items) => {
    assert.deepEqual(await sortInTurns(createTestWork(), items, byKey), items.toSorted(byKey))
  })
  await fc.assert(property, { numRuns: 30 })
})
