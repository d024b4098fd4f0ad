import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  backlogOf,
  isLagging,
  newHeights,
  nextWork,
  stateName,
  toJob,
  type WorkFacts,
} from '../../../../src/host/views/engine/view-work.ts'
import { eachHeight, toHeightRanges } from '../../../../src/primitives/height-ranges.ts'
import { opaqueBlock } from '../../../support/chain/opaque-blocks.ts'
import { openTestStore } from '../../../support/test-store.ts'

const facts = (more: Partial<WorkFacts> = {}): WorkFacts => ({
  visible: [[1, 100]],
  settled: [],
  underWay: [],
  suspects: [],
  due: [],
  liveAbove: 90,
  ...more,
})

describe('the next blocks of a View', () => {
  it('are new ones in the order of the chain, then the newest of the others', () => {
    assert.deepEqual(nextWork(facts(), 4), { priority: 'live', heights: [91, 92, 93, 94] })
    const later = facts({ settled: [[89, 100]], underWay: [[87, 88]] })
    assert.deepEqual(nextWork(later, 3), { priority: 'backfill', heights: [86, 85, 84] })
    assert.equal(nextWork(facts({ settled: [[1, 100]] }), 3), null)
  })

  it('are back-filled in turn with others where too many new ones wait', () => {
    const behind = facts({ liveAbove: 83 })
    assert.ok(isLagging(backlogOf(behind)))
    assert.deepEqual(nextWork(behind, 2), { priority: 'backfill', heights: [100, 99] })
    const close = facts({ liveAbove: 84 })
    assert.ok(!isLagging(backlogOf(close)))
    assert.equal(nextWork(close, 1)?.priority, 'live')
  })

  it('are suspects first, each alone, so that new ones do not keep from knowing which one fails', () => {
    const suspects = [
      [30, 31],
      [95, 96],
    ] as const
    const next = (more: Partial<WorkFacts>) => nextWork(facts({ suspects, ...more }), 4)
    assert.deepEqual(next({}), { priority: 'live', heights: [96] })
    assert.deepEqual(next({ settled: [[95, 96]] }), { priority: 'backfill', heights: [31] })
    assert.deepEqual(next({ liveAbove: 80 }), { priority: 'backfill', heights: [96] })
    const underWay = [
      [30, 30],
      [95, 96],
    ] as const
    assert.deepEqual(next({ settled: [[31, 31]], underWay }), {
      priority: 'live',
      heights: [91, 92, 93, 94],
    })
  })

  it('are those that failed before after new ones, each alone, and before the others', () => {
    const due = [
      [30, 31],
      [92, 92],
    ] as const
    const next = (more: Partial<WorkFacts>) => nextWork(facts({ due, ...more }), 4)
    assert.deepEqual(next({}), { priority: 'live', heights: [91, 93, 94, 95] })
    const settled = [
      [91, 91],
      [93, 100],
    ] as const
    assert.deepEqual(next({ settled }), { priority: 'backfill', heights: [92] })
    assert.deepEqual(next({ settled: [[91, 100]] }), { priority: 'backfill', heights: [31] })
    assert.deepEqual(next({ settled: [[91, 100]], underWay: due }), {
      priority: 'backfill',
      heights: [90, 89, 88, 87],
    })
  })

  it('are stored, not settled and not under way, those that may fail alone', () => {
    const heights = fc.array(fc.nat(60)).map(toHeightRanges)
    const any = fc.record({
      visible: heights,
      settled: heights,
      underWay: heights,
      suspects: heights,
      due: heights,
      liveAbove: fc.integer({ min: -1, max: 60 }),
    })
    fc.assert(
      fc.property(any, fc.integer({ min: 1, max: 20 }), (some, limit) => {
        const [settled, underWay, suspects, due] = [
          some.settled,
          some.underWay,
          some.suspects,
          some.due,
        ].map((ranges) => new Set(eachHeight(ranges)))
        const left = [...eachHeight(some.visible)].filter((each) => !settled?.has(each))
        const free = left.filter((each) => !underWay?.has(each)).reverse()
        const live = free.filter((each) => each > some.liveAbove)
        const next = nextWork(some, limit)?.heights ?? []
        assert.ok(next.length <= limit && new Set(next).size === next.length)
        assert.ok(next.every((each) => free.includes(each)))
        assert.equal(next.length === 0, free.length === 0)
        if (next.length > 1) assert.ok(!next.some((each) => suspects?.has(each) || due?.has(each)))
        assert.deepEqual(newHeights(some), live.slice(0, 16))
        const liveLeft = left.filter((each) => each > some.liveAbove).length
        const backlog = { live: liveLeft, backfill: left.length - liveLeft }
        assert.deepEqual(backlogOf(some), backlog)
      }),
    )
  })
})

describe('a job', () => {
  it('of one block notes which block that is, where one is stored there', async (t) => {
    const store = await openTestStore(t)
    for (const height of [4, 5]) await store.putBlock(opaqueBlock(height))
    const onlyOf = (...heights: number[]) =>
      store.reader.read((snapshot) => toJob(snapshot, { priority: 'live', heights }))
    const { hash: blockHash, root: documentsRoot } = opaqueBlock(5).header
    const only = { height: 5, blockHash, documentsRoot }
    assert.deepEqual(onlyOf(5), { priority: 'live', heights: [5], only })
    assert.deepEqual(onlyOf(5, 4), { priority: 'live', heights: [5, 4], only: null })
    assert.deepEqual(onlyOf(6), { priority: 'live', heights: [6], only: null })
  })
})

describe('what a View is called', () => {
  const named = (more: Partial<Parameters<typeof stateName>[0]> = {}): string =>
    stateName({
      isQuarantined: false,
      isWaiting: false,
      isAnyDone: true,
      backlog: { live: 0, backfill: 0 },
      blocksFailed: 0,
      ...more,
    })

  it('is the worst that is so of it', () => {
    const worse: Parameters<typeof named>[0][] = [
      { blocksFailed: 1 },
      { backlog: { live: 0, backfill: 1 } },
      { backlog: { live: 17, backfill: 1 } },
      { isWaiting: true },
      { isQuarantined: true },
    ]
    const names = worse.map((_, index) => named(Object.assign({}, ...worse.slice(0, index + 1))))
    assert.deepEqual(names, ['failed', 'backfilling', 'lagging', 'waiting', 'quarantined'])
  })

  it('is failed while blocks failed and none went well, however many wait', () => {
    const nothing = { isAnyDone: false, blocksFailed: 1 }
    assert.equal(named({ ...nothing, backlog: { live: 17, backfill: 1 } }), 'failed')
    assert.equal(named({ ...nothing, backlog: { live: 0, backfill: 1 } }), 'failed')
    assert.equal(named({ isAnyDone: false, backlog: { live: 17, backfill: 1 } }), 'lagging')
    assert.equal(named({ ...nothing, isWaiting: true }), 'waiting')
    assert.equal(named({ ...nothing, isQuarantined: true }), 'quarantined')
  })

  it('is live while at most 16 new blocks wait, and lagging from the next', () => {
    assert.equal(named(), 'live')
    assert.equal(named({ backlog: { live: 16, backfill: 0 } }), 'live')
    assert.equal(named({ backlog: { live: 17, backfill: 0 } }), 'lagging')
  })
})
