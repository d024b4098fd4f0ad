import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLookPace } from '../../../operator/reconcile/look-pace.ts'

test('Secrets of up to twelve resources are looked at every five seconds, those of more in turns', () => {
  const intervalOf = (count: number): number =>
    createLookPace(() => count).intervalMs('Host apps/a')
  assert.deepEqual([1, 12, 25, 1_000].map(intervalOf), [5_000, 5_000, 10_000, 400_000])
})

test('who waits for a Secret is looked at often also among a thousand, unless all of them wait', () => {
  const pace = createLookPace(() => 1_000)
  pace.beginWaiting('Host apps/a')
  assert.equal(pace.intervalMs('Host apps/a'), 5_000)
  assert.equal(pace.intervalMs('Host apps/b'), 400_000)
  for (let number = 0; number < 999; number += 1) pace.beginWaiting(`Host apps/b${number}`)
  assert.equal(pace.intervalMs('Host apps/a'), 400_000)
  for (let number = 0; number < 999; number += 1) pace.endWaiting(`Host apps/b${number}`)
  assert.equal(pace.intervalMs('Host apps/a'), 5_000)
})
