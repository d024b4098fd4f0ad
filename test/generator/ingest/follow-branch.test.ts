import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Comparison, lastCommonHeight } from '../../../src/generator/ingest/follow-branch.ts'

/** What is found of chains that are the same up to `common`, and with how many questions. */
async function find(
  range: { from: number; to: number },
  common: number,
  isSilent: (height: number) => boolean = () => false,
): Promise<[number | 'same' | 'unknown', number]> {
  let asked = 0
  const found = await lastCommonHeight(range, async (height): Promise<Comparison> => {
    asked++
    if (isSilent(height)) return 'unknown'
    return height <= common ? 'same' : 'different'
  })
  return [found, asked]
}

test('the last common height is found wherever the chains part', async () => {
  const heights = fc.record({ from: fc.nat(50), count: fc.integer({ min: 1, max: 300 }) })
  await fc.assert(
    fc.asyncProperty(heights, fc.nat(400), async ({ from, count }, common) => {
      const to = from + count - 1
      const [found] = await find({ from, to }, common)
      assert.equal(found, common >= to ? 'same' : Math.max(from - 1, common))
    }),
  )
})

test('a branch of one block costs two requests, one of 500 some twenty, in a million heights', async () => {
  const range = { from: 0, to: 999_999 }
  assert.deepEqual(await find(range, 999_998), [999_998, 2])
  const [found, asked] = await find(range, 999_499)
  assert.equal(found, 999_499)
  assert.ok(asked <= 20, `${asked} questions`)
})

test('chains without a common block part below the lowest', async () => {
  assert.deepEqual(await find({ from: 7, to: 7 }, 3), [6, 1])
  assert.equal((await find({ from: 7, to: 9 }, 3))[0], 6)
})

test('what a node does not return is unknown, never different', async (t) => {
  const range = { from: 1, to: 20 }
  await t.test('silence at its own head leaves the chains the same', async () => {
    assert.deepEqual(await find(range, 20, (height) => height === 20), ['same', 2])
  })
  await t.test('silence at every height leaves the common one unknown', async () => {
    assert.equal((await find(range, 20, () => true))[0], 'unknown')
  })
  await t.test(
    'silence at the lowest height leaves it unknown where all others differ',
    async () => {
      assert.equal((await find(range, 0, (height) => height === 1))[0], 'unknown')
    },
  )
  await t.test(
    'silence between the last common and the first different height leaves it unknown',
    async () => {
      assert.equal((await find(range, 15, (height) => height === 16))[0], 'unknown')
    },
  )
  await t.test('no height is called common above one that differs', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(21), fc.array(fc.nat(20)), async (common, silent) => {
        const [found] = await find(range, common, (height) => silent.includes(height))
        if (typeof found === 'number') assert.equal(found, common)
        if (found === 'same') assert.ok(common >= 1)
      }),
    )
  })
})
