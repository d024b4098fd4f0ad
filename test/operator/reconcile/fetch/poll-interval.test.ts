import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPollInterval } from '../../../../operator/reconcile/fetch/poll-interval.ts'

test('Secrets of up to twelve resources are polled every five seconds, those of more in turns', () => {
  const intervalOf = (count: number): number =>
    createPollInterval(() => count).intervalMs('Host apps/a')
  assert.deepEqual([1, 12, 25, 1_000].map(intervalOf), [5_000, 5_000, 10_000, 400_000])
})

test('a resource that waits for a Secret is polled often among a thousand, unless all wait', () => {
  const pollInterval = createPollInterval(() => 1_000)
  pollInterval.beginWaiting('Host apps/a')
  assert.equal(pollInterval.intervalMs('Host apps/a'), 5_000)
  assert.equal(pollInterval.intervalMs('Host apps/b'), 400_000)
  for (let number = 0; number < 999; number += 1) pollInterval.beginWaiting(`Host apps/b${number}`)
  assert.equal(pollInterval.intervalMs('Host apps/a'), 400_000)
  for (let number = 0; number < 999; number += 1) pollInterval.endWaiting(`Host apps/b${number}`)
  assert.equal(pollInterval.intervalMs('Host apps/a'), 5_000)
})
