/** Over which heights votes are compared, so that nothing is left out for good. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { pageHeights, votePages } from '../../../src/host/sync/vote-pages.ts'

const cases: readonly {
  readonly name: string
  readonly range: readonly [number, number]
  readonly older: readonly [first: number, count: number]
  readonly expected: readonly (readonly [number, number])[]
}[] = [
  { name: 'few blocks are one page', range: [5, 20], older: [0, 15], expected: [[5, 20]] },
  {
    name: 'the newest page is always there, older ones follow downwards',
    range: [0, 3_000],
    older: [0, 15],
    expected: [
      [1_984, 3_000],
      [960, 1_983],
      [0, 959],
    ],
  },
  {
    name: 'one older page is asked for, that of its turn',
    range: [0, 3_000],
    older: [1, 1],
    expected: [
      [1_984, 3_000],
      [0, 959],
    ],
  },
  {
    name: 'after the oldest page the newest has its turn again',
    range: [0, 3_000],
    older: [2, 1],
    expected: [
      [1_984, 3_000],
      [960, 1_983],
    ],
  },
]

for (const { name, range, older, expected } of cases)
  test(name, () => {
    const pages = votePages({ from: range[0], to: range[1] }, { first: older[0], count: older[1] })
    assert.deepEqual(
      pages.map(({ from, to }) => [from, to]),
      expected,
    )
  })

test('one older page at a time covers every height, and no page is larger than a request may be', () => {
  fc.assert(
    fc.property(fc.nat(100_000), fc.nat(50_000), (from, length) => {
      const to = from + length
      const turns = Math.ceil(length / pageHeights) + 1
      const pages = Array.from({ length: turns }, (_, first) =>
        votePages({ from, to }, { first, count: 1 }),
      ).flat()
      assert.ok(pages.every((page) => page.to - page.from < pageHeights && page.from >= from))
      const sorted = [...new Map(pages.map((page) => [page.to, page.from]))].sort(
        ([a], [b]) => b - a,
      )
      let next = to
      for (const [top, bottom] of sorted) {
        assert.equal(top, next)
        next = bottom - 1
      }
      assert.equal(next, from - 1)
    }),
  )
})
