/** When an application believes rows: which Hosts signed them, and what else is said of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testSigner } from '../../support/chain/sealed-blocks.ts'
import { until } from '../../support/p2p-room.ts'
import { connect, madeBlocks, storedTo } from '../support/follower-stream.ts'
import { madeView, otherView } from '../support/made-chain.ts'
import { madeExcerpt } from '../support/made-host.ts'
import { clockOf } from '../support/test-clock.ts'
import { openTestFollower } from '../support/test-follower.ts'

const A = testSigner('A', 'Ed25519')
const B = testSigner('B', 'Ed25519')
const C = testSigner('C', 'Ed25519')
const hosts = [A.identity, B.identity]
const both = { views: [madeView], hosts, minimumHosts: 2 }
const three = { ...both, hosts: [...hosts, C.identity], minimumHosts: 3 }

test('rows wait until as many Hosts as are asked for signed them, and are stored in order', async (t) => {
  const opened = await openTestFollower(t, both)
  const { follower, reported } = opened
  const b = await connect(t, opened, B, { feeds: [] })
  const a = await connect(t, opened, A)
  const [zero, one, two] = madeBlocks(3)
  assert.ok(zero && one && two)
  await a.feed([zero, one, two])
  await b.onStatement(madeExcerpt(one, B))
  assert.deepEqual(
    [follower.progress(madeView).pending, follower.progress(madeView).stored],
    [3, -1],
  )
  assert.deepEqual(
    [A, B].map(({ identity }) => follower.signedUpTo(identity, madeView)),
    [2, 1],
  )
  await b.onStatement(madeExcerpt(zero, B))
  await storedTo(opened, 1)
  assert.deepEqual(reported, ['height 0', 'height 1'])
  await b.onStatement(madeExcerpt(two, B))
  await storedTo(opened, 2)
  await until(() => follower.progress(madeView).pending === 0)
})

test('what other Hosts signed counts also where a Host passes it on', async (t) => {
  const opened = await openTestFollower(t, both)
  await connect(t, opened, B, { feeds: [] })
  const a = await connect(t, opened, A)
  const blocks = madeBlocks(2)
  await a.feed(blocks)
  await a.onVotes(blocks.map((block) => madeExcerpt(block, B)))
  await storedTo(opened, 1)
})

test('what Hosts signed of a View that is not followed, or others than are accepted, is ignored', async (t) => {
  const opened = await openTestFollower(t, both)
  await connect(t, opened, B, { feeds: [] })
  const a = await connect(t, opened, A)
  const [block] = madeBlocks(1)
  assert.ok(block)
  await a.feed([block])
  await a.onVotes([madeExcerpt(block, C), madeExcerpt(block, B, otherView)])
  assert.deepEqual(opened.follower.progress(madeView), {
    ...{ isKnown: true, passed: 0, pending: 1, isFull: false, stored: -1 },
    ...{ isFailed: false, differing: [], leaving: [] },
  })
})

test('a Host that signed other rows than most is named, until the block is stored', async (t) => {
  const opened = await openTestFollower(t, { ...three, minimumHosts: 2 })
  const { follower } = opened
  const b = await connect(t, opened, B, { feeds: [] })
  const c = await connect(t, opened, C, { feeds: [] })
  const a = await connect(t, opened, A)
  const [block, other] = madeBlocks(2)
  assert.ok(block && other)
  const lie = madeExcerpt({ ...block, rows: other.rows }, C)
  await a.feed([block], true)
  await c.onStatement(lie)
  await until(() => follower.progress(madeView).differing.length > 0)
  assert.deepEqual(follower.progress(madeView).differing, [C.identity])
  await a.onStatement(madeExcerpt(block, A))
  await b.onStatement(madeExcerpt(block, B))
  await storedTo(opened, 0)
  await until(() => follower.progress(madeView).differing.length === 0)
})

test('a block of which nothing is known of what a Host signed is reported after a while', async (t) => {
  const opened = await openTestFollower(t, both)
  const { follower } = opened
  const b = await connect(t, opened, B, { feeds: [] })
  const a = await connect(t, opened, A)
  assert.equal(follower.unheard(madeView, B.identity, 0), null, 'nothing waits')
  const [block] = madeBlocks(1, 5)
  const [other] = madeBlocks(1)
  assert.ok(block && other)
  await a.feed([block])
  assert.equal(follower.unheard(madeView, A.identity, 0), null)
  assert.equal(follower.unheard(madeView, B.identity, 0), 5)
  assert.equal(follower.unheard(madeView, B.identity, 60_000), null, 'it waits not long yet')
  assert.equal(follower.unheard(otherView, B.identity, 0), null)
  await b.onStatement(madeExcerpt({ ...block, rows: other.rows }, B))
  assert.equal(follower.unheard(madeView, B.identity, 0), null)
})

test('a block has waited long enough for a signature once so much time has passed', async (t) => {
  const { pass } = clockOf(t)
  const opened = await openTestFollower(t, both)
  await connect(t, opened, B, { feeds: [] })
  await (await connect(t, opened, A)).feed(madeBlocks(1, 5))
  const unheard = (): number | null => opened.follower.unheard(madeView, B.identity, 10_000)
  pass(9_999)
  assert.equal(unheard(), null)
  pass(1)
  assert.equal(unheard(), 5)
})

test('an old statement that another Host passes on does not replace what a Host says itself', async (t) => {
  const opened = await openTestFollower(t, three)
  const b = await connect(t, opened, B, { feeds: [] })
  const c = await connect(t, opened, C, { feeds: [] })
  const a = await connect(t, opened, A)
  const [block] = madeBlocks(1)
  assert.ok(block)
  await a.feed([block])
  await b.onStatement(madeExcerpt(block, B))
  await a.onVotes([madeExcerpt({ ...block, hash: `0x${'0d'.repeat(32)}` }, B)])
  await c.onStatement(madeExcerpt(block, C))
  await storedTo(opened, 0)
})
