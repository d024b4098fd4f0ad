import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  bothCursor,
  eitherCursor,
  emptyCursor,
  type HeightCursor,
  locationsCursor,
  rangesCursor,
  viewCursor,
} from '../../../src/graphql/scan/height-cursor.ts'
import type { HeightRange } from '../../../src/primitives/height-ranges.ts'

const rows = { name: 'Counted', slot: 7 }

/** A snapshot whose View has rows of some heights; notes the bounds of each look into its index. */
function snapshotOf(heights: readonly number[]) {
  const looks: (readonly [from: number, to: number, descending: boolean])[] = []
  let read = 0
  const snapshot = {
    *viewHeights(slot: number, from: number, to: number, descending: boolean) {
      assert.equal(slot, 7)
      looks.push([from, to, descending])
      for (const height of descending ? heights.toReversed() : heights) {
        if (height < from || height > to) continue
        read++
        yield height
      }
    },
  }
  return { snapshot: snapshot as never, looks, read: () => read }
}

const upTo = (count: number) => Array.from({ length: count }, (_, height) => height)

test('a cursor over the index has what lies within its bounds, whatever is sought', () => {
  const height = fc.integer({ min: -5, max: 300 })
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.nat(250), { maxLength: 200, size: 'max' }),
      fc.tuple(fc.nat(120), fc.integer({ min: 120, max: 250 })),
      fc.array(height, { maxLength: 8 }),
      fc.boolean(),
      (all, [low, high], sought, descending) => {
        const sorted = all.sort((a, b) => a - b)
        const { snapshot } = snapshotOf(sorted)
        const cursor = viewCursor(snapshot, rows, [low, high], descending)
        const within = sorted.filter((each) => each >= low && each <= high)
        for (const goal of sought.sort((a, b) => (descending ? b - a : a - b))) {
          const found = descending
            ? within.findLast((each) => each <= goal)
            : within.find((each) => each >= goal)
          assert.equal(cursor.seek(goal), found ?? null)
          assert.equal(cursor.seek(goal), found ?? null, 'again')
        }
      },
    ),
  )
})

test('near heights are walked to, and far ones looked up in the index again', () => {
  const { snapshot, looks, read } = snapshotOf(upTo(1_000))
  const cursor = viewCursor(snapshot, rows, [10, 900], false)
  assert.equal(cursor.seek(0), 10)
  assert.equal(cursor.seek(42), 42)
  assert.deepEqual(looks, [[10, 900, false]])
  assert.equal(cursor.seek(800), 800)
  assert.deepEqual(looks, [
    [10, 900, false],
    [800, 900, false],
  ])
  assert.ok(read() < 100, `${read()} heights read`)
  assert.equal(cursor.seek(901), null)

  const down = snapshotOf(upTo(1_000))
  const descending = viewCursor(down.snapshot, rows, [10, 900], true)
  assert.deepEqual(
    [descending.seek(950), descending.seek(100), descending.seek(9)],
    [900, 100, null],
  )
  assert.deepEqual(down.looks.slice(0, 2), [
    [10, 900, true],
    [10, 100, true],
  ])
})

test('cursors that hardly ever agree give the thread back before they reach the end', () => {
  const every = (first: number): HeightRange[] =>
    upTo(1_000).map((index) => [first + 2 * index, first + 2 * index])
  const cursor = bothCursor([rangesCursor(every(0), false), rangesCursor(every(1), false)])
  const heights = []
  for (let height = cursor.seek(0); height !== null; height = cursor.seek(height + 1))
    heights.push(height)
  assert.deepEqual(heights, [256, 513, 770, 1027, 1284, 1541, 1798])
  const block = { height: 1798 } as never
  assert.deepEqual(cursor.spans(block, 'Log'), [], 'no row matches there')
})

/** A cursor over every height whose rows are at these positions. */
const positionsCursor = (start: number, end: number): HeightCursor => ({
  ...rangesCursor([[0, 9]], false),
  spans: () => [[start, end]],
})

test('of a block the positions are those that all cursors have, or any', () => {
  const block = { height: 4 } as never
  const [one, other] = [positionsCursor(0, 6), positionsCursor(4, 9)]
  const elsewhere = rangesCursor([[5, 6]], false)
  assert.deepEqual(bothCursor([one, other]).spans(block, 'Log'), [[4, 6]])
  assert.deepEqual(bothCursor([one, elsewhere]).spans(block, 'Log'), [])
  assert.deepEqual(bothCursor([one, rangesCursor([[4, 4]], false)]).spans(block, 'Log'), [[0, 6]])
  assert.deepEqual(eitherCursor([one, other], false).spans(block, 'Log'), [[0, 9]])
  assert.deepEqual(eitherCursor([elsewhere, other], false).spans(block, 'Log'), [[4, 9]])
  assert.equal(
    eitherCursor([one, rangesCursor([[4, 4]], false)], false).spans(block, null),
    'whole',
  )
  assert.deepEqual(emptyCursor.spans(block, 'Log'), [])
  assert.equal(eitherCursor([emptyCursor, rangesCursor([[5, 6]], false)], false).seek(0), 5)
})

test('the locations of one height are one height, in either direction', () => {
  const at = (height: number) => ({ type: 'block', height }) as const
  for (const descending of [false, true]) {
    const cursor = locationsCursor([at(5), at(2), at(5), at(9)], descending)
    const heights = descending ? [9, 5, 2] : [2, 5, 9]
    for (const height of heights) assert.equal(cursor.seek(height), height)
    assert.equal(cursor.seek(descending ? 1 : 10), null)
    assert.deepEqual(cursor.spans({ height: 1 } as never, 'Log'), [])
  }
})
