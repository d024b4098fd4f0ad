import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRetryDelay } from '../../src/service/retry-delay.ts'

test('pauses double up to the longest, less a chance of half, and begin again after a success', () => {
  const pauses = createRetryDelay({ minMs: 100, maxMs: 400 })
  const expectWithin = (bounds: readonly number[]): void => {
    for (const bound of bounds) {
      const pauseMs = pauses.nextMs()
      assert.ok(pauseMs >= bound / 2 && pauseMs <= bound, `${pauseMs} of ${bound}`)
    }
  }
  expectWithin([100, 200, 400, 400])
  pauses.reset()
  expectWithin([100, 200])
})
