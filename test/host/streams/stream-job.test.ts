import assert from 'node:assert/strict'
import { test } from 'node:test'
import { streamLimits, streamMemoryBytes } from '../../../src/host/streams/stream-job.ts'

const mebibyte = 1024 * 1024

test('the process of a stream has 512 MiB, of which its lenses take a quarter at most', () => {
  assert.equal(streamMemoryBytes, 512 * mebibyte)
  assert.equal(streamLimits.lenses.memoryBytes, streamMemoryBytes / 4)
})
