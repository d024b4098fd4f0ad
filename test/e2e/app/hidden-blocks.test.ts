/** Real Hosts of which one hides that blocks gave way, while the application reaches none of the others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApp } from '../../../src/app/app.ts'
import { pause } from '../../support/programs.ts'
import { assertSigned, assertTrue, shownTransfers, untilDone } from './support/checked-rows.ts'
import { followOptions, startFleet } from './support/fleet.ts'
import { readTrueTransfers, type Transfer } from './support/true-transfers.ts'

/** Fewer than the newest ones of which a Host passes on what others signed, as it learns that once a minute. */
const blocksAbove = 30

test('rows that one Host kept of blocks that gave way go when the others are in reach', async (t) => {
  const fleet = await startFleet(t, {
    seed: 'hidden',
    hosts: [{ name: 'hiding', preload: './hiding-host.ts' }, { name: 'two' }, { name: 'three' }],
  })
  const { chain, token } = fleet
  const [hiding, ...others] = fleet.hosts
  await hiding?.program.stop()
  // It takes in what its bootstrap peers signed, and passes it on.
  const peers = [fleet.generator, ...others.map(({ address }) => address)]
  await hiding?.program.start({ BOOTSTRAP_PEERS: peers.join() })
  const options = followOptions(fleet)
  const mine = async (blocks: number): Promise<number> => {
    for (let block = 0; block < blocks; block++) await chain.mine(1)
    return chain.head().number
  }
  const due = (to: number): Promise<Transfer[]> =>
    readTrueTransfers(chain.anvil.url, token, { from: 0, to })
  const early = await openApp(options)
  t.after(() => early.close())
  const left = await mine(6)
  await untilDone(early, left, { from: 0 })
  const before = await due(left)
  await early.close()

  const deceived = await openApp({ ...options, peers: options.peers.slice(0, 1) })
  t.after(() => deceived.close())
  while (deceived.state().hosts[0]?.role !== 'feeds') await pause(50)
  await chain.reorganise(2, 'replaced')
  const head = await mine(blocksAbove)
  await untilDone(deceived, head)
  const wanted = await due(head)
  const gone = before.filter(({ blockNumber }) => blockNumber === left)
  assert.ok(gone.length > 0)
  const shown = await shownTransfers(deceived)
  assert.ok(shown.length >= wanted.length + gone.length, 'it has rows that the chain has not')
  await deceived.close()

  const app = await openApp(options)
  t.after(() => app.close())
  const signal = AbortSignal.timeout(120_000)
  const isTrue = async (): Promise<boolean> => {
    const { data } = await app.query<{ Transfer: unknown[] }, object>('{ Transfer { hash } }')
    return data.Transfer.length === wanted.length
  }
  while (!(await isTrue())) {
    signal.throwIfAborted()
    await pause(100)
  }
  await untilDone(app, head, { from: 0 })
  const mended = await shownTransfers(app)
  assertTrue(mended, wanted)
  assertSigned(app, mended, { least: 2, mayHaveSigned: () => true })
  fleet.pass()
})
