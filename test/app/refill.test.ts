/** Blocks that no Host in reach had when an application got those above them, and one has now. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMadeChain, type MadeBlock } from './support/made-chain.ts'
import { openMadeHost } from './support/made-host.ts'
import { openTestApp, topOf, untilState } from './support/test-app.ts'

const patience = { checkMs: 50, missingCheckMs: 100 }

test('blocks below the first come once a Host has them, from two Hosts where two have to agree', async (t) => {
  const chain = createMadeChain()
  chain.grow(10)
  let tail = 6
  const options = {
    chain,
    get tail() {
      return tail
    },
  }
  const hosts = [await openMadeHost(t, options), await openMadeHost(t, options)]
  const app = await openTestApp(t, { hosts, minimumHosts: 2, patience })
  const { views } = await untilState(app, (state) => topOf(state) === 9)
  assert.deepEqual(views[0]?.done, [{ from: 6, to: 9 }])
  tail = 0
  for (const host of hosts) host.drop()
  await untilState(app, ({ views: [view] }) => {
    const only = view?.done[0]
    return only?.from === 0 && only.to === 9
  })
  const { data, incomplete } = await app.query<{ Payment: { _hosts: number }[] }, object>(
    '{ Payment { _hosts } }',
  )
  assert.deepEqual(
    data.Payment.map(({ _hosts }) => _hosts),
    Array.from({ length: 20 }, () => 2),
  )
  assert.deepEqual(incomplete, [])
})

test('a block at which the View failed comes once a Host has computed it', async (t) => {
  const chain = createMadeChain()
  chain.grow(6)
  let isFailing = true
  const alter = (block: MadeBlock): MadeBlock =>
    isFailing && block.number === 2 ? { ...block, rows: null } : block
  const hosts = [await openMadeHost(t, { chain, alter }), await openMadeHost(t, { chain, alter })]
  const app = await openTestApp(t, {
    hosts,
    minimumHosts: 2,
    patience: { ...patience, failedMs: 200, missingIdleMs: 500, missingHostMs: 100 },
  })
  const passed = await untilState(app, (state) => topOf(state) === 5)
  assert.equal(passed.views[0]?.blocksFailed, 1)
  isFailing = false
  for (const host of hosts) host.drop()
  const { views } = await untilState(app, ({ views: [view] }) => view?.done[0]?.to === 5)
  assert.equal(views[0]?.blocksFailed, 0)
  assert.equal(views[0]?.rows, 12)
})

test('new blocks do not wait for those that are missing', async (t) => {
  const chain = createMadeChain()
  chain.grow(3_000)
  let [tail, blockMs] = [2_990, 0]
  const host = await openMadeHost(t, {
    chain,
    get tail() {
      return tail
    },
    get blockMs() {
      return blockMs
    },
  })
  const app = await openTestApp(t, { hosts: [host], patience })
  await untilState(app, (state) => topOf(state) === 2_999)
  tail = 0
  blockMs = 20
  host.drop()
  await untilState(app, ({ views: [view] }) => view?.done[0]?.from === 0)
  chain.grow(5)
  const { views } = await untilState(app, (state) => topOf(state) === 3_004)
  assert.equal(views[0]?.done.length, 2)
  await app.close()
})

test('missing blocks come from the Host that has them, whichever others are asked first', async (t) => {
  const chain = createMadeChain()
  chain.grow(10)
  let tail = 6
  const hosts = [
    await openMadeHost(t, { chain, tail: 6 }),
    await openMadeHost(t, {
      chain,
      tail: 0,
      alter: (block) => (block.number < 6 ? 'nothing' : block),
    }),
    await openMadeHost(t, {
      chain,
      get tail() {
        return tail
      },
    }),
  ]
  const app = await openTestApp(t, {
    hosts,
    patience: { ...patience, stallMs: 300, unseenMs: 300 },
  })
  await untilState(app, (state) => topOf(state) === 9)
  tail = 0
  hosts[2]?.drop()
  const { views } = await untilState(app, ({ views: [view] }) => {
    const only = view?.done[0]
    return only?.from === 0 && only.to === 9
  })
  assert.equal(views[0]?.rows, 20)
})

test('a block that cannot be had, though its Host comes again and again, holds up no other', async (t) => {
  const chain = createMadeChain()
  chain.grow(10)
  const missing = new Set([2, 6])
  let tail = 9
  const host = await openMadeHost(t, {
    chain,
    alter: (block) => (missing.has(block.number) ? 'nothing' : block),
    replace: (frame) => {
      if (frame.kind !== 'welcome') return [frame]
      return [{ ...frame, views: frame.views.map((view) => ({ ...view, tail })) }]
    },
  })
  const app = await openTestApp(t, {
    hosts: [host],
    from: 1,
    patience: { ...patience, missingIdleMs: 1_500, missingHostMs: 500 },
  })
  await untilState(app, (state) => topOf(state) === 9)
  missing.delete(6)
  tail = 0
  const flapping = setInterval(() => {
    chain.grow(1)
    host.drop()
  }, 1_000)
  t.after(() => clearInterval(flapping))
  const { views } = await untilState(app, ({ views: [view] }) => view?.done.length === 2)
  assert.equal(views[0]?.done[1]?.from, 3)
})
