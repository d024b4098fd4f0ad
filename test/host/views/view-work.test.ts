import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  backlogOf,
  isLagging,
  nextWork,
  type WorkFacts,
} from '../../../src/host/views/view-work.ts'
import { eachHeight, toHeightRanges } from '../../../src/primitives/height-ranges.ts'

const facts = (more: Partial<WorkFacts> = {}): WorkFacts => ({
  visible: [[1, 100]],
  settled: [],
  underWay: [],
  liveAbove: 90,
  ...more,
})

describe('the next blocks of a View', () => {
  it('are new ones first, then the newest of the others', () => {
    assert.deepEqual(nextWork(facts(), 4), { priority: 'live', heights: [100, 99, 98, 97] })
    const later = facts({ settled: [[89, 100]], underWay: [[87, 88]] })
    assert.deepEqual(nextWork(later, 3), { priority: 'backfill', heights: [86, 85, 84] })
    assert.equal(nextWork(facts({ settled: [[1, 100]] }), 3), null)
  })

  it('are back-filled in turn with others where too many new ones wait', () => {
    const behind = facts({ liveAbove: 83 })
    assert.ok(isLagging(backlogOf(behind)))
    assert.equal(nextWork(behind, 1)?.priority, 'backfill')
    const close = facts({ liveAbove: 84 })
    assert.ok(!isLagging(backlogOf(close)))
    assert.equal(nextWork(close, 1)?.priority, 'live')
  })

  it('are stored, not settled and not under way, each once', () => {
    const heights = fc.array(fc.nat(60)).map(toHeightRanges)
    const any = fc.record({
      visible: heights,
      settled: heights,
      underWay: heights,
      liveAbove: fc.integer({ min: -1, max: 60 }),
    })
    fc.assert(
      fc.property(any, fc.integer({ min: 1, max: 20 }), (some, limit) => {
        const [settled, underWay] = [some.settled, some.underWay].map(
          (ranges) => new Set(eachHeight(ranges)),
        )
        const left = [...eachHeight(some.visible)].filter((each) => !settled?.has(each))
        const free = left.filter((each) => !underWay?.has(each)).reverse()
        const live = free.filter((each) => each > some.liveAbove)
        const expected = (live.length > 0 ? live : free).slice(0, limit)
        assert.deepEqual(nextWork(some, limit)?.heights ?? [], expected)
        const backlog = backlogOf(some)
        assert.equal(backlog.live + backlog.backfill, left.length)
      }),
    )
  })
})
