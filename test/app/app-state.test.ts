/** How an application says that it stands. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createStateReport } from '../../src/app/app-state.ts'
import type { AppState, LinkReport } from '../../src/app/contract.ts'
import { namedHash } from '../support/chain/opaque-blocks.ts'
import { openState } from './support/follower-state.ts'
import { madeBlocks } from './support/follower-stream.ts'
import { madeView, otherView } from './support/made-chain.ts'
import { pendingBlock } from './support/pending-block.ts'

interface Standing {
  /** Heads of accepted Hosts that vote. */
  readonly heads?: readonly (number | null)[]
  readonly more?: readonly LinkReport[]
  readonly minimumHosts?: number
  readonly isFed?: boolean
}

const link = (change: Partial<LinkReport>): LinkReport => ({
  ...{ peer: 'a peer', identity: 'accepted', role: 'votes', head: null, views: {}, error: null },
  ...change,
})

/** Rows of heights 0, 1 and 3 are stored of the first View, which failed at 2 and from 4 to 6. */
async function openReport(t: TestContext): Promise<(standing: Standing) => AppState> {
  const { state } = await openState(t)
  const { views, store } = state.parts
  const view = views.find(madeView) ?? assert.fail('it is known')
  const proofs = { seals: () => [], excerpts: () => [] }
  for (const block of madeBlocks(7)) {
    const pending = { ...block, sinceMs: 0 }
    if ([0, 1, 3].includes(block.number)) await state.blocks.put(view, [pending], null, proofs)
    else await state.blocks.putFailure(view, pending, 'it failed')
  }
  const progress = { isKnown: true, passed: 0, isFull: false, stored: 6, isFailed: false }
  return ({ heads = [], more = [], minimumHosts = 1, isFed = true }) =>
    createStateReport({
      ...{ minimumHosts, reader: store.reader, views, failure: () => 'the disk is full' },
      isAccepted: (identity) => identity === 'accepted',
      follower: { progress: () => ({ ...progress, pending: 5, differing: [], leaving: [] }) },
      links: {
        reports: () => [...heads.map((head) => link({ head })), ...more],
        isFed: () => isFed,
      },
    })()
}

test('what is stored of each View is said, where it failed, what waits, and what went wrong', async (t) => {
  const report = await openReport(t)
  const more = [link({ role: 'feeds', head: 9 })]
  const { views, hosts, bytes, failure } = report({ more })
  const [first, second] = views
  assert.ok(first && bytes > 0 && first.bytes > 0)
  assert.deepEqual(first, {
    ...{ id: madeView, name: 'Payment', state: 'catching-up', rows: 6, bytes: first.bytes },
    done: [
      { from: 0, to: 1 },
      { from: 3, to: 3 },
    ],
    ...{ head: 9, blocksPending: 5, blocksFailed: 4 },
  })
  assert.deepEqual(second, {
    ...{ id: otherView, name: 'Refund', state: 'catching-up', rows: 0, bytes: 0 },
    ...{ done: [], head: 9, blocksPending: 5, blocksFailed: 0 },
  })
  assert.deepEqual([hosts, failure], [more, 'the disk is full'])
})

test('the head is the highest that enough accepted Hosts in reach name, or all that are there', async (t) => {
  const report = await openReport(t)
  const headOf = (standing: Standing): number | null | undefined => report(standing).views[1]?.head
  const more = [
    link({ role: 'away', head: 30 }),
    link({ identity: null, head: 30 }),
    link({ identity: 'a stranger', head: 30 }),
  ]
  const heads = [9, null, 20, 15]
  assert.deepEqual(
    [1, 2, 3, 4].map((minimumHosts) => headOf({ heads, more, minimumHosts })),
    [20, 15, 9, 9],
  )
  assert.equal(headOf({ heads: [null], more }), null)
})

test('a View is live once it has what the Hosts have, waits while none feeds it', async (t) => {
  const report = await openReport(t)
  const stateOf = (standing: Standing, view = 0): unknown => report(standing).views[view]?.state
  assert.deepEqual(
    [5, 6, 7].map((head) => stateOf({ heads: [head] })),
    ['live', 'live', 'catching-up'],
  )
  assert.equal(stateOf({ heads: [null] }), 'catching-up')
  assert.equal(stateOf({ heads: [6], isFed: false }), 'waiting')
  assert.equal(stateOf({ heads: [0] }, 1), 'catching-up', 'it has nothing yet')
  assert.equal(report({ heads: [4] }).views[0]?.head, 6, 'it is stored, whatever Hosts say')
})

test('a View that nobody described yet has no name, and waits though a Host would feed it', async (t) => {
  const { state } = await openState(t)
  const { views, store } = state.parts
  const id = namedHash('a View')
  const report = createStateReport({
    ...{ minimumHosts: 1, isAccepted: () => true, failure: () => null, reader: store.reader },
    views: { ...views, ids: [id] },
    follower: {
      progress: () => ({
        ...{ isKnown: false, passed: 0, pending: 0, isFull: false, stored: -1 },
        ...{ isFailed: false, differing: [], leaving: [] },
      }),
    },
    links: { reports: () => [link({ head: 3 })], isFed: () => true },
  })
  assert.deepEqual(report().views, [
    {
      ...{ id, name: null, state: 'waiting', done: [], rows: 0, bytes: 0 },
      ...{ head: 3, blocksPending: 0, blocksFailed: 0 },
    },
  ])
})

test('of more than 100 ranges of heights the highest are said', async (t) => {
  const { state } = await openState(t)
  const { views, store } = state.parts
  const view = views.find(madeView) ?? assert.fail('it is known')
  const proofs = { seals: () => [], excerpts: () => [] }
  const blocks = Array.from({ length: 101 }, (_, index) => pendingBlock(2 * index, { rows: null }))
  const [rows] = madeBlocks(1).map((block) => block.rows)
  for (const block of blocks)
    await state.blocks.put(view, [{ ...block, rows: rows ?? null }], null, proofs)
  const report = createStateReport({
    ...{
      minimumHosts: 1,
      isAccepted: () => true,
      failure: () => null,
      reader: store.reader,
      views,
    },
    follower: {
      progress: () => ({
        ...{ isKnown: true, passed: 0, pending: 0, isFull: false, stored: 200 },
        ...{ isFailed: false, differing: [], leaving: [] },
      }),
    },
    links: { reports: () => [link({ head: 200 })], isFed: () => true },
  })
  const { done, rows: count, state: how } = report().views[0] ?? assert.fail('it is followed')
  assert.deepEqual(
    [done.length, done[0], done.at(-1)],
    [100, { from: 2, to: 2 }, { from: 200, to: 200 }],
  )
  assert.deepEqual([count, how], [202, 'live'])
})
