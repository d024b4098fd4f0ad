import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toEmptyBlocks } from '../../../../src/host/views/engine/empty-blocks.ts'
import { readVisible, visibleHeights } from '../../../../src/host/views/engine/visible-blocks.ts'
import { opaqueBlock } from '../../../support/chain/opaque-blocks.ts'
import { openTestStore } from '../../../support/test-store.ts'

describe('the heights of stored blocks', () => {
  it('are those between tail and head without the gaps', async (t) => {
    const store = await openTestStore(t)
    assert.deepEqual(store.reader.read(visibleHeights), [])
    for (const height of [3, 4, 6, 9, 10]) await store.putBlock(opaqueBlock(height))
    const expected = [
      [3, 4],
      [6, 6],
      [9, 10],
    ]
    assert.deepEqual(store.reader.read(visibleHeights), expected)
  })
})

describe('what was reported of new blocks', () => {
  it('counts for a View where it was done with all of them, in the same epoch', async (t) => {
    const store = await openTestStore(t, null)
    for (let height = 1; height <= 3; height++) await store.putBlock(opaqueBlock(height))
    const doneSince = (...reported: [height: number, epoch: number, ...slots: number[]][]) =>
      store.reader.read((snapshot) => {
        const done = reported.map(([height, epoch, ...slots]) => ({ height, epoch, slots }))
        return [...readVisible(snapshot, done).since([[1, 1]]).done]
      })
    assert.deepEqual(doneSince([2, 0, 5, 6, 7], [3, 0, 7, 5]), [5, 7])
    assert.deepEqual(doneSince([2, 0, 5]), [])
    assert.deepEqual(doneSince([2, 0, 5], [4, 0, 5]), [])
    assert.deepEqual(doneSince([2, 0, 5], [3, 1, 5]), [])
  })

  it('counts for one new block as for several, and each View is given what came since its own', async (t) => {
    const store = await openTestStore(t, null)
    for (let height = 1; height <= 4; height++) await store.putBlock(opaqueBlock(height, 5))
    store.reader.read((snapshot) => {
      const reported = [[5, 6, 7], [5, 6], [5]].map((slots, index) => ({
        ...{ height: index + 2, epoch: snapshot.epoch },
        slots,
      }))
      const visible = readVisible(snapshot, reported)
      const sinceAll = [4, 3, 2, 1].map((head) => {
        const { heights, done } = visible.since([[1, head]])
        return [heights, [...done]]
      })
      assert.deepEqual(sinceAll, [
        [[], []],
        [[[4, 4]], [5]],
        [[[3, 4]], [5]],
        [[[2, 4]], [5]],
      ])
      const before = [[1, 3]] as const
      assert.equal(visible.since(before), visible.since(before))
    })
  })
})

describe('blocks that were found to be empty', () => {
  it('are reported with all Views that have no rows of them, where they are stored', async (t) => {
    const store = await openTestStore(t)
    for (const height of [3, 4, 5]) await store.putBlock(opaqueBlock(height))
    const found = [
      { slot: 1, heights: [5, 3, 9] },
      { slot: 2, heights: [4, 5] },
      { slot: 6, heights: [5] },
    ]
    const empty = store.reader.read((snapshot) => toEmptyBlocks(snapshot, found))
    const expected = [[5, 1, 2, 6] as const, [3, 1] as const, [4, 2] as const]
    assert.deepEqual(
      empty,
      expected.map(([height, ...slots]) => {
        const { hash: blockHash, root: documentsRoot } = opaqueBlock(height).header
        return { height, blockHash, documentsRoot, slots }
      }),
    )
  })
})
