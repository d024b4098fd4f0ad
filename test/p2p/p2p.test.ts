import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { peerIdFromString } from '@libp2p/peer-id'
import { rangeProtocol } from '../../src/p2p/peers/networks.ts'
import { connect, openRoom, testNetwork, until } from '../support/p2p-room.ts'
import { openRawPeer } from '../support/raw-peer.ts'

test('the peer ID follows from the seed alone', async (t) => {
  const peerSeed = new Uint8Array(32).fill(1)
  const room = await openRoom(t, { options: { peerSeed } })
  assert.equal(room.id, '12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5')
  assert.equal(peerIdFromString(room.id).type, 'Ed25519')
})

test('listening on 0.0.0.0 shows an address for each interface, without the peer ID', async (t) => {
  const room = await openRoom(t, { options: { listen: ['/ip4/0.0.0.0/tcp/0'] } })
  const { addresses } = room.p2p.self()
  const ips = addresses.map((address) => /^\/ip4\/([0-9.]+)\/tcp\/\d+$/.exec(address)?.[1])
  assert(!ips.includes(undefined) && !ips.includes('0.0.0.0'))
  assert(ips.some((ip) => ip !== '127.0.0.1'))
  assert(addresses.every((address) => !address.endsWith('/tcp/0')))
})

test('announced addresses come first, and are among those that peers receive', async (t) => {
  const announce = ['/ip4/198.51.100.1/tcp/9171']
  const room = await openRoom(t, { options: { announce } })
  assert.equal(room.p2p.self().addresses[0], announce[0])
  room.p2p.setAnnounce(['/dns4/peer.test/tcp/30171'])
  assert.equal(room.p2p.self().addresses[0], '/dns4/peer.test/tcp/30171')
})

test('bad addresses of any kind are refused before anything is opened, all in one message', async (t) => {
  await assert.rejects(openRoom(t, { options: { listen: ['0.0.0.0:9171'] } }), {
    code: 'P2P_ADDRESS_INVALID',
    message: /"0\.0\.0\.0:9171": it is not a multiaddr/,
  })
  await assert.rejects(openRoom(t, { options: { bootstrapPeers: ['a', 'b'] } }), {
    code: 'P2P_ADDRESS_INVALID',
    message: /"a": .*; .*"b": /,
  })
})

test('a port that is taken ends with one message that names it', async (t) => {
  const room = await openRoom(t)
  const listen = room.p2p.self().addresses
  await assert.rejects(openRoom(t, { options: { listen } }), {
    code: 'P2P_LISTEN_FAILED',
    message: `cannot listen on ${listen[0]}: EADDRINUSE`,
    remedy: /Stop the program that has the port, or set DB_P2P_LISTEN_ADDR/,
  })
})

test('peers() lists who is connected, from where, what it has and how it behaved', async (t) => {
  const generator = await openRoom(t)
  generator.blocks.set(3, randomBytes(10))
  const host = await openRoom(t, { onBlock: async () => ({ action: 'accept' }) })
  assert.deepEqual(host.p2p.peers(), [])
  await connect(host, generator)
  assert.deepEqual(host.p2p.peers(), [
    {
      id: generator.id,
      addresses: generator.p2p.self().addresses,
      announced: { tail: 3, head: 3 },
      lastAnnouncement: { tail: 3, head: 3 },
      verified: false,
      score: 0,
      subscribed: false,
      bootstrap: true,
    },
  ])
  const [seen] = generator.p2p.peers()
  assert.deepEqual([seen?.subscribed, seen?.bootstrap], [true, false])
  assert.equal(await host.metric('viewmesh_p2p_peers'), 1)
})

test('a peer that pings without end on one stream has that stream ended, and no more', async (t) => {
  const room = await openRoom(t)
  const peer = await openRawPeer(t)
  const stream = await peer.open(room.address, '/ipfs/ping/1.0.0')
  const ended = new Promise((resolve) => stream.addEventListener('close', resolve))
  let answeredBytes = 0
  stream.addEventListener('message', ({ data }) => {
    answeredBytes += data.byteLength
  })
  for (let ping = 0; ping < 32; ping += 1) stream.send(randomBytes(32))
  await until(() => answeredBytes === 1024)
  stream.send(randomBytes(32))
  await ended
  const again = await peer.open(room.address, '/ipfs/ping/1.0.0')
  const answered = new Promise((resolve) => again.addEventListener('message', resolve))
  again.send(randomBytes(32))
  await answered
})

test('one address cannot take all connections', async (t) => {
  const room = await openRoom(t, { limits: { connectionsPerAddress: 2 } })
  for (let connected = 1; connected <= 2; connected += 1) {
    const peer = await openRawPeer(t)
    await peer.dial(room.address)
    await until(() => room.p2p.peers().length === connected)
  }
  const third = await openRawPeer(t)
  await assert.rejects(third.open(room.address, rangeProtocol(testNetwork)))
  assert.equal(room.p2p.peers().length, 2)
})

test('closing ends what is under way, on both sides', async (t) => {
  const generator = await openRoom(t)
  for (let height = 0; height < 100; height += 1) generator.blocks.set(height, randomBytes(80_000))
  const host = await openRoom(t)
  await connect(host, generator)
  const gone = generator.event('disconnected', host.id)
  await assert.rejects(async () => {
    const signal = AbortSignal.timeout(60_000)
    for await (const _ of host.p2p.pull(generator.id, 0, 99, signal)) await host.p2p.close()
  }, /the node is closing/)
  await gone
  await until(async () => (await generator.metric('viewmesh_p2p_range_streams')) === 0)
})
