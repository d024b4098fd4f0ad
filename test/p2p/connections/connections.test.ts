/** Who gets a connection, with real peers on several loopback addresses, each of them a machine. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { P2pLimits } from '../../../src/p2p/limits/limits.ts'
import { type Channel, channelProtocol } from '../../../src/p2p/streams/channels.ts'
import {
  openRoom,
  type RoomSetup,
  type TestRoom,
  testNetwork,
  until,
} from '../../support/p2p-room.ts'
import { gossipProtocol, lengthOf, openRawPeer, type RawPeer } from '../../support/raw-peer.ts'
import { yamuxFrame } from '../support/yamux-frame.ts'

/** So few bytes a second of strangers that every price is felt at once. */
const readSlowly: Partial<P2pLimits> = {
  receivedBytes: { configured: 2 ** 40, address: 100_000, strangers: 100_000 },
}

const limits: Partial<P2pLimits> = {
  maxConnections: 12,
  reservedConnections: 4,
  connectionsPerAddress: 4,
}

/** A room in which a peer is configured that cannot be dialled: it has to come by itself. */
async function openRoomFor(t: TestContext, peerId: string, setup: RoomSetup): Promise<TestRoom> {
  const bootstrapPeers = [`/ip4/127.0.0.1/tcp/1/p2p/${peerId}`]
  return await openRoom(t, { ...setup, options: { ...setup.options, bootstrapPeers } })
}

/** A room's ID before it is opened with this seed. */
async function idOf(t: TestContext, peerSeed: Uint8Array): Promise<string> {
  const probe = await openRoom(t, { options: { peerSeed } })
  await probe.p2p.close()
  return probe.id
}

/** Connects the room to a configured peer, and waits for ten answers of that. */
async function exchangeWithHonest(t: TestContext, room: TestRoom): Promise<void> {
  const honest = await openRoom(t)
  const connected = room.event('connected', honest.id)
  room.p2p.setBootstrapPeers([honest.address])
  await connected
  for (let ask = 0; ask < 10; ask += 1) {
    await room.p2p.status(honest.id, AbortSignal.timeout(60_000))
  }
}

/** So many strangers from an address, who dial one after the other; a refused one stays away. */
async function strangersFrom(
  t: TestContext,
  from: string,
  count: number,
  room: TestRoom,
): Promise<RawPeer[]> {
  const peers = await Promise.all(Array.from({ length: count }, () => openRawPeer(t, { from })))
  for (const peer of peers) await peer.dial(room.address).catch(() => undefined)
  return peers
}

function here(room: TestRoom, peers: readonly RawPeer[]): number {
  const ids = new Set(room.p2p.peers().map(({ id }) => id))
  return peers.filter(({ id }) => ids.has(id)).length
}

async function refused(room: TestRoom, reason: string): Promise<number> {
  return await room.metric('viewmesh_p2p_refused_connections_total', { reason })
}

test('two addresses cannot fill the connections: a stranger from a third one gets in', async (t) => {
  const room = await openRoom(t, { limits })
  const first = await strangersFrom(t, '127.0.0.2', 8, room)
  const second = await strangersFrom(t, '127.0.0.3', 8, room)
  const [third] = await strangersFrom(t, '127.0.0.4', 1, room)
  assert(third !== undefined)
  await until(() => here(room, [third]) === 1)
  assert.deepEqual([here(room, first) <= 4, here(room, second) <= 4], [true, true])
  assert.equal(await refused(room, 'address'), 8)
})

test('a configured peer that dials is admitted beside a crowd of strangers; its blocks arrive', async (t) => {
  const peerSeed = randomBytes(32)
  const id = await idOf(t, peerSeed)
  const heard: string[] = []
  const room = await openRoomFor(t, id, {
    limits,
    onBlock: async (_, { peer }) => {
      heard.push(peer)
      return { action: 'accept' }
    },
  })
  const addresses = Array.from({ length: 12 }, (_, index) => `127.0.0.${index + 2}`)
  for (const from of addresses) await strangersFrom(t, from, 1, room)
  await until(() => room.p2p.peers().length === 8)
  const options = { peerSeed, bootstrapPeers: [room.address] }
  const configured = await openRoom(t, { options })
  await until(() => configured.p2p.peers().some(({ subscribed }) => subscribed))
  await configured.p2p.publish(randomBytes(100))
  await until(() => heard.length === 1)
  assert.deepEqual(heard, [id])
  assert.equal(room.p2p.peers().find((peer) => peer.id === id)?.bootstrap, true)
})

test('a connection that a node made itself takes a place like any other', async (t) => {
  const room = await openRoom(t, { limits: { maxConnections: 1, reservedConnections: 0 } })
  await exchangeWithHonest(t, room)
  const [stranger] = await strangersFrom(t, '127.0.0.2', 1, room)
  assert.ok(stranger !== undefined)
  await until(async () => (await refused(room, 'full')) === 1)
  assert.equal(here(room, [stranger]), 0)
})

test('above the reserve a stranger leaves for it, and not the one that was of use', async (t) => {
  const seeds = Array.from({ length: 3 }, () => randomBytes(32))
  const ids = await Promise.all(seeds.map((seed) => idOf(t, seed)))
  const room = await openRoom(t, {
    limits: { maxConnections: 4, reservedConnections: 1, connectionsPerAddress: 4 },
    options: { bootstrapPeers: ids.map((id) => `/ip4/127.0.0.1/tcp/1/p2p/${id}`) },
  })
  const [useful, idle, newest] = await strangersFrom(t, '127.0.0.2', 3, room)
  assert(useful !== undefined && idle !== undefined && newest !== undefined)
  await until(() => here(room, [useful, idle, newest]) === 3)
  room.p2p.applyVerdict(useful.id, { action: 'accept' })
  for (const peerSeed of seeds) {
    const options = { peerSeed, bootstrapPeers: [room.address] }
    await openRoom(t, { options })
  }
  await until(() => ids.every((id) => room.p2p.peers().some((peer) => peer.id === id)))
  await until(() => room.p2p.peers().length === 4)
  assert.deepEqual([here(room, [useful]), here(room, [idle, newest])], [1, 0])
  assert.equal(await refused(room, 'evicted'), 2)
})

test('libp2p drops nobody by itself, however many configured peers there are', async (t) => {
  const seeds = Array.from({ length: 6 }, () => randomBytes(32))
  const ids = await Promise.all(seeds.map((seed) => idOf(t, seed)))
  const room = await openRoom(t, {
    limits: { maxConnections: 2, reservedConnections: 1 },
    options: { bootstrapPeers: ids.map((id) => `/ip4/127.0.0.1/tcp/1/p2p/${id}`) },
  })
  const rooms = await Promise.all(
    seeds.map((peerSeed) => openRoom(t, { options: { peerSeed, bootstrapPeers: [room.address] } })),
  )
  await until(() => room.p2p.peers().length === 6)
  for (const peer of rooms) await room.p2p.status(peer.id, AbortSignal.timeout(60_000))
  assert.equal(await refused(room, 'evicted'), 0)
})

test('one peer has two connections at most; a third takes the place of the oldest', async (t) => {
  const room = await openRoom(t)
  const peer = await openRawPeer(t)
  const oldest = await peer.dial(room.address)
  const gone = once(oldest, 'close')
  await peer.dialAgain(room.address)
  await peer.dialAgain(room.address)
  await gone
  await until(() => room.p2p.peers()[0]?.addresses.length === 2)
})

/** A connection that says nothing; resolves when it is open. */
async function silentSocket(t: TestContext, room: TestRoom, from: string): Promise<Socket> {
  const port = Number(/tcp\/(\d+)/.exec(room.address)?.[1])
  const socket = connectTcp({ host: '127.0.0.1', port, localAddress: from })
  socket.on('error', () => undefined)
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

test('hundreds of connections that never finish their handshake keep nobody out', async (t) => {
  const handshakes = { handshakesPerAddress: 4, handshakesTotal: 16 }
  const room = await openRoom(t, { limits: { ...limits, ...handshakes } })
  const addresses = Array.from({ length: 10 }, (_, index) => `127.0.0.${index + 2}`)
  const sockets = await Promise.all(
    addresses.flatMap((from) => Array.from({ length: 30 }, () => silentSocket(t, room, from))),
  )
  await until(async () => (await refused(room, 'handshakes')) >= 284)
  await until(() => sockets.filter(({ closed }) => !closed).length <= 16)
  const honest = await openRawPeer(t, { from: '127.0.0.200' })
  await honest.dial(room.address)
  await until(() => here(room, [honest]) === 1)
})

test('an address that connects too often is refused, and the others are not', async (t) => {
  const room = await openRoom(t, { limits: { connectionsPerSecond: 0.25 } })
  const [first, second] = await strangersFrom(t, '127.0.0.2', 2, room)
  const [other] = await strangersFrom(t, '127.0.0.3', 1, room)
  assert(first !== undefined && second !== undefined && other !== undefined)
  await until(() => here(room, [first, other]) === 2)
  assert.equal(here(room, [second]), 0)
  assert.equal(await refused(room, 'rate'), 1)
})

test('a frame that claims gigabytes ends the connection before they come', async (t) => {
  const room = await openRoom(t)
  const peer = await openRawPeer(t)
  const connection = await peer.dial(room.address)
  await until(() => here(room, [peer]) === 1)
  peer.sendFrames(yamuxFrame({ type: 'data', flags: 1, stream: 999, length: 2 ** 32 - 1 }))
  let sent = 0
  for (; connection.status === 'open' && sent < 64; sent += 1) {
    peer.sendFrames(new Uint8Array(1024 * 1024))
    await nextTurn()
  }
  assert(sent < 64, 'the connection ends before 64 of its 4,096 MiB are read')
  await until(() => room.p2p.peers().length === 0)
})

test('strangers are read as fast as their address may send, a configured peer as fast as it can', async (t) => {
  const room = await openRoom(t, { limits: readSlowly })
  const received = (): Promise<number> =>
    room.metric('viewmesh_p2p_gossip_bytes_total', { direction: 'received' })
  const sendMegabytes = async (peer: RawPeer): Promise<void> => {
    const stream = await peer.open(room.address, gossipProtocol)
    stream.send(Buffer.concat([lengthOf(4_000_000), new Uint8Array(4_000_000)]))
  }

  for (const stranger of await strangersFrom(t, '127.0.0.2', 2, room)) await sendMegabytes(stranger)
  await exchangeWithHonest(t, room)
  const fromStrangers = await received()
  assert(fromStrangers < 2_000_000, `${fromStrangers} bytes of eight millions, after ten exchanges`)

  const configured = await openRawPeer(t, { from: '127.0.0.2' })
  room.p2p.setBootstrapPeers([`${configured.address}`])
  await sendMegabytes(configured)
  await until(async () => (await received()) > 4_000_000)
})

test('small frames have a price: a peer that sends nothing but pings is read slowly, too', async (t) => {
  const room = await openRoom(t, { limits: readSlowly })
  let answered = 0
  const onFrames = (bytes: Uint8Array): void => {
    answered += bytes.byteLength / 12
  }
  const peer = await openRawPeer(t, { from: '127.0.0.2', onFrames })
  await peer.dial(room.address)
  for (let number = 0; number < 20_000; number += 1) {
    peer.sendFrames(yamuxFrame({ type: 'ping', flags: 1, stream: 0, length: number }))
  }
  await exchangeWithHonest(t, room)
  assert(answered > 0 && answered < 5000, `${answered} of 20,000 pings answered`)
})

test('frames of our own protocols have that price as well, however short they are', async (t) => {
  let read = 0
  const serve = async (channel: Channel): Promise<void> => {
    for (;;) read += (await channel.read()).length
  }
  const channels = { views: { serve, busy: new Uint8Array() } }
  const room = await openRoom(t, { limits: readSlowly, channels })
  const peer = await openRawPeer(t, { from: '127.0.0.2' })
  const stream = await peer.open(room.address, channelProtocol(testNetwork, 'views'))
  const batch = Buffer.alloc(2 * 20_000, Uint8Array.of(1, 7))
  stream.send(batch)
  await until(() => read === 20_000)
  stream.send(batch.subarray(0, 2))
  await until(() => read === 20_001)
  stream.send(batch)
  await exchangeWithHonest(t, room)
  assert.equal(read, 20_001, 'the next frames wait')
})
