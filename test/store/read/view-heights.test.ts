import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { viewBlockKey } from '../../../src/store/disk/view-layout.ts'
import { createViewHeights } from '../../../src/store/read/view-heights.ts'

const slot = 3

interface Range {
  readonly start: Buffer
  readonly end: Buffer
  readonly limit: number
  readonly reverse?: boolean
}

/** The heights of a slot between those of two others; notes how many keys each look takes at most. */
function heightsOf(heights: readonly number[]) {
  const looks: number[] = []
  const others = [0, 5, 2 ** 48 - 2].flatMap((height) => [
    viewBlockKey(slot - 1, height),
    viewBlockKey(slot + 1, height),
  ])
  const keys = [...others, ...heights.map((height) => viewBlockKey(slot, height))].sort((a, b) =>
    Buffer.compare(a, b),
  )
  /** As lmdb has it: the start is included, the end is not. */
  const getKeys = ({ start, end, limit, reverse = false }: Range): Buffer[] => {
    looks.push(limit)
    const from = (key: Buffer) => Buffer.compare(key, start) * (reverse ? -1 : 1) >= 0
    const until = (key: Buffer) => Buffer.compare(key, end) * (reverse ? -1 : 1) < 0
    const inOrder = reverse ? keys.toReversed() : keys
    return inOrder.filter((key) => from(key) && until(key)).slice(0, limit)
  }
  const found = createViewHeights(
    { getKeys } as never,
    () => undefined as never,
    (of, height) => of === slot && heights.includes(height),
  )
  return { found, looks }
}

test('the heights of a slot within bounds are found in either direction', () => {
  const height = fc.oneof(fc.nat(80), fc.nat(2_000))
  fc.assert(
    fc.property(
      fc.uniqueArray(height, { maxLength: 80, size: 'max' }),
      fc.integer({ min: -5, max: 200 }),
      fc.oneof(fc.nat(200), fc.constantFrom(-1, 2_000, Number.MAX_SAFE_INTEGER)),
      fc.nat(5),
      (heights, from, to, limit) => {
        const { found } = heightsOf(heights)
        const sorted = heights.toSorted((a, b) => a - b)
        const within = sorted.filter((each) => each >= from && each <= to)
        assert.deepEqual([...found.each(slot, from, to, false)], within)
        assert.deepEqual([...found.each(slot, from, to, true)], within.toReversed())
        assert.deepEqual(found.lowest(slot, limit), sorted.slice(0, limit))
      },
    ),
  )
})

test('neighbours take no look along the keys, and distant ones few', () => {
  const { found, looks } = heightsOf(Array.from({ length: 2_000 }, (_, index) => 10 + index))
  const descending = found.each(slot, 10, 2_009, true)
  assert.equal([...descending].length, 2_000)
  assert.deepEqual(looks, [])
  const sparse = heightsOf(Array.from({ length: 2_000 }, (_, index) => 3 * index + 1))
  assert.equal([...sparse.found.each(slot, 0, 1e9, false)].length, 2_000)
  assert.deepEqual(sparse.looks, [16, 32, 64, 128, 256, 512, 512, 512])
})
