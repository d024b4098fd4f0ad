/** The whole Host with blocks that it has: an application follows a View that was posted, over libp2p. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { pino } from 'pino'
import { openWriter } from '../../../src/store/write/writer.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { openHostInProcess } from '../../support/host-in-process.ts'
import { openRoom, until } from '../../support/p2p-room.ts'
import { testDirectory } from '../../support/test-store.ts'
import { engineChain } from '../views/engine/support/engine-room.ts'
import { openFollowClient } from './support/follow-client.ts'

const token = 'admin'
const blocks = engineChain(9)

test('an application follows a View of a Host until the Host stops', async (t) => {
  const home = testDirectory(t)
  const options = {
    path: join(home, 'store'),
    network: testNetwork,
    program: 'host',
    retainBlocks: null,
  } as const
  const store = await openWriter(options, { log: pino({ enabled: false }) })
  for (const block of blocks) await store.putSealedBlock(block)
  await store.close()
  const [chain = '', network = ''] = testNetwork.split('__')
  const names = { CHAIN_NAME: chain, CHAIN_NETWORK: network }
  const kept = { PRUNER_MAX_BLOCKS: '50' }
  const archive = await openRoom(t, { options: { network: testNetwork } })
  for (const { header } of blocks) archive.blocks.set(header.number, new Uint8Array())
  const host = await openHostInProcess(t, home, {
    HOST_ADMIN_TOKEN: token,
    // It is not found there, but comes by itself later.
    BOOTSTRAP_PEERS: `/ip4/127.0.0.1/tcp/1/p2p/${archive.id}`,
    ...kept,
    ...names,
  })
  const { apiPort, p2p } = await host.opened
  const posted = await fetch(`http://127.0.0.1:${apiPort}/api/v0/views`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'Log { address }', sdl: 'type Addresses { address: String }' }),
  })
  assert.equal(posted.status, 201)
  const { id } = (await posted.json()) as { id: string }
  const application = await openRoom(t, { options: { network: testNetwork } })
  const { id: peer, addresses } = p2p.self()
  const connected = application.event('connected', peer)
  const hostAddress = `${addresses.at(-1)}/p2p/${peer}`
  application.p2p.setBootstrapPeers([hostAddress])
  await connected
  const client = await openFollowClient(application, peer, { views: [{ id }], from: 100 })
  const { identity } = (await host.health()).report as { identity?: string }
  await client.until(() =>
    blocks.every(({ header }) => client.signersOf(id, header.number).includes(identity ?? '')),
  )
  const [welcome] = client.frames
  assert.ok(welcome?.kind === 'welcome' && welcome.proof.length > 0)
  assert.deepEqual(client.views, [
    {
      view: id,
      name: 'Addresses',
      sdl: 'type Addresses { address: String }',
      // Its peers, which are not in reach, may have all blocks that it keeps.
      tail: 59,
      head: 108,
      state: client.views[0]?.state,
    },
  ])
  archive.p2p.setBootstrapPeers([hostAddress])
  await until(() =>
    p2p.peers().some(({ id, announced }) => id === archive.id && announced !== null),
  )
  const later = await openFollowClient(application, peer, { views: [{ id }], from: 100 })
  await later.until(() => later.views.length === 1)
  assert.equal(later.views[0]?.tail, 100, 'no peer has older blocks')
  later.leave()
  const metrics = `${host.healthUrl}/metrics`
  await until(async () =>
    /^viewmesh_host_followers(\{.*\})? 1$/m.test(await (await fetch(metrics)).text()),
  )
  const [end] = await Promise.all([client.untilError(), host.close()])
  assert.equal(end.error, 'unavailable')
})
