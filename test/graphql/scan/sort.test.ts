import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sortInSlices } from '../../../src/graphql/scan/sort.ts'
import { createTestBudget } from '../support/graphql-room.ts'

interface Item {
  readonly key: number
  readonly place: number
}

const lengths = fc.oneof(fc.nat(20), fc.constantFrom(255, 256, 257, 512, 513, 700, 1_025))
const items = fc
  .tuple(lengths, fc.integer({ min: 1, max: 40 }), fc.nat())
  .map(([length, keys, seed]): readonly Item[] =>
    Array.from({ length }, (_, place) => ({ key: ((place + seed) * 7_919) % keys, place })),
  )
const byKey = (a: Item, b: Item): number => a.key - b.key

test('items of any number are sorted in a new array, equal ones in the order in which they came', async () => {
  await fc.assert(
    fc.asyncProperty(items, async (given) => {
      const before = [...given]
      assert.deepEqual(await sortInSlices(createTestBudget(), given, byKey), given.toSorted(byKey))
      assert.deepEqual(given, before)
    }),
    { numRuns: 60 },
  )
})

test('other requests run between runs of 256 items and between items that are merged', async () => {
  const yieldsOf = async (
    length: number,
    isDue: boolean,
  ): Promise<[runs: number, items: number]> => {
    const yields: [number, number] = [0, 0]
    const budget = {
      ...createTestBudget(),
      yieldIfDue: async () => void yields[0]++,
      shouldYield: () => isDue,
      yieldThread: async () => void yields[1]++,
    }
    await sortInSlices(budget, Array(length).fill(0), (a: number, b: number) => a - b)
    return yields
  }
  assert.deepEqual(await yieldsOf(256, true), [1, 0])
  assert.deepEqual(await yieldsOf(257, true), [2, 257])
  assert.deepEqual(await yieldsOf(600, true), [3, 2 * 600])
  assert.deepEqual(await yieldsOf(600, false), [3, 0])
})
