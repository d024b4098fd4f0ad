import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxObjectBytes, maxRowComparisons } from '../../../src/graphql/budget/limits.ts'
import { chargeVersion } from '../../../src/graphql/plan/version-cost.ts'
import { createTestBudget } from '../support/graphql-room.ts'

const fields = (...names: readonly string[]) =>
  names.map((name) => ({ key: name, name, fields: [] }))

test('each CID of a version takes 32 comparisons, and one more for every 64 bytes begun', () => {
  for (const [bytes, comparisons] of [
    [0, 32],
    [1, 33],
    [64, 33],
    [65, 34],
  ] as const) {
    const budget = createTestBudget()
    budget.countComparisons(maxRowComparisons - 2 * comparisons)
    chargeVersion(budget, fields('cid', 'height', 'cid'), bytes)
    assert.throws(() => budget.countComparisons(1), /A single row, with what hangs on it/)
  }
})

test('each delta of a version is as large as the document', () => {
  const half = maxObjectBytes / 2
  chargeVersion(createTestBudget(), fields('delta', 'cid', 'delta'), half)
  assert.throws(
    () => chargeVersion(createTestBudget(), fields('delta', 'delta'), half + 1),
    /One object of the answer is larger/,
  )
})
