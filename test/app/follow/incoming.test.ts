/** What is taken of what Hosts send, and how much of it waits before the Host that feeds is read no further. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FollowerState } from '../../../src/app/follow/follow-state.ts'
import type { RowFollower } from '../../../src/app/follow/follower.ts'
import { hasRoom, listen } from '../../../src/app/follow/incoming.ts'
import { createPendingBlocks } from '../../../src/app/follow/pending-blocks.ts'
import { ServiceError } from '../../../src/errors.ts'
import { notServedState } from '../../../src/follow/host-frames.ts'
import { createSigner } from '../../../src/identity/signature.ts'
import { decodeStatementExcerpt } from '../../../src/row-votes/statement-excerpt.ts'
import { captureLog } from '../../support/captured-log.ts'
import { testSigner } from '../../support/chain/sealed-blocks.ts'
import { until } from '../../support/p2p-room.ts'
import { hostA, openState } from '../support/follower-state.ts'
import { connect, madeBlocks, storedTo } from '../support/follower-stream.ts'
import {
  createMadeChain,
  type MadeBlock,
  madeSdl,
  madeView,
  otherView,
  sdlOf,
} from '../support/made-chain.ts'
import { madeExcerpt } from '../support/made-host.ts'
import { openTestFollower } from '../support/test-follower.ts'

const signer = createSigner({ type: 'Ed25519', privateKey: new Uint8Array(32).fill(3) })
const maxBlocks = 2_048

interface Feeding {
  readonly follower: RowFollower
  /** Hands blocks on until one is read no further, and returns how many that took; all where none is. */
  readUntilFull(blocks: readonly MadeBlock[]): Promise<{ blocks: number; isFull: boolean }>
  /** Resolves once the last of these is read further. */
  untilRead(): Promise<unknown>
  /** The Host signs a block. */
  sign(block: MadeBlock | undefined): Promise<void>
}

/** A View that a Host feeds, which signs nothing by itself. */
async function openFeeding(t: TestContext, maxPendingBytes?: number): Promise<Feeding> {
  const nothing = (): void => undefined
  const { follower } = await openTestFollower(t, {
    ...{ views: [madeView], hosts: [signer.identity] },
    ...(maxPendingBytes === undefined ? {} : { maxPendingBytes }),
  })
  const ended = new AbortController()
  t.after(() => ended.abort())
  const listener = follower.listener(
    {
      ...{ peer: 'the Host', signal: ended.signal },
      ...{ onWelcome: nothing, onProgress: nothing, onHead: nothing },
    },
    follower.opening({ peer: 'the Host', feeds: new Set([madeView]), floor: 0 }).views,
  )
  const welcomed = { view: madeView, name: 'Payment', sdl: madeSdl, state: 'live' }
  const welcome = { ...welcomed, tail: 0, head: null }
  await listener.onWelcome({ identity: signer.identity, genesis: null, views: [welcome] })
  let reading: Promise<unknown> = Promise.resolve()
  return {
    follower,
    readUntilFull: async (blocks) => {
      for (const [index, { rows, ...place }] of blocks.entries()) {
        let isRead = false
        reading = listener.onBlock({ ...place, view: madeView, rows }).then(() => {
          isRead = true
        })
        for (let turn = 0; turn < 20 && !isRead; turn++) await new Promise(setImmediate)
        if (!isRead) return { blocks: index + 1, isFull: true }
      }
      return { blocks: blocks.length, isFull: false }
    },
    untilRead: () => reading,
    sign: async (block) => {
      assert.ok(block !== undefined)
      await listener.onStatement(madeExcerpt(block, signer))
    },
  }
}

test('2,047 blocks may wait and are read past, one more is not until one of them is stored', async (t) => {
  const chain = createMadeChain()
  chain.grow(maxBlocks + 1, 0)
  const blocks = chain.blocks()
  const { follower, readUntilFull, untilRead, sign } = await openFeeding(t)
  assert.deepEqual(await readUntilFull(blocks), { blocks: maxBlocks, isFull: true })
  assert.equal(follower.progress(madeView).pending, maxBlocks)
  await sign(blocks[0])
  await untilRead()
  assert.equal(follower.progress(madeView).pending, maxBlocks - 1)
  assert.deepEqual(await readUntilFull(blocks.slice(maxBlocks)), { blocks: 1, isFull: true })
  for (const block of blocks) await sign(block)
  await untilRead()
})

test('blocks up to the bytes that may wait are read past, with one byte less the last is not', async (t) => {
  const chain = createMadeChain()
  chain.grow(3, 50)
  const blocks = chain.blocks()
  const two = createPendingBlocks(null)
  for (const block of blocks.slice(0, 2)) two.add({ ...block, sinceMs: 0 })
  const roomy = await openFeeding(t, two.bytes())
  assert.deepEqual(await roomy.readUntilFull(blocks.slice(0, 2)), { blocks: 2, isFull: false })
  assert.deepEqual(await roomy.readUntilFull(blocks.slice(2)), { blocks: 1, isFull: true })
  const tight = await openFeeding(t, two.bytes() - 1)
  assert.deepEqual(await tight.readUntilFull(blocks), { blocks: 2, isFull: true })
  await tight.sign(blocks[0])
  await tight.untilRead()
  assert.equal(tight.follower.progress(madeView).stored, 0)
})

const A = testSigner('A', 'Ed25519')
const B = testSigner('B', 'Ed25519')
const both = { views: [madeView], hosts: [A.identity, B.identity], minimumHosts: 2 }

function assertBlock(block: MadeBlock | undefined): MadeBlock {
  return block ?? assert.fail('there is no such block')
}

test('a Host goes back only to what is stored, waits, or is pruned', async (t) => {
  const opened = await openTestFollower(t, { ...both, minimumHosts: 1 })
  const a = await connect(t, opened, A)
  const blocks = madeBlocks(4)
  await a.feed(blocks.slice(0, 2))
  await storedTo(opened, 1)
  await a.feed(blocks.slice(2), true)
  const [zero, one, two, three] = blocks
  assert.ok(zero && one && two && three)
  const refused = [
    { number: 2, hash: three.hash },
    { number: 3, hash: two.hash },
    { number: 0, hash: one.hash },
  ]
  for (const place of refused) assert.throws(() => a.onRetract(madeView, place), /never here/)
  await opened.parts.store.pruneRowsBelow(1)
  assert.throws(() => a.onRetract(madeView, { number: 1, hash: zero.hash }), /never here/)
  assert.equal(opened.follower.progress(madeView).pending, 2)
  a.onRetract(madeView, two)
  assert.equal(opened.follower.progress(madeView).pending, 1)
  a.onRetract(madeView, one)
  assert.equal(opened.follower.progress(madeView).pending, 0)
  a.onRetract(madeView, { number: 0, hash: three.hash })
})

test('rows of a View that a Host does not feed are refused, what gave way of it is not', async (t) => {
  const opened = await openTestFollower(t, { ...both, views: [madeView, otherView] })
  const a = await connect(t, opened, A)
  const zero = assertBlock(madeBlocks(1)[0])
  await assert.rejects(a.onBlock({ ...zero, view: otherView }), /rows that were not asked for/)
  assert.doesNotThrow(() => a.onRetract(otherView, null))
})

test('a store that fails while a View is heard of ends the stream', async (t) => {
  const { parts, writing } = await openTestFollower(t, both)
  const failed = new ServiceError('STORE_WRITE_FAILED', 'the disk is full', { remedy: '' })
  const views = { ...parts.views, hear: () => Promise.reject(failed) }
  const opened = await openTestFollower(t, both, { parts: { ...parts, views }, writing })
  await assert.rejects(connect(t, opened, A), failed)
})

test('what gave way for a Host that only votes leaves what another one sends', async (t) => {
  const opened = await openTestFollower(t, both)
  const b = await connect(t, opened, B, { feeds: [] })
  const a = await connect(t, opened, A)
  const [zero, stranger] = [assertBlock(madeBlocks(1)[0]), assertBlock(madeBlocks(1, 9)[0])]
  await a.feed([zero])
  b.onRetract(madeView, stranger)
  b.onRetract(madeView, null)
  assert.equal(opened.follower.progress(madeView).pending, 1)
  await b.onStatement(madeExcerpt(zero, B))
  await storedTo(opened, 0)
})

test('what a Host signed counts no more once it says that it begins above it', async (t) => {
  const opened = await openTestFollower(t, { ...both, views: [madeView, otherView] })
  const b = await connect(t, opened, B, { feeds: [] })
  const signed = (): number => opened.follower.signedUpTo(B.identity, madeView)
  await b.onStatement(madeExcerpt(assertBlock(madeBlocks(1)[0]), B))
  const welcome = async (...tails: (number | null)[]): Promise<void> => {
    const views = [madeView, otherView].map((view, index) => ({
      ...{ view, name: 'a name', sdl: sdlOf(view), state: 'live' },
      ...{ tail: tails[index] ?? null, head: null },
    }))
    await b.onWelcome({ identity: B.identity, genesis: null, views })
  }
  await welcome(null, null)
  assert.equal(signed(), 0)
  await welcome(0, 7)
  assert.equal(signed(), 0)
  await welcome(7, 1)
  assert.equal(signed(), -1)
})

test('what others pass on counts of blocks that wait, and of others it is not kept', async (t) => {
  const opened = await openTestFollower(t, { ...both, views: [madeView, otherView] })
  await connect(t, opened, B, { feeds: [otherView] })
  const a = await connect(t, opened, A)
  const [zero, one] = madeBlocks(2)
  assert.ok(zero && one)
  await a.feed([zero])
  await a.onVotes([zero, one].map((block) => madeExcerpt(block, B)))
  await storedTo(opened, 0)
  await a.feed([one], true)
  assert.equal(opened.follower.unheard(madeView, B.identity, 0), 1)
  await a.onVotes([madeExcerpt(one, B)])
  assert.equal(opened.follower.unheard(madeView, B.identity, 0), null)
  await a.onStatement(madeExcerpt(one, A))
  await storedTo(opened, 1)
})

test('a block that was signed before it comes is stored as it comes', async (t) => {
  const opened = await openTestFollower(t, { ...both, minimumHosts: 1 })
  const a = await connect(t, opened, A)
  const zero = assertBlock(madeBlocks(1)[0])
  await a.onStatement(madeExcerpt(zero, A))
  await a.feed([zero], true)
  await storedTo(opened, 0)
})

test('a peer that proves to be another Host than before is refused', async (t) => {
  const { parts, writing } = await openTestFollower(t, both)
  const accepted = { ...parts.accepted, prove: () => false }
  const opened = await openTestFollower(t, both, { parts: { ...parts, accepted }, writing })
  await assert.rejects(connect(t, opened, A), /another Host than before/)
})

test('what a Host that is not accepted says of a View counts for nothing', async (t) => {
  const opened = await openTestFollower(t, { ...both, hosts: [A.identity], minimumHosts: 1 })
  const isKnown = (): boolean => opened.follower.progress(madeView).isKnown
  await connect(t, opened, B, { feeds: [] })
  assert.equal(isKnown(), false)
  await connect(t, opened, A, { feeds: [] })
  assert.equal(isKnown(), true)
})

test('a View that a Host does not have, or describes as none can be, stays unknown', async (t) => {
  const { parts, writing } = await openTestFollower(t, { ...both, minimumHosts: 1 })
  const { log, messages } = captureLog()
  const opened = await openTestFollower(t, both, { parts: { ...parts, log }, writing })
  const a = await connect(t, opened, A, { feeds: [], sdl: 'type Payment {' })
  assert.deepEqual(messages('warn'), ['a Host has an SDL that no View has'])
  await a.onWelcome({
    ...{ identity: A.identity, genesis: null },
    views: [{ view: madeView, name: '', sdl: '', tail: null, head: null, state: notServedState }],
  })
  assert.equal(messages('warn').length, 1)
  assert.equal(opened.follower.progress(madeView).isKnown, false)
})

test('more blocks are taken while all that wait fit, and then up to the equal part of their View', () => {
  const roomAt = (own: number, other: number): boolean => {
    const waiting = (bytes: number) => ({ list: () => [], bytes: () => bytes })
    return hasRoom(
      {
        ...{ options: { maxPendingBytes: 100 }, parts: { views: { ids: ['a', 'b'] } } },
        pending: new Map(Object.entries({ a: waiting(own), b: waiting(other) })),
      } as unknown as FollowerState,
      'a',
    )
  }
  assert.deepEqual([roomAt(60, 40), roomAt(60, 41)], [true, false])
  assert.deepEqual([roomAt(50, 90), roomAt(51, 90)], [true, false])
})

test('a stream that is aborted, or another takes the place of, waits for room no longer', async (t) => {
  for (const isReplaced of [false, true]) {
    const opened = await openTestFollower(t, { ...both, maxPendingBytes: 1 })
    await connect(t, opened, B, { feeds: [] })
    const a = await connect(t, opened, A)
    const feeding = a.feed(madeBlocks(1))
    await until(() => opened.follower.progress(madeView).pending === 1)
    assert.equal(opened.follower.progress(madeView).isFull, true)
    if (isReplaced) await connect(t, opened, B)
    else a.end()
    await feeding
  }
})

test('rows that come once a stream is aborted, or everything is closed, are not kept', async (t) => {
  for (const isClosed of [false, true]) {
    const opened = await openTestFollower(t, { ...both, minimumHosts: 1 })
    const a = await connect(t, opened, A)
    if (isClosed) await opened.follower.close()
    else a.end()
    await a.feed(madeBlocks(1), true)
    assert.equal(opened.follower.progress(madeView).pending, 0)
  }
})

test('what Hosts signed against one that fed is not held against the next one', async (t) => {
  const opened = await openTestFollower(t, both)
  const { follower } = opened
  const differing = (): readonly string[] => follower.progress(madeView).differing
  const b = await connect(t, opened, B, { feeds: [] })
  const a = await connect(t, opened, A)
  const [zero, one] = madeBlocks(2).map(assertBlock)
  assert.ok(zero && one)
  await a.feed([zero], true)
  await b.onStatement(madeExcerpt({ ...zero, rows: one.rows }, B))
  await until(() => differing().length > 0)
  const nothing = (): void => undefined
  follower.listener(
    {
      ...{ peer: B.identity, signal: new AbortController().signal },
      ...{ onWelcome: nothing, onProgress: nothing, onHead: nothing },
    },
    follower.opening({ peer: B.identity, feeds: new Set([madeView]), floor: 0 }).views,
  )
  assert.deepEqual(differing(), [])
})

test('a Host that comes back says again what gave way, and else has what is stored', async (t) => {
  const opened = await openTestFollower(t, { ...both, minimumHosts: 1 })
  const leaving = (): readonly string[] => opened.follower.progress(madeView).leaving
  const b = await connect(t, opened, B, { feeds: [] })
  const a = await connect(t, opened, A)
  const blocks = madeBlocks(3)
  await a.feed(blocks)
  await storedTo(opened, 2)
  b.onRetract(madeView, assertBlock(blocks[0]))
  assert.deepEqual(leaving(), [B.identity])
  await connect(t, opened, B, { feeds: [] })
  assert.deepEqual(leaving(), [])
})

test('what a Host signed of blocks that gave way for it is its word no more', async (t) => {
  const opened = await openTestFollower(t, both)
  const b = await connect(t, opened, B, { feeds: [] })
  const blocks = madeBlocks(3)
  for (const block of blocks) await b.onStatement(madeExcerpt(block, B))
  const signedUpTo = (): number => opened.follower.signedUpTo(B.identity, madeView)
  assert.equal(signedUpTo(), 2)
  b.onRetract(madeView, assertBlock(blocks[0]))
  assert.equal(signedUpTo(), 0)
  b.onRetract(madeView, null)
  assert.equal(signedUpTo(), -1)
})

test('a Host that names no block to go back to has nothing of what is stored', async (t) => {
  const opened = await openTestFollower(t, { ...both, minimumHosts: 1 })
  const b = await connect(t, opened, B, { feeds: [] })
  const a = await connect(t, opened, A)
  await a.feed(madeBlocks(2))
  await storedTo(opened, 1)
  b.onRetract(madeView, null)
  assert.deepEqual(opened.follower.progress(madeView).leaving, [B.identity])
})

test('what gave way of one View makes room for the blocks of another one', async (t) => {
  const [block] = madeBlocks(1).map((each) => ({ ...each, sinceMs: 0 }))
  assert.ok(block)
  const one = createPendingBlocks(null)
  one.add(block)
  const views = [madeView, otherView]
  const maxPendingBytes = 1.5 * one.bytes()
  const opened = await openTestFollower(t, { ...both, views, minimumHosts: 1, maxPendingBytes })
  const b = await connect(t, opened, B, { feeds: [otherView] })
  const a = await connect(t, opened, A)
  await a.feed([block], true)
  const taking = b.onBlock({ ...block, view: otherView })
  await until(() => opened.follower.progress(otherView).isFull)
  a.onRetract(madeView, null)
  await taking
  assert.equal(opened.follower.progress(otherView).pending, 1)
})

test('a statement for which there is no room waits as long as its stream, and is dropped then', async (t) => {
  const { state } = await openState(t)
  const [block] = madeBlocks(1)
  assert.ok(block)
  const nothing = (): void => undefined
  const ended = new AbortController()
  const { onWelcome, onStatement } = listen(
    state,
    {
      ...{ peer: 'a peer', signal: ended.signal },
      ...{ onWelcome: nothing, onProgress: nothing, onHead: nothing },
    },
    [],
  )
  await onWelcome({ identity: hostA.identity, genesis: null, views: [] })
  const message = madeExcerpt(block, hostA)
  const excerpt = decodeStatementExcerpt(message)
  for (let blockNumber = 1; blockNumber <= 8_192; blockNumber++)
    state.votes.add({ ...excerpt, blockNumber }, true)
  const taking = onStatement(message)
  await until(() => state.waiting.length === 1)
  ended.abort()
  await taking
  assert.deepEqual(state.votes.own(block.number), [])
})
