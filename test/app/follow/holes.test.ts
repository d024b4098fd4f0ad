/** Heights that are missing of a View: which they are, and that what is stored around them stays. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FollowerState, Hole } from '../../../src/app/follow/follow-state.ts'
import { firstMissing, lowestWanted } from '../../../src/app/follow/storing.ts'
import type { KnownView } from '../../../src/app/followed-views.ts'
import {
  hostA,
  hostB,
  letWait,
  type OpenedState,
  openState,
  settle,
  sign,
  storedHashes,
} from '../support/follower-state.ts'
import { madeBlocks } from '../support/follower-stream.ts'
import { createMadeChain, type MadeBlock, madeView, otherView } from '../support/made-chain.ts'

const hole = { from: 3, to: 5 }

function viewOf({ parts }: FollowerState, id: string = madeView): KnownView {
  return parts.views.find(id) ?? assert.fail('it is not known')
}

/** Stores blocks with rows of a View. */
async function put(
  { blocks, parts }: FollowerState,
  list: readonly MadeBlock[],
  view = madeView,
): Promise<void> {
  const known = parts.views.find(view) ?? assert.fail('it is not known')
  const pending = list.map((block) => ({ ...block, sinceMs: 0 }))
  await blocks.put(known, pending, null, { seals: () => [], excerpts: () => [] })
}

/** Fills the hole; of these heights rows are stored. */
async function openFilling(
  t: TestContext,
  heights: readonly number[],
  options: Partial<FollowerState['options']> = {},
): Promise<OpenedState & { readonly blocks: readonly MadeBlock[] }> {
  const opened = await openState(t, { hole, ...options })
  const blocks = madeBlocks(9)
  for (const number of heights) await put(opened.state, blocks.slice(number, number + 1))
  return { ...opened, blocks }
}

test('the first missing height is the lowest of a hole that has no rows and was not passed', async (t) => {
  const { state, blocks } = await openFilling(t, [2, 4, 6])
  const first = (given: Hole = hole): number => firstMissing(state, viewOf(state), given)
  assert.deepEqual([first(), first({ from: 2, to: 5 }), first({ from: 4, to: 5 })], [3, 3, 5])
  state.passed.add(3)
  assert.equal(first(), 5)
  state.passed.add(5)
  assert.equal(first(), 6)
  assert.equal(firstMissing(state, viewOf(state, otherView), { from: 7, to: 8 }), 7)
  await put(state, blocks.slice(7, 8), otherView)
  assert.equal(firstMissing(state, viewOf(state, otherView), { from: 7, to: 8 }), 8)
})

test('heights below those that are followed, or that are kept, are not missing', async (t) => {
  const { state } = await openFilling(t, [6, 7, 8], { from: 4 })
  assert.equal(lowestWanted(state), 4)
  assert.equal(firstMissing(state, viewOf(state), hole), 4)
  await state.parts.store.pruneRowsBelow(7)
  assert.equal(lowestWanted(state), 7)
})

test('what is sent of heights below a hole, or above it, is not stored', async (t) => {
  const { state, reported, blocks } = await openFilling(t, [])
  sign(state, hostA, blocks)
  for (const number of [2, 6]) {
    letWait(state, blocks.slice(number, number + 1), { base: blocks[number - 1] ?? null })
    await settle(state)
  }
  assert.deepEqual([reported, state.blocks.head()], [[], -1])
  letWait(state, blocks.slice(2, 4))
  await settle(state)
  letWait(state, blocks.slice(5, 6), { base: blocks[4] ?? null })
  await settle(state)
  assert.deepEqual(reported, ['height 3', 'height 5'])
})

test('a height of a hole that has rows already, or is followed no more, is passed over', async (t) => {
  for (const { heights, from } of [
    { heights: [4], from: 0 },
    { heights: [], from: 5 },
  ]) {
    const { state, reported, blocks } = await openFilling(t, heights, { from })
    letWait(state, blocks.slice(4, 6), { base: blocks[3] ?? null })
    sign(state, hostA, blocks)
    await settle(state)
    assert.deepEqual(reported, ['height 5'])
  }
})

test('rows come in the place of a failure, and what failed again is not asked for twice', async (t) => {
  const { state, reported, blocks } = await openFilling(t, [])
  const [three, four, five] = blocks.slice(3)
  assert.ok(three && four && five)
  for (const block of [three, four])
    await state.blocks.putFailure(viewOf(state), { ...block, sinceMs: 0 }, 'it failed before')
  letWait(state, [{ ...three, rows: null }, four], { base: blocks[2] ?? null, sinceMs: -1_000_000 })
  sign(state, hostA, [four])
  await settle(state)
  assert.deepEqual(reported, ['height 4'])
  assert.deepEqual(state.passed, new Set([3]))
  const isDone = (number: number): boolean => state.blocks.hasRows(viewOf(state), number)
  assert.deepEqual([3, 4].map(isDone), [false, true])
  assert.equal(firstMissing(state, viewOf(state), hole), 5)
})

test('what is stored stays where another branch would fill a hole', async (t) => {
  const chain = createMadeChain()
  chain.grow(6)
  const stored = chain.blocks()
  chain.reorganise(3)
  for (const number of [2, 3, 6]) {
    const { state, reported } = await openState(t, { hole })
    await put(state, number === 6 ? madeBlocks(1, 6) : stored.slice(number, number + 1), otherView)
    const before = storedHashes(state)
    letWait(state, chain.blocks().slice(3, 6), { base: chain.blocks()[2] ?? null })
    sign(state, hostA, chain.blocks())
    await settle(state)
    const isSame = number === 2
    assert.deepEqual(reported, isSame ? ['height 3', 'height 4', 'height 5'] : [])
    if (!isSame) assert.deepEqual(storedHashes(state), before)
    assert.deepEqual(state.differing.get(madeView), [])
  }
})

test('a block that fits below what is stored above a hole fills it', async (t) => {
  const { state, reported, blocks } = await openFilling(t, [2, 6])
  letWait(state, blocks.slice(3, 6))
  sign(state, hostA, blocks)
  await settle(state)
  assert.deepEqual(reported, ['height 3', 'height 4', 'height 5'])
})

test('what is signed of a hole is kept, though the Host that feeds sends what is above', async (t) => {
  const { state, blocks } = await openFilling(t, [2, 6])
  letWait(state, blocks.slice(6, 7))
  sign(state, hostB, blocks)
  await settle(state)
  assert.deepEqual(
    [1, 2, 3, 4].map((height) => state.votes.signers(madeView, height, height).length),
    [0, 0, 1, 1],
  )
})
