import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createResyncInterval } from '../../../../operator/reconcile/fetch/resync-interval.ts'

test('up to twelve resources are reconciled again every five seconds, more of them in turns', () => {
  const intervalOf = (count: number): number =>
    createResyncInterval(5_000, () => count).intervalMs('Host apps/a')
  assert.deepEqual([1, 12, 25, 1_000].map(intervalOf), [5_000, 5_000, 10_000, 400_000])
})

test('a resource that waits for a Secret has its turn often among a thousand, unless all wait', () => {
  const resync = createResyncInterval(5_000, () => 1_000)
  resync.beginWaiting('Host apps/a')
  assert.equal(resync.intervalMs('Host apps/a'), 5_000)
  assert.equal(resync.intervalMs('Host apps/b'), 400_000)
  for (let number = 0; number < 999; number += 1) resync.beginWaiting(`Host apps/b${number}`)
  assert.equal(resync.intervalMs('Host apps/a'), 400_000)
  for (let number = 0; number < 999; number += 1) resync.endWaiting(`Host apps/b${number}`)
  assert.equal(resync.intervalMs('Host apps/a'), 5_000)
})
