import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  addHeights,
  clipHeights,
  countHeights,
  eachHeight,
  eachSpan,
  type HeightRange,
  type HeightRanges,
  hasHeight,
  heightGaps,
  intersectHeights,
  nearestHeight,
  rangeOfHeights,
  removeHeights,
  subtractHeights,
  toHeightRanges,
  uniteHeights,
} from '../../src/primitives/height-ranges.ts'

const height = fc.integer({ min: 0, max: 60 })
const steps = fc.array(
  fc.record({ isAdded: fc.boolean(), from: height, length: fc.integer({ min: 1, max: 9 }) }),
)

/** Ranges built step by step, beside a plain set that did the same. */
function build(list: { isAdded: boolean; from: number; length: number }[]): {
  ranges: HeightRanges
  model: Set<number>
} {
  let ranges: HeightRanges = []
  const model = new Set<number>()
  for (const { isAdded, from, length } of list) {
    const to = from + length - 1
    ranges = isAdded ? addHeights(ranges, from, to) : removeHeights(ranges, from, to)
    for (let each = from; each <= to; each++) isAdded ? model.add(each) : model.delete(each)
  }
  return { ranges, model }
}

const ascending = (model: Set<number>): number[] => [...model].sort((a, b) => a - b)

describe('height ranges', () => {
  it('hold exactly what was added and not removed, in either order', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const { ranges, model } = build(list)
        assert.deepEqual([...eachHeight(ranges)], ascending(model))
        assert.deepEqual([...eachHeight(ranges, true)], ascending(model).reverse())
        assert.equal(countHeights(ranges), model.size)
        for (let each = 0; each < 75; each++) assert.equal(hasHeight(ranges, each), model.has(each))
      }),
    )
  })

  it('never overlap or touch', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const { ranges } = build(list)
        for (const [index, [from, to]] of ranges.entries()) {
          assert.ok(from <= to)
          const next = ranges[index + 1]
          if (next !== undefined) assert.ok(to + 1 < next[0])
        }
      }),
    )
  })

  it('can be clipped, and know their gaps, as many as are asked for', () => {
    fc.assert(
      fc.property(steps, height, height, fc.nat(3), (list, from, to, limit) => {
        const { ranges, model } = build(list)
        const inside = ascending(model).filter((each) => each >= from && each <= to)
        assert.deepEqual([...eachHeight(clipHeights(ranges, from, to))], inside)
        const [low = 0, high = -1] = [ascending(model)[0], ascending(model).at(-1)]
        const missing = Array.from({ length: high - low + 1 }, (_, index) => low + index)
        const gaps = heightGaps(ranges, 100)
        assert.deepEqual(
          [...eachHeight(gaps)],
          missing.filter((each) => !model.has(each)),
        )
        assert.deepEqual(heightGaps(ranges, limit), gaps.slice(0, limit))
      }),
    )
  })

  it('unite, intersect, subtract and find the nearest height like plain sets', () => {
    const pairs = fc.array(fc.tuple(height, fc.integer({ min: -1, max: 8 })))
    const toRanges = (list: [number, number][]): HeightRange[] =>
      list.map(([from, length]) => [from, from + length])
    const heightsOf = (list: [number, number][]): Set<number> =>
      new Set(
        list.flatMap(([from, length]) => Array.from({ length: length + 1 }, (_, at) => from + at)),
      )
    fc.assert(
      fc.property(pairs, pairs, height, (one, other, each) => {
        const [a, b] = [uniteHeights(toRanges(one)), uniteHeights(toRanges(other))]
        const [inA, inB] = [heightsOf(one), heightsOf(other)]
        const all = ascending(new Set([...inA, ...inB]))
        assert.deepEqual([...eachHeight(uniteHeights([...b, ...a]))], all)
        assert.deepEqual(toHeightRanges(all.toReversed()), uniteHeights([...a, ...b]))
        const both = ascending(inA).filter((height) => inB.has(height))
        assert.deepEqual(intersectHeights(a, b), toHeightRanges(both))
        const aAlone = ascending(inA).filter((height) => !inB.has(height))
        assert.deepEqual(subtractHeights(a, b), toHeightRanges(aAlone))
        const above = ascending(inA).find((height) => height >= each) ?? null
        const below = ascending(inA).findLast((height) => height <= each) ?? null
        assert.deepEqual(
          [nearestHeight(a, each, false), nearestHeight(a, each, true)],
          [above, below],
        )
        const range = all.length === 0 ? null : { tail: all[0], head: all.at(-1) }
        assert.deepEqual(rangeOfHeights(uniteHeights([...a, ...b])), range)
      }),
    )
  })

  it('name each span they touch once', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const { ranges, model } = build(list)
        const spans = [...new Set(ascending(model).map((each) => Math.floor(each / 8)))]
        assert.deepEqual([...eachSpan(ranges, 8)], spans)
        assert.deepEqual([...eachSpan(ranges, 8, true)], spans.reverse())
      }),
    )
  })
})
