/** What an application makes of what its Hosts send, message by message. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createBlockStore } from '../../../src/app/follow/block-store.ts'
import { usualPatience } from '../../../src/app/follow/patience.ts'
import { openReportedHeights } from '../../../src/app/follow/reported-heights.ts'
import type { DigestSigner } from '../../../src/identity/signature.ts'
import type { Seal } from '../../../src/primitives/seal.ts'
import { signSeal, testSigner } from '../../support/chain/sealed-blocks.ts'
import { testNetwork } from '../../support/p2p-room.ts'
import { connect, madeBlocks, type OpenedFollower, storedTo } from '../support/follower-stream.ts'
import {
  createMadeChain,
  type MadeBlock,
  madeView,
  otherView,
  sdlOf,
} from '../support/made-chain.ts'
import { madeExcerpt } from '../support/made-host.ts'
import { openTestFollower } from '../support/test-follower.ts'

const A = testSigner('A', 'Ed25519')
const B = testSigner('B', 'Ed25519')
const generator = testSigner('a Generator')
const hosts = [A.identity, B.identity]
const both = { views: [madeView], hosts, minimumHosts: 2 }
const malformed = { code: 'PRIMITIVES_MESSAGE_MALFORMED' }

const doneOf = ({
  parts: { store, views },
}: OpenedFollower): readonly (readonly [number, number])[] =>
  store.reader.read((snapshot) => snapshot.viewRanges(views.find(madeView)?.slot ?? -1))

function sealOf({ number, hash }: MadeBlock, signer: DigestSigner): Seal {
  return signSeal({ network: testNetwork, number, hash, cids: [] }, signer)
}

test('a View is known once as many Hosts as are asked for say the same of it', async (t) => {
  const opened = await openTestFollower(t, both)
  await connect(t, opened, A)
  assert.equal(opened.follower.progress(madeView).isKnown, false)
  await connect(t, opened, B, { feeds: [] })
  assert.equal(opened.follower.progress(madeView).isKnown, true)
})

test('a message that no honest Host sends ends its stream', async (t) => {
  const opened = await openTestFollower(t, both)
  const b = await connect(t, opened, B, { feeds: [] })
  const a = await connect(t, opened, A)
  const [zero, one, two] = madeBlocks(3)
  const [stranger] = madeBlocks(1, 9)
  assert.ok(zero && one && two && stranger)
  await a.feed([zero])
  const forged = madeExcerpt(one, A)
  forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1
  await assert.rejects(a.onStatement(forged), malformed, 'a false signature')
  await assert.rejects(a.onStatement(new Uint8Array(9)), malformed, 'no statement at all')
  await assert.rejects(a.onStatement(madeExcerpt(one, B)), /a statement is of another Host/)
  await assert.rejects(b.onBlock({ ...zero, view: madeView }), /rows that were not asked for/)
  await assert.rejects(a.onBlock({ ...one, parent: two.hash, view: madeView }), /does not stand/)
  await assert.rejects(a.onBlock({ ...zero, view: madeView }), /does not stand/, 'once more')
  assert.throws(() => a.onRetract(otherView, null), /a View that was not asked for/)
  assert.throws(() => a.onRetract(madeView, stranger), /never here/)
})

test('a Host of another chain than the one that Hosts agreed on is refused', async (t) => {
  const opened = await openTestFollower(t, both)
  const { store } = opened.parts
  const [genesis, other] = madeBlocks(2).map(({ hash }) => hash)
  assert.ok(genesis && other)
  const [a, b] = [await connect(t, opened, A), await connect(t, opened, B, { feeds: [] })]
  await a.onWelcome({ identity: A.identity, genesis, views: [] })
  assert.equal(store.genesisHash(), null, 'one Host is not enough')
  await b.onWelcome({ identity: B.identity, genesis, views: [] })
  assert.equal(store.genesisHash(), genesis)
  await assert.rejects(
    b.onWelcome({ identity: B.identity, genesis: other, views: [] }),
    /it is of another chain/,
  )
})

test('heights that no Host has are not waited for, as soon as all have said so', async (t) => {
  const opened = await openTestFollower(t, { ...both, minimumHosts: 1 })
  const a = await connect(t, opened, A, { tail: 5 })
  await a.feed(madeBlocks(1, 5))
  await opened.parts.inTurn(async () => undefined)
  assert.equal(opened.follower.progress(madeView).stored, -1, 'another Host may have them')
  await connect(t, opened, B, { feeds: [], tail: 5 })
  await storedTo(opened, 5)
})

test('a block without rows that Hosts passed over is stored as one at which the View failed', async (t) => {
  const patience = { ...usualPatience, failedMs: 0 }
  const opened = await openTestFollower(t, { ...both, minimumHosts: 1, patience })
  const a = await connect(t, opened, A)
  await a.feed([{ ...assertBlock(madeBlocks(1)[0]), rows: null }], true)
  await a.feed(madeBlocks(2).slice(1))
  await storedTo(opened, 1)
  const { store, views } = opened.parts
  const slot = views.find(madeView)?.slot ?? -1
  assert.deepEqual(
    store.reader.read((snapshot) => snapshot.viewFailures(slot)),
    [[0, 0]],
  )
})

test('each block and each statement of a Host shows that its stream goes on', async (t) => {
  const opened = await openTestFollower(t, both)
  const b = await connect(t, opened, B, { feeds: [] })
  const a = await connect(t, opened, A)
  const [block] = madeBlocks(1)
  assert.ok(block)
  await a.feed([block])
  await b.onStatement(madeExcerpt(block, B))
  assert.deepEqual([a.progress.count, b.progress.count], [2, 1])
})

test('blocks of a Host that feeds no more are dropped, and another one begins where it is stored', async (t) => {
  const opened = await openTestFollower(t, both)
  const b = await connect(t, opened, B, { feeds: [] })
  const a = await connect(t, opened, A)
  const blocks = madeBlocks(4)
  await a.feed(blocks.slice(0, 3))
  for (const block of blocks.slice(0, 2)) await b.onStatement(madeExcerpt(block, B))
  await storedTo(opened, 1)
  const next = await connect(t, opened, B)
  assert.equal(opened.follower.progress(madeView).pending, 0)
  await a.onBlock({ ...assertBlock(blocks[3]), view: madeView })
  assert.equal(opened.follower.progress(madeView).pending, 0)
  await next.feed(blocks.slice(2))
  await a.onStatement(madeExcerpt(assertBlock(blocks[3]), A))
  await storedTo(opened, 3)
})

test('blocks that gave way are dropped, and those of the other branch take their place', async (t) => {
  const opened = await openTestFollower(t, { ...both, minimumHosts: 1 })
  const a = await connect(t, opened, A)
  const chain = createMadeChain()
  chain.grow(4)
  await a.feed(chain.blocks())
  await storedTo(opened, 3)
  chain.reorganise(2)
  const blocks = chain.blocks()
  a.onRetract(madeView, assertBlock(blocks[1]))
  await a.feed(blocks.slice(2))
  await storedTo(opened, 4)
  assert.deepEqual(opened.reported.slice(4), [
    'removed above 1',
    'height 2',
    'height 3',
    'height 4',
  ])
})

test('seals of accepted Generators are kept with their block, before it is stored and after', async (t) => {
  const opened = await openTestFollower(t, {
    ...both,
    minimumHosts: 1,
    signers: new Set([generator.identity]),
  })
  const a = await connect(t, opened, A)
  const [zero, one] = madeBlocks(2)
  assert.ok(zero && one)
  await a.onSeals(zero, [sealOf(zero, generator), sealOf(zero, testSigner('another'))])
  await a.feed([zero, one])
  await storedTo(opened, 1)
  await a.onSeals(one, [sealOf(one, generator)])
  await a.onSeals(one, [sealOf(one, generator)])
  assert.deepEqual(opened.reported, ['height 0', 'height 1', 'sealed 1'])
  const seals = [0, 1].map((height) =>
    opened.parts.store.reader.read((snapshot) => snapshot.seals(height)),
  )
  assert.deepEqual(seals, [[sealOf(zero, generator)], [sealOf(one, generator)]])
})

test('a Host is asked to go on above what is stored, or to begin again where it has none so low', async (t) => {
  const opened = await openTestFollower(t, {
    ...both,
    views: [madeView, otherView],
    from: 2,
    minimumHosts: 1,
  })
  const a = await connect(t, opened, A)
  const blocks = madeBlocks(3, 2)
  await a.feed(blocks)
  await storedTo(opened, 4)
  const ask = (feeds: string[], floor: number): object =>
    opened.follower.opening({ peer: 'a peer', feeds: new Set(feeds), floor })
  const cursor = blocks.toReversed().map(({ number, hash }) => ({ number, hash }))
  const other = { view: otherView, cursor: [], withRows: false }
  assert.deepEqual(ask([madeView], 5), {
    views: [{ view: madeView, cursor, withRows: true }, other],
    from: 2,
  })
  assert.deepEqual(ask([], 6), {
    views: [{ view: madeView, cursor: [], withRows: false }, other],
    from: 2,
  })
})

const alone = { views: [madeView], hosts: [A.identity] }

/** Blocks 0 to 2 and 6 to 8 are stored; what is between is missing. */
async function openWithHole(
  t: TestContext,
): Promise<{ opened: OpenedFollower; blocks: readonly MadeBlock[] }> {
  const opened = await openTestFollower(t, alone)
  const blocks = madeBlocks(9)
  await (await connect(t, opened, A)).feed(blocks.slice(0, 3))
  await storedTo(opened, 2)
  const above = await openTestFollower(t, { ...alone, from: 6 }, opened)
  await (await connect(t, above, A, { tail: 6 })).feed(blocks.slice(6))
  await storedTo(above, 8)
  assert.deepEqual(doneOf(opened), [
    [0, 2],
    [6, 8],
  ])
  return { opened, blocks }
}

const hole = { from: 3, to: 5 }

test('a hole is filled with what fits between what is stored', async (t) => {
  const { opened, blocks } = await openWithHole(t)
  const filling = await openTestFollower(t, { ...alone, hole }, opened)
  const a = await connect(t, filling, A)
  assert.equal(filling.follower.progress(madeView).stored, 2)
  await a.feed(blocks.slice(3, 5))
  await storedTo(filling, 4)
  await a.feed(blocks.slice(5, 6))
  await storedTo(filling, 5)
  assert.deepEqual(filling.reported, ['height 3', 'height 4', 'height 5'])
  assert.deepEqual(doneOf(opened), [[0, 8]])
})

test('blocks of another branch than what is stored above a hole do not fill it', async (t) => {
  const { opened, blocks } = await openWithHole(t)
  const chain = createMadeChain()
  chain.grow(6)
  chain.reorganise(1)
  const branch = chain.blocks()
  const filling = await openTestFollower(t, { ...alone, hole }, opened)
  const a = await connect(t, filling, A)
  await a.feed(blocks.slice(3, 5))
  await storedTo(filling, 4)
  await a.feed(branch.slice(5, 6))
  await opened.parts.inTurn(async () => undefined)
  assert.deepEqual(doneOf(opened), [
    [0, 4],
    [6, 8],
  ])
})

/** The heights of the cursor by which a Host is asked that has nothing below a floor. */
const askedBy = ({ follower }: OpenedFollower, peer: string, floor: number): unknown =>
  follower
    .opening({ peer, feeds: new Set([madeView]), floor })
    .views[0]?.cursor.map(({ number }) => number)

test('a Host is asked below a gap that it has, and above one whose end it does not have', async (t) => {
  const { opened } = await openWithHole(t)
  const all = [8, 7, 6, 2, 1, 0]
  assert.deepEqual(
    [3, 4, 6, 9, 10].map((floor) => askedBy(opened, 'a new peer', floor)),
    [all.slice(3), all, all, all, []],
  )
  const filling = await openTestFollower(t, { ...alone, hole }, opened)
  assert.deepEqual(
    [0, 3, 4].map((floor) => askedBy(filling, 'a new peer', floor)),
    [all.slice(3), all.slice(3), []],
  )
})

test('a Host is asked from where it said what it has, and one that does not count from the top', async (t) => {
  const opened = await openTestFollower(t, { ...both, minimumHosts: 1 })
  const stranger = testSigner('a stranger', 'Ed25519')
  const b = await connect(t, opened, B, { feeds: [] })
  await connect(t, opened, stranger, { feeds: [] })
  const a = await connect(t, opened, A)
  const blocks = madeBlocks(4)
  await a.feed(blocks)
  await storedTo(opened, 3)
  assert.deepEqual(askedBy(opened, B.identity, 0), [])
  for (const block of blocks.slice(0, 2)) await b.onStatement(madeExcerpt(block, B))
  assert.deepEqual(
    [B, A, stranger].map(({ identity }) => askedBy(opened, identity, 0)),
    [
      [1, 0],
      [3, 2, 1, 0],
      [3, 2, 1, 0],
    ],
  )
  await opened.follower.close()
  // Writes are in order.
  await opened.parts.store.putRecord('a later record', Buffer.of(1))
  const kept = openReportedHeights(opened.parts.store)
  assert.deepEqual(
    [B, A].map(({ identity }) => kept.of(identity)),
    [
      { host: B.identity, to: 1 },
      { host: A.identity, to: 3 },
    ],
  )
})

test('a Host that sends rows of what is stored has it, also where it signs none of them', async (t) => {
  const opened = await openTestFollower(t, { ...both, minimumHosts: 1 })
  const a = await connect(t, opened, A)
  const chain = createMadeChain()
  chain.grow(4)
  const blocks = chain.blocks()
  await a.feed(blocks)
  await storedTo(opened, 3)
  chain.reorganise(1)
  const b = await connect(t, opened, B)
  assert.deepEqual(askedBy(opened, B.identity, 0), [])
  await b.feed(blocks.slice(0, 2), true)
  assert.deepEqual(askedBy(opened, B.identity, 0), [1, 0])
  await b.feed([assertBlock(blocks[2]), ...chain.blocks().slice(3)], true)
  assert.deepEqual(askedBy(opened, B.identity, 0), [2, 1, 0])
})

test('what is stored goes up to the highest block, also where the View failed there', async (t) => {
  const { follower, parts } = await openTestFollower(t, alone)
  assert.equal(follower.progress(madeView).stored, -1)
  await parts.views.hear(A.identity, madeView, sdlOf(madeView))
  const view = parts.views.find(madeView) ?? assert.fail('it is known')
  const store = createBlockStore(parts.store)
  const [zero, one, two] = madeBlocks(3).map((block) => ({ ...block, sinceMs: 0 }))
  assert.ok(zero && one && two)
  assert.equal(follower.progress(madeView).stored, -1)
  for (const block of [zero, two])
    await store.put(view, [block], null, { seals: () => [], excerpts: () => [] })
  await store.putFailure(view, one, 'it failed')
  assert.equal(follower.progress(madeView).stored, 2)
  await parts.store.truncateAbove(1)
  assert.equal(follower.progress(madeView).stored, 1)
})

function assertBlock(block: MadeBlock | undefined): MadeBlock {
  return block ?? assert.fail('there is no such block')
}
