/** An application that follows several Views, of Hosts that do not have all of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { App } from '../../src/app/app.ts'
import { createMadeChain, madeView, otherView } from './support/made-chain.ts'
import { openMadeHost } from './support/made-host.ts'
import { openTestApp, untilState } from './support/test-app.ts'

const views = [madeView, otherView]

/** The heights of the rows of both Views. */
async function heightsOf(app: App): Promise<Record<string, number[]>> {
  const fields = '{ _blockNumber }'
  const { data } = await app.query<Record<string, { _blockNumber: number }[]>>(
    `{ Payment ${fields} Refund ${fields} }`,
  )
  return Object.fromEntries(
    Object.entries(data).map(([name, rows]) => [name, rows.map((row) => row._blockNumber)]),
  )
}

/** What is waited for is not so yet. */
async function assertPending(wait: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const leaving = new AbortController()
  const waiting = wait(leaving.signal)
  leaving.abort(new Error('not yet'))
  await assert.rejects(waiting, /not yet/)
}

const doneTo = (height: number) => (state: ReturnType<App['state']>) =>
  state.views.every(({ done }) => done.at(-1)?.to === height)

test('rows of each View come from the Host that has it, also after a reorganisation', async (t) => {
  const chain = createMadeChain()
  chain.grow(3, 1)
  const hosts = [
    await openMadeHost(t, { chain, views: [madeView] }),
    await openMadeHost(t, { chain, views: [otherView] }),
  ]
  const app = await openTestApp(t, { hosts, views })
  await app.untilReady()
  const { hosts: links, views: reports } = await untilState(app, doneTo(2))
  assert.deepEqual(
    links.map(({ role, views: had }) => [role, had[madeView], had[otherView]]),
    [
      ['feeds', 'live', 'unknown'],
      ['feeds', 'unknown', 'live'],
    ],
  )
  assert.deepEqual(
    reports.map(({ name }) => name),
    ['Payment', 'Refund'],
  )
  assert.deepEqual(await heightsOf(app), { Payment: [0, 1, 2], Refund: [0, 1, 2] })
  chain.reorganise(2)
  await untilState(app, doneTo(3))
  const { data, incomplete } = await app.query('{ Payment { to } Refund { to } }')
  const branches = ['0', '1', '1', '1', '1', '1', '1'].map((to) => ({ to }))
  assert.deepEqual(data, { Payment: branches, Refund: branches })
  assert.deepEqual(incomplete, [])
})

test('one Host feeds two Views, and both go where a reorganisation takes them', async (t) => {
  const chain = createMadeChain()
  chain.grow(3, 1)
  const hosts = [await openMadeHost(t, { chain, views }), await openMadeHost(t, { chain, views })]
  const app = await openTestApp(t, { hosts, views, minimumHosts: 2 })
  await untilState(app, doneTo(2))
  await app.untilReady()
  chain.reorganise(2)
  await untilState(app, doneTo(3))
  const height = [0, 1, 1, 2, 2, 3, 3]
  assert.deepEqual(await heightsOf(app), { Payment: height, Refund: height })
})

test('an application is not ready while one of its Views is not known yet', async (t) => {
  const chain = createMadeChain()
  chain.grow(1, 1)
  const host = await openMadeHost(t, { chain, views: [madeView] })
  const app = await openTestApp(t, { hosts: [host], views })
  await untilState(app, ({ views: [first] }) => first?.state === 'live')
  await assertPending(app.untilReady)
  await assert.rejects(app.query('{ Refund { to } }'), {
    code: 'APP_QUERY_REFUSED',
    remedy: /^Not all Views are known yet/,
  })
})

test('a View that is far behind holds up no other, and answers say what it lacks', async (t) => {
  const chain = createMadeChain()
  chain.grow(20, 1)
  let isLate = true
  const late = await openMadeHost(t, {
    chain,
    views: [otherView],
    alter: (block) => (isLate && block.number > 4 ? 'nothing' : block),
  })
  const host = await openMadeHost(t, { chain, views: [madeView] })
  const app = await openTestApp(t, { hosts: [host, late], views })
  await app.untilReady()
  const { views: reports } = await untilState(
    app,
    ({ views: [quick, slow] }) => quick?.state === 'live' && slow?.done[0]?.to === 4,
  )
  assert.equal(reports[1]?.state, 'catching-up')
  await assertPending(app.untilLive)
  const { incomplete } = await app.query('{ COUNT(Payment: {}) refunds: COUNT(Refund: {}) }')
  assert.deepEqual(
    incomplete.map(({ name, blocksLeft, left }) => ({ name, blocksLeft, left })),
    [{ name: 'Refund', blocksLeft: 15, left: [{ from: 5, to: 19 }] }],
  )
  isLate = false
  late.drop()
  await untilState(app, doneTo(19))
})
