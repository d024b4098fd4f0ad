import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { lensMemoryBytes, lensThreadsOf } from '../../../src/compute/lens-resources.ts'
import { runLimits } from '../../../src/lens/program/run-limits.ts'

const mebibyte = 1024 * 1024

test('threads are one fewer than cores, from one to four, where the setting does not say', () => {
  const byCores = [1, 2, 4, 5, 15].map((cores) => lensThreadsOf(null, cores))
  assert.deepEqual(byCores, [1, 1, 3, 4, 4])
  assert.equal(lensThreadsOf(14, 2), 14)
})

describe('the memory of the lens process grows with its threads', () => {
  test('from 512 MiB for one', () => {
    assert.deepEqual([1, 4, 14].map(lensMemoryBytes), [
      512 * mebibyte,
      704 * mebibyte,
      1_344 * mebibyte,
    ])
  })

  test('so that idle threads, of 37 MB each as measured, leave room for a View', () => {
    for (let threads = 1; threads <= 64; threads += 1) {
      const idle = 95e6 + threads * 37e6
      assert.ok(idle < lensMemoryBytes(threads) * 0.75, 'no job begins above three quarters')
      assert.ok(idle + runLimits.memoryBytes < lensMemoryBytes(threads))
    }
  })
})
