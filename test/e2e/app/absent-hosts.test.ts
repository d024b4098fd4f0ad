/** Real Hosts that are not there, and Hosts that no longer have what an application lacks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApp } from '../../../src/app/app.ts'
import { pause } from '../../support/programs.ts'
import { assertSigned, assertTrue, shownTransfers, untilDone } from './support/checked-rows.ts'
import { type Fleet, followOptions, startFleet } from './support/fleet.ts'
import { readTrueTransfers, type Transfer } from './support/true-transfers.ts'

const anyone = { least: 2, mayHaveSigned: (): boolean => true }

async function mine({ chain }: Fleet, blocks: number): Promise<number> {
  for (let block = 0; block < blocks; block++) await chain.mine(1)
  return chain.head().number
}

function dueOf({ chain, token }: Fleet, from: number, to: number): Promise<Transfer[]> {
  return readTrueTransfers(chain.anvil.url, token, { from, to })
}

const eachHost = (fleet: Fleet, act: 'start' | 'stop'): Promise<unknown> =>
  Promise.all(fleet.hosts.map(({ program }) => program[act]()))

test('an application that was there first follows its Hosts, answers without them, and goes on', async (t) => {
  const fleet = await startFleet(t, { seed: 'absent', hosts: [{ name: 'one' }, { name: 'two' }] })
  const first = await mine(fleet, 5)
  await eachHost(fleet, 'stop')
  const app = await openApp(followOptions(fleet))
  t.after(() => app.close())
  assert.equal(app.state().views[0]?.state, 'waiting')
  await eachHost(fleet, 'start')
  await untilDone(app, first)
  await eachHost(fleet, 'stop')
  const head = await mine(fleet, 5)
  const offline = await shownTransfers(app)
  assertTrue(offline, await dueOf(fleet, 0, first))
  assertSigned(app, offline, anyone)
  await eachHost(fleet, 'start')
  await untilDone(app, head)
  const shown = await shownTransfers(app)
  assertTrue(shown, await dueOf(fleet, 0, head))
  assertSigned(app, shown, anyone)
  fleet.pass()
})

test('an application goes on from what Hosts still have, and says which blocks it has', async (t) => {
  const kept = 10
  const settings = { PRUNER_MAX_BLOCKS: String(kept) }
  const fleet = await startFleet(t, {
    seed: 'pruned',
    hosts: [
      { name: 'one', settings },
      { name: 'two', settings },
    ],
  })
  const options = followOptions(fleet)
  const before = await openApp(options)
  t.after(() => before.close())
  const last = await mine(fleet, 4)
  await untilDone(before, last)
  const from = before.state().views[0]?.done[0]?.from ?? 0
  await before.close()
  const head = await mine(fleet, 40)
  // A Host that still gets blocks may prune one before the application has asked for it.
  const oldest = head - kept + 1
  for (const { program } of fleet.hosts)
    while ((await program.health()).tail !== oldest) await pause(100)
  const app = await openApp(options)
  t.after(() => app.close())
  const { views } = await untilDone(app, head, { from: oldest })
  assert.deepEqual(views[0]?.done, [
    { from, to: last },
    { from: oldest, to: head },
  ])
  const query = '{ Transfer { blockNumber } }'
  const { data } = await app.query<{ Transfer: Transfer[] }, object>(query)
  const due = [...(await dueOf(fleet, from, last)), ...(await dueOf(fleet, oldest, head))]
  assert.deepEqual(
    data.Transfer.map(({ blockNumber }) => blockNumber),
    due.map(({ blockNumber }) => blockNumber),
  )
  fleet.pass()
})
