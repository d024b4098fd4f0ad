import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contradictions, type OperatorSettings } from '../../operator/settings.ts'

/** How many things are wrong with these times of the Lease. */
function problems(leaseMs: number, renewDeadlineMs: number, retryMs: number): number {
  return contradictions({ leaseMs, renewDeadlineMs, retryMs } as OperatorSettings).length
}

test('a leader stops to write before others begin, and has two attempts to renew until then', () => {
  assert.equal(problems(10_001, 10_000, 5_000), 0)
  assert.equal(problems(10_000, 10_000, 5_000), 1)
  assert.equal(problems(10_001, 10_000, 5_001), 1)
  assert.equal(problems(9_999, 10_000, 5_001), 2)
})
