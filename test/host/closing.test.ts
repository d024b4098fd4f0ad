/** How a Host is closed: what it says meanwhile, and that nothing of it goes on. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { hostSettings } from '../../src/host/config.ts'
import { openHostMesh } from '../../src/host/mesh.ts'
import { loadSettings } from '../../src/service/settings/settings.ts'
import { captureLog } from '../support/captured-log.ts'
import { testNetwork, testSigner } from '../support/chain/sealed-blocks.ts'
import { openHostInProcess } from '../support/host-in-process.ts'
import { watchTimers } from '../support/leaks/timers.ts'
import { openTestStore, testDirectory } from '../support/test-store.ts'

type MeshParts = Parameters<typeof openHostMesh>[1]

test('a Host that is closed looks at nothing any more', async (t) => {
  const running = watchTimers(t)
  const home = testDirectory(t)
  const folder = join(home, 'views')
  mkdirSync(folder)
  const names = [
    ...['BOOTSTRAP_PEERS_FILE', 'P2P_ANNOUNCE_FILE', 'HOST_SIBLINGS_FILE'],
    ...['HOST_TRUSTED_SIGNERS_FILE', 'HOST_TRUSTED_HOSTS_FILE'],
    ...['REGISTRY_ALLOW_FILE', 'REGISTRY_DENY_FILE'],
  ]
  const files = names.map((name) => [name, join(home, name)] as const)
  for (const [, path] of files) writeFileSync(path, '')
  const host = await openHostInProcess(t, home, {
    ...Object.fromEntries(files),
    HOST_TRUST: 'signers',
    HOST_VIEWS_DIR: folder,
    REGISTRY_LCD_URL: 'http://127.0.0.1:1',
    GENERATOR_SCHEMA_URL: 'http://127.0.0.1:1',
  })
  await host.opened
  const before = running()
  assert.ok(before.length > names.length, before.join())
  await host.close()
  assert.deepEqual(running(), [])
})

test('a Host that cannot listen for peers looks at no file of them any more', async (t) => {
  const running = watchTimers(t)
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const path = join(testDirectory(t), 'peers')
  writeFileSync(path, '')
  const env = {
    DB_KEYRING_SECRET: 'not used here',
    DB_P2P_LISTEN_ADDR: `/ip4/127.0.0.1/tcp/${port}`,
    BOOTSTRAP_PEERS_FILE: path,
  }
  const settings = loadSettings(hostSettings, { argv: [], env })
  const { reader } = await openTestStore(t)
  const before = running()
  const parts: Partial<MeshParts> = {
    ...{ log: captureLog().log, registry: new Registry(), reader },
    signer: testSigner('a Host'),
  }
  const peerSeed = new Uint8Array(32)
  const opening = openHostMesh({ settings, network: testNetwork, peerSeed }, parts as MeshParts)
  await assert.rejects(opening, { code: 'P2P_LISTEN_FAILED' })
  assert.deepEqual(running(), before)
})

test('a Host that closes is not ready any more, and says how it is until nothing else is open', async (t) => {
  const host = await openHostInProcess(t, testDirectory(t), {
    REGISTRY_LCD_URL: 'http://127.0.0.1:1',
  })
  await host.opened
  const said: (readonly [string, string])[] = []
  await host.close(async (name) => {
    if (name === 'health server' || name === 'metrics') return
    const { report } = await host.health()
    const ready = await fetch(`${host.healthUrl}/ready`)
    assert.ok((await fetch(`${host.healthUrl}/metrics`)).ok, `metrics after ${name}`)
    const facts = {
      ready: ready.ok,
      peers: report.p2p.self !== undefined,
      store: report.defradb_connected,
    }
    const names = Object.entries(facts).flatMap(([fact, isSo]) => (isSo ? [fact] : []))
    said.push([name, names.join(' and ')])
  })
  const ofRows = ['log of rows', 'row disagreements', 'views folder', 'row signer']
  const withStore = ['report of peers', 'mesh', 'api', 'registry', ...ofRows, 'views', 'trust']
  const withNothing = ['status', 'volume watch', 'reader', 'writer', 'schema']
  assert.deepEqual(said, [
    ...['readiness', 'failure log'].map((name) => [name, 'peers and store']),
    ...withStore.map((name) => [name, 'store']),
    ...withNothing.map((name) => [name, '']),
  ])
})
