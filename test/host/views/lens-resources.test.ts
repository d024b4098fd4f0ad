import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { lensMemoryBytes, lensThreadsOf } from '../../../src/compute/lens-resources.ts'
import { runLimits } from '../../../src/lens/program/run-limits.ts'

const mebibyte = 1024 * 1024

const gibibyte = 1024 * mebibyte

test('threads are one fewer than cores, at least one, where the setting does not say', () => {
  const threads = [1, 2, 4, 5, 16, 64].map((cores) =>
    lensThreadsOf(null, { cores, memoryBytes: 64 * gibibyte }),
  )
  assert.deepEqual(threads, [1, 1, 3, 4, 15, 63])
})

test('threads take at most an eighth of the memory of a machine, 64 MiB each, unless set', () => {
  const threads = [0.25, 1, 2, 4, 8].map((gibibytes) =>
    lensThreadsOf(null, { cores: 64, memoryBytes: gibibytes * gibibyte }),
  )
  assert.deepEqual(threads, [1, 2, 4, 8, 16])
  assert.equal(lensThreadsOf(14, { cores: 2, memoryBytes: gibibyte }), 14)
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
