/** Identities cost nothing: who comes with a new one for each offence is known by its address. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { P2pLimits } from '../../src/p2p/limits/limits.ts'
import { connect, openRoom, type TestRoom, until } from '../support/p2p-room.ts'
import { gossipProtocol, openRawPeer, type RawPeer } from '../support/raw-peer.ts'

const address = '127.0.0.2'
/** A length of a frame that nobody sends: an oversize message, of 50 points. */
const unbounded = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f)

/** One offence of a peer that nobody knows yet. */
async function offend(t: TestContext, room: TestRoom): Promise<RawPeer> {
  const peer = await openRawPeer(t, { from: address })
  const stream = await peer.open(room.address, gossipProtocol)
  stream.send(unbounded)
  await until(() => room.captured.lines.some((line) => line['peer'] === peer.id))
  await until(() => room.p2p.peers().every(({ id }) => id !== peer.id))
  return peer
}

/** A room with a peaceful stranger from the address. */
async function openVictim(t: TestContext, limits: Partial<P2pLimits> = {}): Promise<TestRoom> {
  const room = await openRoom(t, { limits })
  const neighbour = await openRawPeer(t, { from: address })
  await neighbour.dial(room.address)
  await until(() => room.p2p.peers().length === 1)
  return room
}

test('six strangers of one address, one offence each, have the address banned with all of them', async (t) => {
  const room = await openVictim(t)
  for (let offences = 0; offences < 6; offences += 1) await offend(t, room)
  assert.equal(await room.metric('viewmesh_p2p_banned_addresses'), 1)
  assert.equal(await room.metric('viewmesh_p2p_banned_peers'), 0, 'none of them offended twice')
  await until(() => room.p2p.peers().length === 0)
  const refused = (): Promise<number> =>
    room.metric('viewmesh_p2p_refused_connections_total', { reason: 'banned' })
  const fresh = await openRawPeer(t, { from: address })
  await fresh.dial(room.address).catch(() => undefined)
  await until(async () => (await refused()) === 1)
  assert.deepEqual(room.p2p.peers(), [])
})

test('strangers of other addresses are let in meanwhile, and a configured peer of this one', async (t) => {
  const room = await openVictim(t)
  for (let offences = 0; offences < 6; offences += 1) await offend(t, room)
  const other = await openRawPeer(t, { from: '127.0.0.3' })
  await other.dial(room.address)
  await until(() => room.p2p.peers().some(({ id }) => id === other.id))
  const configured = await openRawPeer(t, { from: address })
  room.p2p.setBootstrapPeers([configured.address])
  await until(() => room.p2p.peers().some(({ id }) => id === configured.id))
  await configured.dialAgain(room.address)
  await until(() => room.p2p.peers().some(({ addresses }) => addresses.length === 2))
})

test('a ban of an address ends', async (t) => {
  const room = await openVictim(t, { banMs: 300 })
  for (let offences = 0; offences < 6; offences += 1) await offend(t, room)
  await until(async () => (await room.metric('viewmesh_p2p_banned_addresses')) === 0)
  const peer = await openRawPeer(t, { from: address })
  await peer.dial(room.address)
  await until(() => room.p2p.peers().length === 1)
})

test('a message that no accepted signer signed costs neither its sender nor its address anything', async (t) => {
  const verdict = { action: 'ignore', reason: 'nobody that we accept has signed it' } as const
  const room = await openRoom(t, { onBlock: async () => verdict, onHead: async () => verdict })
  const sender = await openRoom(t)
  await connect(sender, room)
  for (let sent = 0; sent < 20; sent += 1) {
    await sender.p2p.publish(randomBytes(100))
    await sender.p2p.publishHead(randomBytes(100))
  }
  await until(
    async () => (await room.metric('viewmesh_p2p_messages_total', { verdict: 'ignore' })) === 40,
  )
  assert.equal(await room.metric('viewmesh_p2p_faults_total'), 0)
  assert.equal(room.p2p.peers()[0]?.score, 0)
})
