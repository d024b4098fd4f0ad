/** The places by which a Host finds where to go on with a View. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { followCursor } from '../../../src/app/follow/cursor.ts'
import { type HeightRanges, uniteHeights } from '../../../src/primitives/height-ranges.ts'
import { opaqueBlock } from '../../support/chain/opaque-blocks.ts'

type Done = Parameters<typeof followCursor>[0]

const { header } = opaqueBlock(0)

/** Views 7 that did these heights, and failed at those, of a store that has all their headers but some. */
function doneOf(
  ranges: HeightRanges,
  { failures = [] as HeightRanges, without = [] as readonly number[] } = {},
): Done {
  return {
    viewRanges: (slot) => (slot === 7 ? ranges : []),
    viewFailures: (slot) => (slot === 7 ? failures : []),
    rowBlocks: {
      header: (number) =>
        without.includes(number) ? undefined : { ...header, number, hash: `block ${number}` },
    },
  }
}

const heightsOf = (done: Done, below?: number): number[] =>
  followCursor(done, 7, below).map(({ number }) => number)

const countedDown = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => from - index)

test('a cursor names heights that a View did or failed at, newest first, by their hashes', () => {
  const done = doneOf(
    [
      [3, 4],
      [8, 8],
    ],
    {
      failures: [
        [5, 5],
        [9, 9],
      ],
    },
  )
  assert.deepEqual(
    followCursor(done, 7),
    [9, 8, 5, 4, 3].map((number) => ({ number, hash: `block ${number}` })),
  )
})

test('a cursor names nothing of a View of which nothing is done', () => {
  assert.deepEqual(followCursor(doneOf([[3, 4]]), 8), [])
})

test('a cursor names only what is below a height', () => {
  const done = doneOf([
    [0, 2],
    [6, 9],
  ])
  assert.deepEqual(
    [8, 7, 6, 1, 0].map((below) => heightsOf(done, below)),
    [[7, 6, 2, 1, 0], [6, 2, 1, 0], [2, 1, 0], [0], []],
  )
})

test('a cursor leaves out a height whose block is no longer there', () => {
  assert.deepEqual(heightsOf(doneOf([[3, 6]], { without: [6, 4] })), [5, 3])
})

test('a cursor names the 32 newest blocks, then one each about twice as far below', () => {
  const near = countedDown(1_000, 32)
  const far = [64, 130, 262, 526].map((newer) => 1_000 - newer)
  assert.deepEqual(heightsOf(doneOf([[0, 1_000]])), [...near, ...far])
  assert.deepEqual(heightsOf(doneOf([[937, 1_000]])), near)
  assert.deepEqual(heightsOf(doneOf([[936, 1_000]])), [...near, 936])
})

test('a cursor counts what a View did, not the heights that it lacks', () => {
  const done = doneOf([
    [0, 40],
    [5_000, 5_015],
    [9_000, 9_015],
  ])
  assert.deepEqual(heightsOf(done), [...countedDown(9_015, 16), ...countedDown(5_015, 16), 8])
})

test('a cursor of a View of any length is of at most 64 blocks', () => {
  const highest = 2 ** 50
  const heights = heightsOf(doneOf([[0, highest]]))
  assert.equal(heights.length, 64)
  assert.deepEqual(heights.slice(31, 34), [highest - 31, highest - 64, highest - 130])
})

const range = fc.tuple(fc.nat(300), fc.nat(50)).map(([from, more]) => [from, from + more] as const)

test('a cursor names the same places as counting the heights that are done one by one', () => {
  fc.assert(
    fc.property(fc.array(range), fc.nat(400), (ranges, below) => {
      const united = uniteHeights(ranges)
      const all = united
        .flatMap(([from, to]) => countedDown(to, to - from + 1))
        .filter((height) => height < below)
        .sort((a, b) => b - a)
      const places = [...all.slice(0, 32), ...[64, 130, 262].flatMap((at) => all[at] ?? [])]
      assert.deepEqual(heightsOf(doneOf(united), below), places)
    }),
  )
})
