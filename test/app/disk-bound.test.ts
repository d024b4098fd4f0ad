/** How much of the disk an application uses. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRowType } from '../../src/views/row-type.ts'
import { createRowPacker, type PackedRows } from '../../src/views/rows.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { createMadeChain, madeSdl } from './support/made-chain.ts'
import { openMadeHost } from './support/made-host.ts'
import { openTestApp, topOf, untilState } from './support/test-app.ts'

/** A thousand rows that take some 300 kB however they are compressed. */
function largeRows(number: number): PackedRows {
  const random = createSeededRandom(`block ${number}`)
  const packer = createRowPacker(parseRowType(madeSdl))
  const text = (): string => random.bytes(300).toString('base64')
  for (let row = 0; row < 1_000; row++)
    packer.add({ from: `0x${number}`, to: text(), amount: row }, row)
  return packer.finish()
}

test('the rows of the lowest blocks go once all take more than they may', async (t) => {
  const chain = createMadeChain({ from: 5 })
  const host = await openMadeHost(t, {
    chain,
    alter: (block) => ({ ...block, rows: largeRows(block.number) }),
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
