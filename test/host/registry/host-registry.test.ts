/** When a Host decides which registered Views it serves. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { openHostRegistry } from '../../../src/host/registry/host-registry.ts'
import type { HostViews } from '../../../src/host/views/views.ts'
import { captureLog } from '../../support/captured-log.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { watchTimers } from '../../support/leaks/timers.ts'
import { until } from '../../support/p2p-room.ts'
import { openTestStore, testDirectory } from '../../support/test-store.ts'

test('a Host that closes looks at neither its lists nor its Views any more', async (t) => {
  const { reader, putRecord } = await openTestStore(t)
  const running = watchTimers(t)
  const home = testDirectory(t)
  const files = ['allow', 'deny'].map((name) => join(home, name))
  for (const file of files) writeFileSync(file, '')
  const [registryAllowFile = '', registryDenyFile = ''] = files
  const lists = { registryAllow: [], registryAllowFile, registryDeny: [], registryDenyFile }
  const urls = { registryLcdUrl: null, registryRpcUrl: null }
  const noViews: Partial<HostViews> = { list: () => [], kept: () => [], onLocal: () => undefined }
  const registry = await openHostRegistry(
    { ...lists, ...urls, maxViews: 3, registryMaxMb: 1, network: testNetwork },
    {
      ...{ log: captureLog().log, registry: new Registry(), reader, writer: { putRecord } },
      views: noViews as HostViews,
      onFatal: (error) => assert.fail(String(error)),
    },
  )
  assert.equal(running().length, 3)
  await registry.close()
  assert.deepEqual(running(), [])
})

test('a Host decides at its start, after a local View or a list has changed, and each 10 seconds', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { reader, putRecord } = await openTestStore(t)
  const served = new Set(['Denied', 'Later', 'Last'])
  let onLocal = (): void => assert.fail('nobody listens')
  const views: Partial<HostViews> = {
    list: () =>
      [...served].map((type) => {
        const ids = { id: type, address: `address of ${type}`, creator: 'somebody' }
        return { ...ids, type, state: 'live', origins: ['registry'], bytes: 0, fields: 0 }
      }) as unknown as ReturnType<HostViews['list']>,
    kept: () => [],
    withdraw: async (id) => void served.delete(id),
    onLocal: (listener) => {
      onLocal = listener
    },
  }
  const deny = join(testDirectory(t), 'deny')
  writeFileSync(deny, 'Denied')
  const lists = { registryAllow: [], registryAllowFile: null, registryDeny: [] }
  const urls = { registryLcdUrl: null, registryRpcUrl: null }
  const room = { maxViews: 3, registryMaxMb: 1 }
  const registry = await openHostRegistry(
    { ...lists, registryDenyFile: deny, ...urls, ...room, network: testNetwork },
    {
      ...{ log: captureLog().log, registry: new Registry(), reader, writer: { putRecord } },
      views: views as HostViews,
      onFatal: (error) => assert.fail(String(error)),
    },
  )
  t.after(() => registry.close())
  const areServed = (...names: readonly string[]): Promise<void> =>
    until(() => [...served].join() === names.join())
  await areServed('Later', 'Last')

  writeFileSync(deny, 'Denied\nLater')
  t.mock.timers.tick(2_000)
  await areServed('Last')

  served.add('Denied')
  onLocal()
  await areServed('Last')

  served.add('Later')
  t.mock.timers.tick(8_000)
  await areServed('Last')
})
