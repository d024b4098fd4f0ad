/** What counts as executed, of what V8 reports. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { executedStretches, isExecuted } from './coverage.ts'

test('the smallest range around a place says whether it was executed', () => {
  const stretches = executedStretches([
    { startOffset: 0, endOffset: 100, count: 1 },
    { startOffset: 20, endOffset: 60, count: 0 },
    { startOffset: 30, endOffset: 40, count: 2 },
    { startOffset: 80, endOffset: 90, count: 0 },
  ])
  assert.deepEqual(stretches, [
    [0, 20],
    [30, 40],
    [60, 80],
    [90, 100],
  ])
  const coverage = { 'src/x.ts': stretches.flat() }
  const executed = [0, 19, 20, 30, 59, 60, 99, 100].map((at) =>
    isExecuted(coverage, 'src/x.ts', at),
  )
  assert.deepEqual(executed, [true, true, false, true, false, true, true, false])
  assert.equal(isExecuted(coverage, 'src/y.ts', 0), false)
})
