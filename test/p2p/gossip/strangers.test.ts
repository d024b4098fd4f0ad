/** Gossip of strangers beside that of configured peers, at one room. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { RPC } from '@libp2p/gossipsub/message'
import { type MessageKind, topicOf } from '../../../src/p2p/gossip/gossip.ts'
import type { P2pLimits } from '../../../src/p2p/limits/limits.ts'
import type { OnMessage, PeerVerdict } from '../../../src/p2p/peers/verdict.ts'
import { connect, openRoom, type TestRoom, testNetwork, until } from '../../support/p2p-room.ts'
import {
  gossipProtocol,
  lengthPrefixed,
  openRawPeer,
  type RawPeer,
} from '../../support/raw-peer.ts'

/** What a room was asked to validate: text of the message, and the peer to blame for it. */
type Asked = readonly [text: string, peer: string]

interface Scene {
  readonly room: TestRoom
  /** A configured peer of the room. */
  readonly honest: TestRoom
  readonly asked: Asked[]
  /** Messages that begin with "slow" get their verdict only now. */
  decide(verdict: PeerVerdict): void
}

async function openScene(t: TestContext, limits: Partial<P2pLimits> = {}): Promise<Scene> {
  const asked: Asked[] = []
  const slow = Promise.withResolvers<PeerVerdict>()
  const onMessage: OnMessage = async (bytes, { peer }) => {
    const text = Buffer.from(bytes).toString()
    asked.push([text, peer])
    return text.startsWith('slow') ? await slow.promise : { action: 'ignore', reason: 'a test' }
  }
  const room = await openRoom(t, { limits, onBlock: onMessage, onHead: onMessage })
  const honest = await openRoom(t)
  await connect(room, honest)
  return { room, honest, asked, decide: slow.resolve }
}

interface Stranger {
  readonly peer: RawPeer
  /** Gossips blocks, one frame each. */
  say(...texts: string[]): void
  sayAs(kind: MessageKind, text: string): void
  /** Sends a frame as it is. */
  send(frame: Uint8Array): void
}

/** A stranger with a gossip stream to the room. */
async function openStranger(t: TestContext, room: TestRoom, from = '127.0.0.2'): Promise<Stranger> {
  const peer = await openRawPeer(t, { from })
  const stream = await peer.open(room.address, gossipProtocol)
  const sayAs = (kind: MessageKind, text: string): void => {
    const message = { topic: topicOf(testNetwork, kind), data: Buffer.from(text) }
    send(RPC.encode({ subscriptions: [], messages: [message] }))
  }
  const send = (frame: Uint8Array): void => void stream.send(lengthPrefixed(frame))
  const say = (...texts: string[]): void => {
    for (const text of texts) sayAs('block', text)
  }
  return { peer, say, sayAs, send }
}

const dropped = (room: TestRoom): Promise<number> =>
  room.metric('viewmesh_p2p_messages_total', { verdict: 'dropped' })

test('what a stranger sends first, and finds no room, keeps out no copy of a configured peer', async (t) => {
  const { room, honest, asked, decide } = await openScene(t, {
    pendingMessages: { configured: 64, address: 1, strangers: 1 },
  })
  const stranger = await openStranger(t, room)
  stranger.say('slow garbage', 'a block')
  await until(async () => (await dropped(room)) === 1)
  await honest.p2p.publish(Buffer.from('a block'))
  await until(() => asked.length === 2)
  assert.deepEqual(asked[1], ['a block', honest.id])
  decide({ action: 'ignore', reason: 'a test' })
})

test('a block that a stranger hides in a frame keeps out no copy of a configured peer', async (t) => {
  const { room, honest, asked, decide } = await openScene(t)
  const stranger = await openStranger(t, room)
  const message = { topic: topicOf(testNetwork, 'block'), data: Buffer.from('a block') }
  const [, ...content] = RPC.encode({ subscriptions: [], messages: [message] })
  // A tag of 33 bits, of which gossipsub reads 32: those of a published message.
  stranger.send(Uint8Array.of(0x92, 0x80, 0x80, 0x80, 0x10, ...content))
  stranger.say('slow block')
  await until(() => asked.length === 1)
  await honest.p2p.publish(Buffer.from('a block'))
  await until(() => asked.length === 2)
  assert.deepEqual(asked[1], ['a block', honest.id])
  decide({ action: 'ignore', reason: 'a test' })
})

test('a block that waits among those of strangers goes on when a configured peer sends it, too', async (t) => {
  const { room, honest, asked, decide } = await openScene(t, { strangersValidated: 1 })
  const stranger = await openStranger(t, room)
  stranger.say('slow garbage', 'more garbage', 'a block')
  await until(() => asked.length === 1)
  await room.p2p.status(honest.id, AbortSignal.timeout(60_000))
  assert.equal(asked.length, 1, 'one message of strangers at a time')
  await honest.p2p.publish(Buffer.from('a block'))
  await until(() => asked.length === 2)
  assert.deepEqual(asked[1], ['a block', honest.id])
  decide({ action: 'ignore', reason: 'a test' })
  await until(() => asked.length === 3)
  assert.deepEqual(asked[2], ['more garbage', stranger.peer.id])
})

test('the same bytes on another topic bar nothing', async (t) => {
  const { room, honest, asked } = await openScene(t)
  const stranger = await openStranger(t, room)
  stranger.sayAs('head', 'a block')
  await until(() => asked.length === 1)
  await honest.p2p.publish(Buffer.from('a block'))
  await until(() => asked.length === 2)
})

test('what a node does not listen to is neither kept nor a bar to what it publishes itself', async (t) => {
  const generator = await openRoom(t)
  const heard: string[] = []
  const host = await openRoom(t, {
    onBlock: async (bytes) => {
      heard.push(Buffer.from(bytes).toString())
      return { action: 'accept' }
    },
  })
  await connect(host, generator)
  const stranger = await openStranger(t, generator)
  stranger.say('a block')
  await until(async () => {
    const received = { direction: 'received' }
    return (await generator.metric('viewmesh_p2p_gossip_bytes_total', received)) > 40
  })
  await generator.p2p.publish(Buffer.from('a block'))
  await until(() => heard.length === 1)
})

test('a flood of strangers is dropped without blame; a configured peer is heard meanwhile', async (t) => {
  const { room, honest, asked } = await openScene(t, {
    gossipMessages: { configured: 1000, address: 5, strangers: 8 },
  })
  const first = await openStranger(t, room, '127.0.0.2')
  const second = await openStranger(t, room, '127.0.0.3')
  const texts = Array.from({ length: 100 }, (_, index) => `garbage ${index}`)
  first.say(...texts.slice(0, 50))
  second.say(...texts.slice(50))
  await until(async () => (await dropped(room)) + asked.length === 100)
  // Four seconds' worth of what all strangers may send, and a message costs two: itself and its frame.
  assert(asked.length >= 15 && asked.length <= 20, `${asked.length} of 100 got through`)
  await honest.p2p.publish(Buffer.from('a block'))
  await until(() => asked.some(([text]) => text === 'a block'))
  assert(room.p2p.peers().every(({ score }) => score === 0))
})

test('gossip bytes above the budget of an address are dropped unread', async (t) => {
  const { room, asked } = await openScene(t, {
    gossipBytes: { configured: 2 ** 30, address: 1000, strangers: 2000 },
  })
  const stranger = await openStranger(t, room)
  stranger.say('x'.repeat(3000), 'y'.repeat(3000), 'short')
  await until(() => asked.length === 2)
  assert.equal(await dropped(room), 1)
  const other = await openStranger(t, room, '127.0.0.3')
  other.say('z'.repeat(3000))
  await until(() => asked.length === 3)
})

test('frames that arrive in pieces share a bounded memory, and have a bounded time', async (t) => {
  const { room, asked } = await openScene(t, {
    partialBytes: { configured: 2 ** 30, address: 100_000, strangers: 100_000 },
    stallMs: 500,
  })
  const hold = async (from: string): Promise<RawPeer> => {
    const peer = await openRawPeer(t, { from })
    const stream = await peer.open(room.address, gossipProtocol)
    stream.send(Buffer.concat([lengthPrefixed(randomBytes(400_000)).subarray(0, 90_000)]))
    return peer
  }
  const [first, second] = [await hold('127.0.0.2'), await hold('127.0.0.3')]
  await until(async () => (await dropped(room)) === 1)
  for (const { id } of [first, second]) {
    await until(() =>
      room.captured.lines.some((line) => line['peer'] === id && line['fault'] === 'stalled writer'),
    )
  }
  const third = await openStranger(t, room, '127.0.0.4')
  third.say('x'.repeat(80_000))
  await until(() => asked.length === 1)
})

/** Three strangers that want blocks and read none of them; returns how many such there are still. */
async function openDeaf(t: TestContext, room: TestRoom): Promise<() => number> {
  const addresses = ['127.0.0.2', '127.0.0.3', '127.0.0.4']
  const deaf = await Promise.all(addresses.map((from) => openRawPeer(t, { from })))
  for (const peer of deaf) {
    await peer.take(gossipProtocol, (stream) => stream.pause())
    const stream = await peer.open(room.address, gossipProtocol)
    const topic = topicOf(testNetwork, 'block')
    const subscription = { subscriptions: [{ subscribe: true, topic }], messages: [] }
    stream.send(lengthPrefixed(RPC.encode(subscription)))
  }
  const subscribed = (): number =>
    room.p2p.peers().filter((peer) => !peer.bootstrap && peer.subscribed).length
  await until(() => subscribed() === 3)
  return subscribed
}

test('of strangers that do not read their gossip, those that read least go first', async (t) => {
  const room = await openRoom(t, { limits: { strangersBacklogBytes: 1_000_000 } })
  const honest = await openRoom(t)
  room.p2p.setBootstrapPeers([honest.address])
  const subscribed = await openDeaf(t, room)
  while (subscribed() === 3) await room.p2p.publish(randomBytes(200_000))
  assert.equal(await room.metric('viewmesh_p2p_faults_total', { fault: 'unread gossip' }), 1)
  assert(room.p2p.peers().some(({ bootstrap }) => bootstrap))
})

test('strangers that do not read their gossip go also where nothing follows it', async (t) => {
  const room = await openRoom(t, { limits: { strangersBacklogBytes: 1_000_000 } })
  const subscribed = await openDeaf(t, room)
  // All at once: none of them is there yet when another one is published.
  await Promise.all(Array.from({ length: 10 }, () => room.p2p.publish(randomBytes(200_000))))
  await until(() => subscribed() < 3)
})

test('a third gossip stream of a peer ends its first', async (t) => {
  const { room } = await openScene(t)
  const peer = await openRawPeer(t)
  const first = await peer.open(room.address, gossipProtocol)
  for (let more = 0; more < 2; more += 1) await peer.open(room.address, gossipProtocol)
  await until(() => first.status !== 'open')
})
