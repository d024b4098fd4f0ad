/** How much of the disk an application uses. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { largeRows } from './support/large-rows.ts'
import { createMadeChain } from './support/made-chain.ts'
import { openMadeHost } from './support/made-host.ts'
import { openTestApp, topOf, untilState } from './support/test-app.ts'

test('the rows of the lowest blocks go once all take more than they may', async (t) => {
  const chain = createMadeChain({ from: 5 })
  const host = await openMadeHost(t, {
    chain,
    alter: (block) => ({ ...block, rows: largeRows(`block ${block.number}`) }),
  })
  const maxBytes = 16 * 1024 * 1024
  const app = await openTestApp(t, { hosts: [host], maxBytes })
  for (let blocks = 10; blocks <= 100; blocks += 10) {
    chain.grow(10)
    await untilState(app, (state) => topOf(state) === blocks + 4)
  }
  const { bytes, views } = await untilState(app, (state) => state.bytes <= maxBytes)
  const [view] = views
  assert.ok(bytes > 0 && view !== undefined && view.rows < 100_000)
  assert.ok((view.done[0]?.from ?? 0) > 0)
  assert.equal(view.done.length, 1)
  const query = '{ Payment(filter: {_blockNumber: {_eq: 99}}) { amount } }'
  const { data, incomplete } = await app.query<{ Payment: object[] }, object>(query)
  assert.equal(data.Payment.length, 1_000)
  assert.deepEqual(incomplete, [])
  const below = view.done[0]?.from ?? 0
  const all = await app.query('{ COUNT(Payment: {}) }')
  assert.deepEqual(
    all.incomplete.map(({ blocksLost, lost, blocksLeft }) => ({ blocksLost, lost, blocksLeft })),
    [{ blocksLost: below - 5, lost: [{ from: 5, to: below - 1 }], blocksLeft: 0 }],
  )
  await assert.rejects(app.query(`{ Payment(filter: {_blockNumber: ${below - 1}}) { to } }`), {
    message:
      /^There are no rows of the View Payment at block \d+: they went because .* took too much/,
  })
})

test('missing blocks of which some have to go at once for the bytes of the store hold up nothing', async (t) => {
  const chain = createMadeChain()
  chain.grow(100)
  let tail = 60
  const host = await openMadeHost(t, {
    chain,
    alter: (block) => ({ ...block, rows: largeRows(`block ${block.number}`) }),
    get tail() {
      return tail
    },
  })
  const app = await openTestApp(t, { hosts: [host], maxBytes: 16 * 1024 * 1024 })
  await untilState(app, (state) => topOf(state) === 99)
  tail = 0
  host.drop()
  await untilState(app, ({ views: [view] }) => view?.done.length === 2)
  await untilState(app, ({ views: [view] }) => view?.done.length === 1)
  chain.grow(1)
  await untilState(app, (state) => topOf(state) === 100)
})
