import assert from 'node:assert/strict'
import { test } from 'node:test'
import { charge, isScanCheaper, lookupCost } from '../../../src/graphql/scan/lookup-cost.ts'
import { createTestBudget } from '../support/graphql-room.ts'

test('a lookup costs 6 documents, and 2 for each 64 blocks that it touches, up to 512 times', () => {
  for (const [from, to, spans] of [
    [0, 0, 1],
    [0, 63, 1],
    [64, 127, 1],
    [63, 64, 2],
    [0, 128, 3],
    [0, 64 * 512 - 1, 512],
    [0, 64 * 512, 512],
  ] as const)
    assert.equal(lookupCost([from, to]), 6 + 2 * spans, `${from} to ${to}`)
})

/** Blocks 1 and so on with so many documents; of which of them the number was read. */
function blocksOf(counts: readonly (number | undefined)[]) {
  const read: number[] = []
  const blocks = {
    *heights(from: number, to: number, descending: boolean) {
      assert.equal(descending, false)
      for (let height = from; height <= to; height++) yield height
    },
    header(height: number) {
      read.push(height)
      const count = counts[height - 1]
      return count === undefined ? undefined : { count }
    },
  }
  let yields = 0
  const budget = {
    ...createTestBudget(),
    shouldYield: () => true,
    yieldThread: async () => void yields++,
  }
  return { read, yields: () => yields, scan: { session: { budget }, blocks } as never }
}

test('a scan is cheaper where the blocks have fewer documents than lookups cost', async () => {
  for (const [counts, lookups, isCheaper, blocks] of [
    [[7, 0, 0], 1, true, 3],
    [[7, 1, 0], 1, false, 2],
    [[8, 8, 8], 1, false, 1],
    [[7, undefined, 8], 2, true, 3],
    [[7, undefined, 9], 2, false, 3],
    [[15, 0, 0, 99], 2, true, 3],
  ] as const) {
    const { read, scan } = blocksOf(counts)
    assert.equal(await isScanCheaper(scan, [1, 3], lookups), isCheaper, String(counts))
    assert.equal(read.length, blocks, 'no block behind the one that decides')
  }
})

test('other requests run while documents are counted, and after a lookup', async () => {
  const { scan, yields } = blocksOf([1, 1, 1])
  await isScanCheaper(scan, [1, 3], 1)
  assert.equal(yields(), 3)
  const { session } = scan as { session: Parameters<typeof charge>[0] }
  await charge(session, 5)
  assert.equal(yields(), 4)
  assert.equal(session.budget.usage().cost, 5)
})
