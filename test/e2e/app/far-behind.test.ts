/** Two Views of real Hosts of which one is far behind the other. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type App, type AppOptions, openApp } from '../../../src/app/app.ts'
import { assertSigned, assertTrue, shownTransfers, untilDone } from './support/checked-rows.ts'
import { type Fleet, followOptions, startFleet } from './support/fleet.ts'
import { transfersSdl } from './support/transfers.ts'
import { readTrueTransfers } from './support/true-transfers.ts'

const lateSdl = transfersSdl.replace('type Transfer', 'type LateTransfer')
const anyone = (): boolean => true

async function mine({ chain }: Fleet, blocks: number): Promise<number> {
  for (let block = 0; block < blocks; block++) await chain.mine(1)
  return chain.head().number
}

async function opened(t: TestContext, options: AppOptions): Promise<App> {
  const app = await openApp(options)
  t.after(() => app.close())
  return app
}

/** Both Views have all transfers up to the height, each once and signed by so many Hosts. */
async function assertBoth(app: App, fleet: Fleet, head: number, least: number): Promise<void> {
  const { views } = await untilDone(app, head, { from: 0 })
  const done = [{ from: 0, to: head }]
  assert.deepEqual(
    views.map((view) => view.done),
    [done, done],
  )
  const due = await readTrueTransfers(fleet.chain.anvil.url, fleet.token, { from: 0, to: head })
  for (const name of ['Transfer', 'LateTransfer']) {
    const shown = await shownTransfers(app, name)
    assertTrue(shown, due)
    assertSigned(app, shown, { least, mayHaveSigned: anyone })
  }
}

test('a View that Hosts get later is made up for beside one that is ahead, without a gap', async (t) => {
  const fleet = await startFleet(t, { seed: 'late', hosts: [{ name: 'one' }, { name: 'two' }] })
  const [one, two] = fleet.hosts
  assert.ok(one && two)
  const early = await mine(fleet, 100)
  const views = [fleet.view, await fleet.post(one, lateSdl)]
  const either = await opened(t, { ...followOptions(fleet, 'either'), views, minimumHosts: 1 })
  await assertBoth(either, fleet, early, 1)
  const options = { ...followOptions(fleet, 'two'), views }
  const before = await opened(t, options)
  const { views: reports } = await untilDone(before, early, { from: 0, views: 1 })
  assert.deepEqual(
    reports.map(({ done }) => done),
    [[{ from: 0, to: early }], []],
  )
  await before.close()
  const head = await mine(fleet, 20)
  await fleet.post(two, lateSdl)
  const both = await opened(t, options)
  await assertBoth(both, fleet, head, 2)
  const last = await mine(fleet, 5)
  await assertBoth(both, fleet, last, 2)
  await assertBoth(either, fleet, last, 1)
  fleet.pass()
})
