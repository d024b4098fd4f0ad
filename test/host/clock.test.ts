/** Clocks that jump: nothing a Host decides goes by the time of day. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChain, shapes } from '../support/chain/block-factory.ts'
import { openTestGenerator } from '../support/test-generator.ts'
import { storedChain } from '../support/test-store.ts'
import { openTestHost } from './support/test-host.ts'

const hourMs = 3_600_000

test('clocks that jump both ways: a Host goes on pulling, following and hearing its signers', async (t) => {
  const chain = createChain({ count: 60, from: 1, shape: shapes.tiny })
  const generator = await openTestGenerator(t, 'alice', chain.slice(0, 10))
  const host = await openTestHost(t, { peers: [generator.room.address] })
  await host.reached(10)
  const realNow = Date.now
  let offMs = 0
  t.mock.method(Date, 'now', () => realNow() + offMs)
  for (const [top, jumpMs] of [
    [20, hourMs],
    [30, -hourMs],
    [40, -24 * hourMs],
    [50, 24 * hourMs],
    [60, 0],
  ] as const) {
    offMs = jumpMs
    generator.add(chain.slice(top - 10, top - 1))
    await generator.publish(chain.slice(top - 1, top))
    await host.reached(top)
    assert.deepEqual(host.status.state().errors, [])
    assert.equal(host.status.gauges.countedSigners(), 1)
  }
  assert.equal(storedChain(host.reader).length, 60)
})
