import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startChild } from '../../../src/lens/process/child-process.ts'

test('the last 4,096 characters of a lens process are reported with how it ended', async () => {
  const { promise, resolve } = Promise.withResolvers<readonly [reason: string, output: string]>()
  const workerUrl = new URL('support/dying-worker.ts', import.meta.url)
  startChild(
    { workerUrl, data: null, threads: 1, environment: process.env },
    { onMessage: () => undefined, onExit: (...end) => resolve(end) },
  )
  const end = 'the end'
  assert.deepEqual(await promise, ['SIGKILL', 'x'.repeat(4_096 - end.length) + end])
})
