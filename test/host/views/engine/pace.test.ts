import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createPace, mostJobs } from '../../../../src/host/views/engine/pace.ts'

describe('the pace of a View', () => {
  it('has larger jobs while blocks cost little, up to 64', () => {
    const pace = createPace(() => 0)
    const sizes = Array.from({ length: 6 }, () => {
      const asked = pace.batch()
      pace.ran({ asked, seen: asked, processorMs: asked * 0.1 })
      return asked
    })
    assert.deepEqual(sizes, [4, 8, 16, 32, 64, 64])
  })

  it('has as many blocks in a job as there was time for, and one after a failure', () => {
    const pace = createPace(() => 0)
    pace.ran({ asked: 4, seen: 3, processorMs: 3 })
    assert.equal(pace.batch(), 3)
    pace.ran({ asked: 3, seen: 3, processorMs: 60 })
    assert.equal(pace.batch(), 2)
    pace.alone()
    assert.equal(pace.batch(), 1)
    pace.ran({ asked: 1, seen: 0, processorMs: 5_000 })
    assert.equal(pace.batch(), 1)
    pace.ran({ asked: 1, seen: 1, processorMs: 1 })
    assert.equal(pace.batch(), 2)
  })

  it('has as many blocks in a job as take 40 ms, and one that takes longer', () => {
    const batchAt = (processorMs: number): number => {
      const pace = createPace(() => 0)
      pace.ran({ asked: 64, seen: 64, processorMs: 0 })
      for (let time = 0; time < 4; time++) pace.ran({ asked: 8, seen: 8, processorMs: 0 })
      pace.ran({ asked: 8, seen: 8, processorMs: 8 * processorMs })
      return pace.batch()
    }
    assert.deepEqual(
      [0, 0.625, 0.8, 1, 3, 20, 21, 40, 1_000].map(batchAt),
      [64, 64, 50, 40, 13, 2, 1, 1, 1],
    )
  })

  it('is the blocks of the last ten seconds, and none before the first', () => {
    let nowMs = 0
    const pace = createPace(() => nowMs)
    assert.equal(pace.perSecond(), null)
    assert.equal(pace.costMs(), null)
    pace.done(10)
    assert.equal(pace.perSecond(), 10)
    nowMs = 1_000
    assert.equal(pace.perSecond(), 10)
    nowMs = 5_000
    pace.done(20)
    assert.equal(pace.perSecond(), 6)
    nowMs = 9_999
    assert.equal(pace.perSecond(), 30 / 9.999)
    nowMs = 10_000
    assert.equal(pace.perSecond(), 4)
    nowMs = 14_000
    assert.equal(pace.perSecond(), 20 / 9)
    pace.done(7)
    assert.equal(pace.perSecond(), 3)
    nowMs = 24_000
    assert.equal(pace.perSecond(), null)
  })

  it('has a cost that is moved a fifth of the way by each job', () => {
    const pace = createPace(() => 0)
    const costs = [
      { asked: 4, seen: 4, processorMs: 40 },
      { asked: 4, seen: 2, processorMs: 40 },
      { asked: 1, seen: 0, processorMs: 2 },
    ].map((job) => {
      pace.ran(job)
      return pace.costMs()
    })
    assert.deepEqual(costs, [10, 12, 10])
  })
})

describe('the jobs of a View', () => {
  it('are one before it has shown that it computes blocks, then two, and three for new blocks', () => {
    const jobs = (costMs: number | null) =>
      (['live', 'backfill'] as const).map((priority) =>
        mostJobs({ costMs: () => costMs }, { priority }),
      )
    assert.deepEqual(
      [jobs(null), jobs(0), jobs(9)],
      [
        [1, 1],
        [3, 2],
        [3, 2],
      ],
    )
  })
})
