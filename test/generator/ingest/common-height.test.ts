import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findCommonHeight } from '../../../src/generator/ingest/common-height.ts'

async function find(heights: number[], common: number): Promise<[number | null, number]> {
  let asked = 0
  const found = await findCommonHeight(heights, async (height) => {
    asked++
    return height <= common
  })
  return [found, asked]
}

test('the last common height is found wherever the chains part', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 300 }), fc.nat(320), async (count, common) => {
      const heights = Array.from({ length: count }, (_, index) => index + 10)
      const [found] = await find(heights, common)
      assert.equal(found, heights.findLast((height) => height <= common) ?? null)
    }),
  )
})

test('a branch of one block costs two questions, one of 500 blocks some twenty', async () => {
  const heights = Array.from({ length: 1_000 }, (_, index) => index)
  assert.deepEqual(await find(heights, 998), [998, 2])
  const [found, asked] = await find(heights, 499)
  assert.equal(found, 499)
  assert.ok(asked <= 20, `${asked} questions`)
})

test('nothing is common to chains that never met, or to an empty list', async () => {
  assert.equal((await find([1, 2, 3], 0))[0], null)
  assert.deepEqual(await find([], 5), [null, 0])
})
