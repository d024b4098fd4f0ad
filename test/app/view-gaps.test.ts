/** Which heights a View of an application lacks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appGaps } from '../../src/app/view-gaps.ts'
import { openState } from './support/follower-state.ts'
import { madeBlocks } from './support/follower-stream.ts'
import { madeView, otherView } from './support/made-chain.ts'

const proofs = { seals: () => [], excerpts: () => [] }

test('a View lacks what any View has from its own first height on, failed or not, and what went', async (t) => {
  const { state } = await openState(t)
  const { views, store } = state.parts
  const gapsOf = (id: string): unknown => {
    const { slot } = views.find(id) ?? assert.fail('it is known')
    return store.reader.read((snapshot) => appGaps.missingOf(snapshot, slot))
  }
  const nothing = { notDone: [], failed: [], lost: [] }
  assert.deepEqual(gapsOf(madeView), nothing)
  const [view, other] = [madeView, otherView].map((id) => views.find(id))
  assert.ok(view && other)
  const blocks = madeBlocks(9).map((block) => ({ ...block, sinceMs: 0 }))
  for (const block of blocks.slice(2)) await state.blocks.put(other, [block], null, proofs)
  assert.deepEqual(gapsOf(madeView), { ...nothing, notDone: [[2, 8]] })
  for (const block of [4, 5, 7].flatMap((number) => blocks[number] ?? []))
    await state.blocks.put(view, [block], null, proofs)
  const [failed] = blocks.slice(3)
  assert.ok(failed)
  await state.blocks.putFailure(view, failed, 'it failed')
  const missing = [
    [6, 6],
    [8, 8],
  ]
  assert.deepEqual(gapsOf(otherView), nothing)
  assert.deepEqual(gapsOf(madeView), { ...nothing, notDone: missing, failed: [[3, 3]] })
  await store.pruneRowsBelow(1)
  assert.deepEqual(gapsOf(otherView), { ...nothing, lost: [[0, 0]] })
  await store.pruneRowsBelow(5)
  assert.deepEqual(gapsOf(madeView), { ...nothing, notDone: missing, lost: [[0, 4]] })
  await store.putRecord('app/first', Buffer.from('2'))
  assert.deepEqual(gapsOf(madeView), { ...nothing, notDone: missing, lost: [[2, 4]] })
})
