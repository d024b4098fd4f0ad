import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createTopK } from '../../../src/graphql/scan/top-k.ts'
import { createTestBudget } from '../support/graphql-room.ts'

const compare = (a: number, b: number): number => a - b
const numbers = fc.array(fc.nat(50), { maxLength: 60, size: 'max' })
const capacities = fc.oneof(fc.nat(12), fc.constant(Number.POSITIVE_INFINITY))

test('the first items of an order are kept, and all others are dropped as soon as that is known', async () => {
  await fc.assert(
    fc.asyncProperty(numbers, capacities, async (items, capacity) => {
      const kept = createTopK(capacity, compare)
      let first: number[] = []
      for (const item of items) {
        const dropped = kept.add(item)
        const all = [...first, item].sort(compare)
        first = all.slice(0, capacity)
        assert.equal(dropped, all[capacity])
        assert.equal(kept.size, first.length)
      }
      assert.deepEqual(await kept.sorted(createTestBudget()), first)
    }),
    { numRuns: 300 },
  )
})
