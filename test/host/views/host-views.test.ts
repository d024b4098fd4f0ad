/** The Views of a Host, assembled: what its metrics say of how they stand, and the thread that checks them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { openHostViews } from '../../../src/host/views/host-views.ts'
import { decodeBlockRows } from '../../../src/views/rows/block-rows.ts'
import { noSender } from '../../../src/views/view-id.ts'
import { encodeView } from '../../../src/views/wire.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { openTestStore, testDirectory } from '../../support/test-store.ts'

/** Closed after the test. */
async function openTestViews(t: TestContext) {
  const store = await openTestStore(t)
  const registry = new Registry()
  const views = openHostViews(
    {
      ...{ storePath: testDirectory(t), network: testNetwork, environment: process.env },
      ...{ maxViews: 4, lensThreads: 1 },
    },
    {
      log: pino({ enabled: false }),
      registry,
      reader: store.reader,
      writer: {
        ...store,
        putViewRows: (slot, bytes) => store.putViewRows(slot, decodeBlockRows(bytes)),
        onStored: () => undefined,
      },
      graphql: { setViews: () => undefined, notifyRows: () => undefined },
      onFatal: (error) => assert.fail(String(error)),
    },
  )
  t.after(views.close)
  const register = (type: string, query = 'Log { address }') => {
    const sdl = `type ${type} { address: String }`
    const wire = encodeView({ query, sdl, lenses: [] })
    return views.register({ sender: noSender, registeredAt: null, wire }, 'posted')
  }
  return { views, registry, register }
}

test('the metric of Views counts each by its state, those of other chains too', async (t) => {
  const { views, registry, register } = await openTestViews(t)
  const counts = async (): Promise<string[]> =>
    [...(await registry.metrics()).matchAll(/^viewmesh_host_views\{state="(.*)$/gm)]
      .map(([, state = '']) => state)
      .toSorted()
  assert.deepEqual(await counts(), [])
  await register('Own @materialized(if: false)')
  await register('Kept')
  await register('Far', 'Arbitrum__One__Log { address }')
  const { report } = await register('Further', 'Arbitrum__One__Log { address }')
  assert.deepEqual(await counts(), ['foreign"} 2', 'waiting"} 2'])
  await views.remove(report.id)
  assert.deepEqual(await counts(), ['foreign"} 1', 'waiting"} 2'])
  assert.equal(views.list().length, 3)
  await views.close()
  assert.deepEqual([await counts(), views.list()], [[], []], 'the store is not read any more')
})

test('Views posted together share the thread that checks them, which ends with the last of them', async (t) => {
  const { register } = await openTestViews(t)
  const threads: Worker[] = []
  const note = (worker: Worker): void => void threads.push(worker)
  process.on('worker', note)
  t.after(() => process.removeListener('worker', note))
  const refused = assert.rejects(register('Bad', 'Nothing { x }'), { code: 'VIEWS_QUERY_INVALID' })
  await Promise.all([register('One'), refused, register('Two')])
  const [shared] = threads
  assert.ok(shared !== undefined && threads.length === 1, `${threads.length} threads`)
  await once(shared, 'exit')
  await register('Three')
  assert.equal(threads.length, 2)
})
