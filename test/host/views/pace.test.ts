import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createPace } from '../../../src/host/views/pace.ts'

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
  })

  it('is the blocks of the last ten seconds, and none before the first', () => {
    let nowMs = 0
    const pace = createPace(() => nowMs)
    assert.equal(pace.perSecond(), null)
    assert.equal(pace.costMs(), null)
    pace.done(10)
    nowMs = 5_000
    pace.done(20)
    assert.equal(pace.perSecond(), 6)
    nowMs = 14_000
    assert.equal(pace.perSecond(), 20 / 9)
    nowMs = 20_000
    assert.equal(pace.perSecond(), null)
  })
})
