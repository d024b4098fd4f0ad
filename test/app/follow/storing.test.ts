/** What is stored of the blocks that wait, what else is kept and reported with them, and what is forgotten then. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FollowerState, untilChanged } from '../../../src/app/follow/follow-state.ts'
import { firstMissing, leaving, wake } from '../../../src/app/follow/storing.ts'
import { notServedState, type WelcomedView } from '../../../src/follow/host-frames.ts'
import type { DigestSigner } from '../../../src/identity/signature.ts'
import { decodeStatementExcerpt } from '../../../src/row-votes/statement-excerpt.ts'
import { signSeal, testSigner } from '../../support/chain/sealed-blocks.ts'
import { testNetwork } from '../../support/p2p-room.ts'
import {
  hostA,
  hostB,
  letWait,
  openState,
  settle,
  sign,
  storedHashes,
} from '../support/follower-state.ts'
import { madeBlocks } from '../support/follower-stream.ts'
import { createMadeChain, type MadeBlock, madeView, otherView } from '../support/made-chain.ts'
import { madeExcerpt } from '../support/made-host.ts'
import { clockOf } from '../support/test-clock.ts'

const hashes = (blocks: readonly MadeBlock[]): readonly string[] => blocks.map(({ hash }) => hash)

function blockAt(blocks: readonly MadeBlock[], index: number): MadeBlock {
  return blocks[index] ?? assert.fail(`there is no block ${index}`)
}

/** Lets a Host sign blocks that wait, and stores them. */
async function store(state: FollowerState, blocks: readonly MadeBlock[]): Promise<void> {
  letWait(state, blocks)
  sign(state, hostA, blocks)
  await settle(state)
}

test('blocks that have their votes are stored and reported, and wait no longer', async (t) => {
  const { state, reported } = await openState(t)
  const blocks = madeBlocks(3)
  letWait(state, blocks)
  sign(state, hostA, blocks.slice(0, 2))
  await settle(state)
  assert.deepEqual(storedHashes(state), hashes(blocks.slice(0, 2)))
  assert.deepEqual(reported, ['height 0', 'height 1'])
  assert.deepEqual(
    state.pending
      .get(madeView)
      ?.list()
      .map(({ number }) => number),
    [2],
  )
})

test('what comes while something is being stored is checked afterwards', async (t) => {
  const blocked = Promise.withResolvers<void>()
  const { state } = await openState(t, {}, ({ inTurn }) => ({
    inTurn: async (change) => {
      await blocked.promise
      return await inTurn(change)
    },
  }))
  wake(state)
  const [block] = madeBlocks(1)
  assert.ok(block)
  letWait(state, [block])
  sign(state, hostA, [block])
  const settled = settle(state)
  blocked.resolve()
  await settled
  assert.deepEqual(storedHashes(state), [block.hash])
})

test('what waits is checked by one at a time, however often something changes', async (t) => {
  let [active, most] = [0, 0]
  const { state } = await openState(t, {}, ({ inTurn }) => ({
    inTurn: (change) => {
      active += 1
      most = Math.max(most, active)
      return inTurn(change).finally(() => {
        active -= 1
      })
    },
  }))
  wake(state)
  wake(state)
  await settle(state)
  assert.equal(most, 1)
})

test('a stream that waits for room checks again whenever something changes', async (t) => {
  const { state } = await openState(t)
  let hasRoom = false
  const { signal } = new AbortController()
  const waiting = untilChanged(state, { signal }, () => hasRoom)
  hasRoom = true
  wake(state)
  assert.equal(await waiting, true)
})

test('a store that fails is reported once, and nothing is followed any more', async (t) => {
  const failed = new Error('the disk is full')
  const failures: unknown[] = []
  const { state } = await openState(t, {}, () => ({
    inTurn: () => Promise.reject(failed),
    onFatal: (error) => void failures.push(error),
  }))
  let isWoken = false
  state.waiting.push(() => {
    isWoken = true
  })
  await settle(state)
  wake(state)
  assert.deepEqual([failures, state.isClosed, state.running, isWoken], [[failed], true, null, true])
})

test('what fails since everything is being closed is not reported', async (t) => {
  const failures: unknown[] = []
  const { state } = await openState(t, {}, () => ({
    inTurn: () => {
      state.isClosed = true
      return Promise.reject(new Error('the store is closed'))
    },
    onFatal: (error) => void failures.push(error),
  }))
  await settle(state)
  assert.deepEqual(failures, [])
})

test('nothing more is stored once it is closed, though it has its votes', async (t) => {
  const { state, reported } = await openState(t, {}, (parts) => ({
    onHeight: (view, number) => {
      parts.onHeight(view, number)
      state.isClosed = true
    },
  }))
  for (const view of [madeView, otherView]) {
    letWait(state, madeBlocks(1), { view })
    sign(state, hostA, madeBlocks(1), view)
  }
  await settle(state)
  assert.deepEqual(reported, ['height 0'])
})

test('Hosts that signed other rows of what waits are known until it is stored', async (t) => {
  const { state } = await openState(t, { minimumHosts: 1 })
  const [block, other] = madeBlocks(2)
  assert.ok(block && other)
  letWait(state, [block])
  sign(state, hostB, [{ ...block, rows: other.rows }])
  await settle(state)
  assert.deepEqual(state.differing.get(madeView), [hostB.identity])
  sign(state, hostA, [block])
  await settle(state)
  assert.deepEqual(state.differing.get(madeView), [])
})

test('what Hosts say themselves of a block is known of them once it is stored', async (t) => {
  const { state } = await openState(t)
  const chain = createMadeChain()
  chain.grow(3)
  const blocks = chain.blocks()
  chain.reorganise(1)
  const other = blockAt(chain.blocks(), 2)
  for (const { identity } of [hostA, hostB]) state.reported.prove(identity, identity, -1)
  sign(state, hostB, [...blocks.slice(0, 2), other])
  await store(state, blocks)
  const reportedBy = ({ identity }: DigestSigner): number | undefined =>
    state.reported.of(identity)?.to
  assert.deepEqual([reportedBy(hostA), reportedBy(hostB)], [2, 1])
  assert.equal(state.left.leftAbove(hostA.identity), Infinity)
  assert.equal(state.left.leftAbove(hostB.identity), 1)
})

test('what was removed for another branch is reported first, and is left by nobody any more', async (t) => {
  const { state, reported } = await openState(t)
  const chain = createMadeChain()
  chain.grow(4)
  const { identity } = hostB
  state.reported.prove(identity, identity, -1)
  await store(state, chain.blocks())
  state.left.have(identity, 3)
  state.left.leave(hostA.identity, 1, 3)
  chain.reorganise(2)
  const [, , ...branch] = chain.blocks()
  letWait(state, branch, { base: blockAt(chain.blocks(), 1) })
  sign(state, hostA, branch)
  await settle(state)
  assert.deepEqual(storedHashes(state), hashes(chain.blocks()))
  assert.deepEqual(reported.slice(4), ['removed above 1', 'height 2', 'height 3', 'height 4'])
  assert.equal(state.left.leftAbove(hostA.identity), Infinity)
  assert.equal(state.reported.of(identity)?.to, 1)
})

test('signatures and seals that come while their block is being stored are kept with it', async (t) => {
  const generator = testSigner('a Generator')
  const [block] = madeBlocks(1)
  assert.ok(block)
  const { number, hash } = block
  const seal = signSeal({ network: testNetwork, number, hash, cids: [] }, generator)
  const late = decodeStatementExcerpt(madeExcerpt(block, hostB))
  const { state, reported } = await openState(t, {}, (parts) => ({
    onHeight: (view, height) => {
      parts.onHeight(view, height)
      state.votes.add(late, true)
      state.seals.add(block, [seal])
    },
  }))
  await store(state, [block])
  const signers = state.blocks
    .excerpts(number, hash)
    .map(({ signatureIdentity }) => signatureIdentity)
  assert.deepEqual(new Set(signers), new Set([hostA.identity, hostB.identity]))
  assert.deepEqual(state.blocks.sealers(block), new Set([generator.identity]))
  assert.deepEqual(reported, ['height 0', 'sealed 0'])
})

test('a block that another Host sends again has waited since the first one sent it', async (t) => {
  for (const { again, isStored } of [
    { again: madeBlocks(1)[0], isStored: true },
    { again: { ...blockAt(madeBlocks(1), 0), hash: `0x${'0e'.repeat(32)}` }, isStored: false },
  ]) {
    const { state } = await openState(t)
    const [zero, one] = madeBlocks(2)
    assert.ok(zero && one && again)
    letWait(state, [{ ...zero, rows: null }], { sinceMs: -1_000_000 })
    await settle(state)
    letWait(state, [{ ...again, rows: null }])
    sign(state, hostA, [one])
    await settle(state)
    const slot = state.parts.views.find(madeView)?.slot ?? -1
    const failures = state.blocks.read((snapshot) => snapshot.viewFailures(slot))
    assert.deepEqual(failures, isStored ? [[0, 0]] : [])
    assert.equal(state.passed.size, 0)
  }
})

test('seals of a block at which a View failed are kept with it', async (t) => {
  const { state, reported } = await openState(t)
  const [zero, one] = madeBlocks(2)
  assert.ok(zero && one)
  const generator = testSigner('a Generator')
  state.seals.add(zero, [signSeal({ network: testNetwork, ...zero, cids: [] }, generator)])
  letWait(state, [{ ...zero, rows: null }], { sinceMs: -1_000_000 })
  sign(state, hostA, [one])
  await settle(state)
  assert.deepEqual(state.blocks.sealers(zero), new Set([generator.identity]))
  assert.deepEqual(reported, ['sealed 0'])
})

test('of what comes only heights of the hole are stored that were not passed over', async (t) => {
  const { state, reported } = await openState(t, { hole: { from: 1, to: 2 } })
  const blocks = madeBlocks(4)
  const view = state.parts.views.find(madeView) ?? assert.fail('it is not known')
  await state.blocks.putFailure(view, { ...blockAt(blocks, 0), sinceMs: 0 }, 'it failed')
  state.passed.add(2)
  letWait(state, blocks)
  for (const block of blocks) {
    sign(state, hostA, [block])
    await settle(state)
  }
  assert.deepEqual(reported, ['height 1'])
  assert.deepEqual(state.pending.get(madeView)?.list(), [])
})

test('a hole lacks what is followed, has no rows, and was not passed over', async (t) => {
  const { state } = await openState(t, { from: 3 })
  const view = state.parts.views.find(madeView) ?? assert.fail('it is not known')
  const missing = (from: number): number => firstMissing(state, view, { from, to: 5 })
  assert.deepEqual([missing(0), missing(4)], [3, 4])
  state.passed.add(3)
  assert.equal(missing(0), 4)
  for (const number of [4, 5]) state.passed.add(number)
  assert.equal(missing(0), 6)
})

test('what was signed of a hole is kept while only what is above it comes', async (t) => {
  const { state } = await openState(t, { hole: { from: 1, to: 1 } })
  const [, one, , three] = madeBlocks(4)
  assert.ok(one && three)
  letWait(state, [three])
  sign(state, hostA, [one])
  await settle(state)
  assert.deepEqual(state.pending.get(madeView)?.list(), [])
  assert.deepEqual(state.votes.signers(madeView, 1, 1), [hostA.identity])
})

test('a Host that signed another block there has not gone on above one at which a View failed', async (t) => {
  const { state } = await openState(t)
  const [block] = madeBlocks(1)
  assert.ok(block)
  letWait(state, [{ ...block, rows: null }], { sinceMs: -1_000_000 })
  sign(state, hostA, [{ ...block, hash: `0x${'0e'.repeat(32)}` }])
  await settle(state)
  assert.equal(state.blocks.head(), -1)
})

/** How a Host has a View. */
const has = (view: string, tail: number | null, how = 'live'): WelcomedView => ({
  ...{ view, name: 'a name', sdl: '', tail, head: null, state: how as WelcomedView['state'] },
})

test('where a View begins is waited for unless every Host said that it has nothing lower', async (t) => {
  const hasNot = [has(madeView, 5)]
  const cases: readonly (readonly [WelcomedView[] | null, boolean])[] = [
    [hasNot, true],
    [[has(madeView, 0, notServedState)], true],
    [[has(madeView, 4)], false],
    [[has(madeView, null)], false],
    [[has(otherView, 5)], false],
    [null, false],
  ]
  for (const [heard, isStored] of cases) {
    const { state } = await openState(t)
    state.heard.set(hostA.identity, hasNot)
    if (heard !== null) state.heard.set(hostB.identity, heard)
    await store(state, madeBlocks(1, 5))
    assert.equal(state.blocks.head(), isStored ? 5 : -1, JSON.stringify(heard))
  }
})

test('a peer that has not proven yet which Host it is may have what is lower', async (t) => {
  const { state } = await openState(t, {}, ({ accepted }) => ({
    accepted: { ...accepted, awaited: () => 1 },
  }))
  for (const { identity } of [hostA, hostB]) state.heard.set(identity, [has(madeView, 5)])
  await store(state, madeBlocks(1, 5))
  assert.equal(state.blocks.head(), -1)
})

test('how long something has been left out is counted from when it was seen first', async (t) => {
  const { state } = await openState(t)
  const { pass } = clockOf(t)
  await store(state, madeBlocks(1, 5))
  pass(9_999)
  await settle(state)
  assert.equal(state.blocks.head(), -1)
  pass(1)
  await settle(state)
  assert.equal(state.blocks.head(), 5)
})

test('Hosts leave what the next block stands on, except what is pruned', async (t) => {
  const { state } = await openState(t)
  const blocks = madeBlocks(6)
  await store(state, blocks)
  state.left.leave(hostA.identity, 2, 5)
  state.left.leave(hostB.identity, 3, 5)
  const onThree = { base: blockAt(blocks, 3) }
  letWait(state, [], onThree)
  assert.deepEqual(leaving(state, madeView), [hostA.identity])
  await state.parts.store.pruneRowsBelow(3)
  assert.deepEqual(leaving(state, madeView), [hostA.identity])
  await state.parts.store.pruneRowsBelow(4)
  assert.deepEqual(leaving(state, madeView), [])
})

test('nobody leaves what a block stands on that may be the first', async (t) => {
  const { state } = await openState(t)
  await store(state, madeBlocks(2))
  state.left.leave(hostA.identity, -1, 1)
  letWait(state, [])
  assert.deepEqual(leaving(state, madeView), [])
  assert.deepEqual(leaving(state, 'a View that nobody feeds'), [])
})

test('what was signed below all that waits of any View is forgotten, and the rest is kept', async (t) => {
  const [zero, one, two, three] = madeBlocks(4)
  assert.ok(zero && one && two && three)
  const cases: readonly (readonly [Parameters<typeof letWait>[1], MadeBlock | null, number])[] = [
    [[three], one, 1],
    [[one, three], null, 1],
    [[], null, 0],
  ]
  for (const [blocks, base, below] of cases) {
    const { state } = await openState(t, { from: 2 })
    letWait(state, blocks, { view: otherView, base })
    letWait(state, [two])
    sign(state, hostA, [zero, one, two])
    const seal = signSeal({ network: testNetwork, ...zero, cids: [] }, testSigner('a Generator'))
    for (const block of [zero, one]) state.seals.add(block, [seal])
    await settle(state)
    const isKept: boolean[][] = [zero, one].map(({ number, hash }) => [
      state.votes.signers(madeView, number, number).length === 1,
      state.seals.take(hash).length === 1,
    ])
    assert.deepEqual(
      isKept,
      [zero, one].map(({ number }) => [number >= below, number >= below]),
    )
  }
})
