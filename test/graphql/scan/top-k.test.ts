import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createTopK } from '../../../src/graphql/scan/top-k.ts'
import { createTestBudget } from '../support/graphql-room.ts'

interface Item {
  readonly key: number
}

const compare = (a: Item, b: Item): number => a.key - b.key
const anyItems = fc.array(fc.record({ key: fc.nat(50) }), { maxLength: 60, size: 'max' })
const capacities = fc.oneof(fc.nat(12), fc.constant(Number.POSITIVE_INFINITY))

test('the first items of an order are kept, and all others are dropped as soon as that is known', async () => {
  await fc.assert(
    fc.asyncProperty(anyItems, capacities, async (items, capacity) => {
      const kept = createTopK(capacity, compare)
      let first: Item[] = []
      for (const item of items) {
        const dropped = kept.add(item)
        const all = [...first, item].sort(compare)
        first = all.slice(0, capacity)
        assert.equal(dropped?.key, all[capacity]?.key)
        assert.equal(kept.size, first.length)
      }
      const sorted = await kept.sorted(createTestBudget())
      assert.deepEqual(
        sorted.map(({ key }) => key),
        first.map(({ key }) => key),
      )
    }),
    { numRuns: 300 },
  )
})
