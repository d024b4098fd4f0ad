/** The blocks that a Host knows: what is stored, what is about to be, and the holes between. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKnownBlocks } from '../../../src/host/apply/known-blocks.ts'
import { createWaitingBlocks } from '../../../src/host/apply/waiting-blocks.ts'
import { createPendingWrites } from '../../../src/mesh/pending-writes.ts'
import { opaqueBlock } from '../../../test/support/chain/opaque-blocks.ts'
import { openTestStore } from '../../support/test-store.ts'

test('heights are stored through where neither end nor anything between is missing', async (t) => {
  const store = await openTestStore(t)
  for (const height of [1, 2, 3, 5, 6, 7]) await store.putSealedBlock(opaqueBlock(height))
  store.reader.read((snapshot) => {
    const known = createKnownBlocks({
      snapshot,
      pending: createPendingWrites(),
      waiting: createWaitingBlocks({ maxBlocks: 1, maxBytes: 1 }),
      book: { votes: () => new Map(), isSealedBy: () => false },
      isRoot: () => false,
      accepted: 0,
    })
    const spans: readonly (readonly [low: number, high: number, isWhole: boolean])[] = [
      ...[[1, 3, true] as const, [5, 7, true] as const, [3, 3, true] as const],
      ...[[1, 7, false] as const, [3, 5, false] as const, [2, 4, false] as const],
      ...[[4, 6, false] as const, [4, 4, false] as const],
      ...[[0, 2, false] as const, [6, 8, false] as const],
    ]
    for (const [low, high, isWhole] of spans)
      assert.equal(known.isStoredThrough(low, high), isWhole, `${low} to ${high}`)
  })
})
