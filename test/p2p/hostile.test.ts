import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { RPC } from '@libp2p/gossipsub/message'
import type { LengthPrefixedStream } from '@libp2p/utils'
import { type MessageKind, topicOf } from '../../src/p2p/gossip/gossip.ts'
import { type Fault, faultWeights } from '../../src/p2p/limits/fault.ts'
import type { P2pLimits } from '../../src/p2p/limits/limits.ts'
import type { OnMessage } from '../../src/p2p/peers/verdict.ts'
import { encodeClientFrame } from '../../src/p2p/range/range-frames.ts'
import { connect, openRoom, type TestRoom, testNetwork, until } from '../support/p2p-room.ts'
import { gossipProtocol, lengthPrefixed, openRawPeer, type RawPeer } from '../support/raw-peer.ts'

/** One way to misbehave, and what the room makes of it. */
interface Attack {
  readonly fault: Fault
  readonly limits?: Partial<P2pLimits>
  /** Offends once; the test repeats it until the peer is banned. */
  offend(peer: RawPeer, room: TestRoom): Promise<void>
}

const stallMs = 800
const wholeRange = { kind: 'request', from: 0, to: 1000, status: null } as const

const attacks: Readonly<Record<string, Attack>> = {
  'garbage instead of a sealed block': {
    fault: 'rejected message',
    offend: (peer, room) => gossip(peer, room, [message(randomBytes(100))]),
  },
  'gossip frames that are no messages at all': {
    fault: 'malformed message',
    offend: (peer, room) => gossip(peer, room, [Uint8Array.of(0x0f, 1, 2, 3)]),
  },
  'a gossip message above the limit': {
    fault: 'oversize message',
    limits: { maxGossipBytes: 10_000 },
    offend: (peer, room) => gossip(peer, room, [message(randomBytes(10_001))]),
  },
  'a gossip frame of unbounded length': {
    fault: 'oversize message',
    offend: async (peer, room) => {
      const stream = await peer.open(room.address, gossipProtocol)
      stream.send(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f))
    },
  },
  'garbage instead of a request': {
    fault: 'malformed frame',
    offend: (peer, room) => request(peer, room, Uint8Array.of(99, 1, 2)),
  },
  'credit instead of a request': {
    fault: 'protocol violation',
    offend: (peer, room) => request(peer, room, encodeClientFrame({ kind: 'credit', bytes: 1 })),
  },
  'a request frame of unbounded length': {
    fault: 'oversize frame',
    offend: async (peer, room) => {
      const frames = await peer.range(room.address)
      frames.unwrap().send(Uint8Array.of(0xff, 0xff, 0xff, 0x7f))
    },
  },
  'bytes without end while blocks are served': {
    fault: 'protocol violation',
    offend: async (peer, room) => {
      const frames = await peer.range(room.address)
      await frames.write(encodeClientFrame({ ...wholeRange, windowBytes: 100_000 }))
      await frames.read()
      frames.unwrap().send(new Uint8Array(40_000))
    },
  },
  'more credit than anybody can use': {
    fault: 'protocol violation',
    offend: async (peer, room) => {
      const frames = await peer.range(room.address)
      await frames.write(encodeClientFrame({ ...wholeRange, windowBytes: 100_000 }))
      await frames.write(encodeClientFrame({ kind: 'credit', bytes: 2 ** 32 - 1 }))
    },
  },
  'a reader that never grants credit': {
    fault: 'stalled reader',
    limits: { stallMs },
    offend: fiveAtOnce(async (frames) => {
      await frames.write(encodeClientFrame({ ...wholeRange, windowBytes: 100_000 }))
    }),
  },
  'a stream on which nothing is written': {
    fault: 'stalled writer',
    limits: { stallMs },
    offend: fiveAtOnce(async () => {}),
  },
  'a frame that is never finished': {
    fault: 'stalled writer',
    limits: { stallMs },
    offend: fiveAtOnce(async (frames) => {
      frames.unwrap().send(Uint8Array.of(30, 1, 2, 3))
    }),
  },
  'a flood of streams': {
    fault: 'too many streams',
    limits: { streamsPerPeer: 2 },
    offend: async (peer, room) => {
      await peer.range(room.address)
    },
  },
  'a flood of requests': {
    fault: 'request flood',
    limits: { requestsPerSecond: 0.5 },
    offend: (peer, room) =>
      request(peer, room, encodeClientFrame({ ...wholeRange, from: 1, to: 0, windowBytes: 0 })),
  },
}

for (const [name, attack] of Object.entries(attacks)) {
  test(`${name}: the peer is logged, counted and cut off, and honest blocks go on arriving`, async (t) => {
    const { room, honest, received } = await victim(t, attack.limits)
    const peer = await openRawPeer(t)
    const before = await receives(honest, received)
    await offendUntilBanned(peer, room, attack)
    await receives(honest, before)

    const faults = room.captured.lines.filter((line) => line.msg === 'peer fault')
    assert(faults.every((line) => line['peer'] === peer.id && line.level === 'warn'))
    assert.deepEqual([...new Set(faults.map((line) => line['fault']))], [attack.fault])
    assert.equal(faults.length, Math.ceil(100 / faultWeights[attack.fault]))
    const { fault } = attack
    assert.equal(await room.metric('viewmesh_p2p_faults_total', { fault }), faults.length)
    assert.equal(await room.metric('viewmesh_p2p_bans_total'), 1)
    assert.equal(await room.metric('viewmesh_p2p_banned_peers'), 1)
    await until(() => room.p2p.peers().every(({ id }) => id !== peer.id))
    await assert.rejects(async () => {
      const connection = await peer.dial(room.address)
      await connection.newStream(gossipProtocol)
    })
    assert.equal(room.p2p.peers().find(({ id }) => id === honest.id)?.score, 0)
  })
}

test('a gossip message of exactly the limit is taken from any peer, and nobody blamed', async (t) => {
  const { room, received } = await victim(t, { maxGossipBytes: 10_000 })
  const peer = await openRawPeer(t)
  for (const bytes of [9_999, 10_000])
    await gossip(peer, room, [
      message(Buffer.concat([Buffer.from('honest'), randomBytes(bytes - 6)])),
    ])
  await until(() => received.honest === 2)
  assert.equal(await room.metric('viewmesh_p2p_messages_total', { verdict: 'accept' }), 2)
  assert.equal(await room.metric('viewmesh_p2p_faults_total'), 0)
})

for (const [kind, maxBytes] of [
  ['block', 10_000],
  ['head', 512],
] as const) {
  test(`a peer is cut off at its first ${kind} above the limit by gossip`, async (t) => {
    const lengths: number[] = []
    const take: OnMessage = async ({ byteLength }) => {
      lengths.push(byteLength)
      return { action: 'accept' }
    }
    const limits = { maxGossipBytes: 10_000 }
    const room = await openRoom(t, { limits, onBlock: take, onHead: take })
    const peer = await openRawPeer(t)
    await gossip(peer, room, [message(randomBytes(maxBytes), kind)])
    await until(() => lengths.length === 1)
    assert.ok(room.p2p.peers().some(({ id }) => id === peer.id))
    await gossip(peer, room, [message(randomBytes(maxBytes + 1), kind)])
    await until(() => room.p2p.peers().every(({ id }) => id !== peer.id))
    assert.deepEqual(lengths, [maxBytes])
  })
}

test('a peer that does not read its gossip is cut off, and the others get every block', async (t) => {
  const limits = { maxGossipBacklogBytes: 1024 * 1024 }
  const room = await openRoom(t, { limits })
  let heard = 0
  const honest = await openRoom(t, {
    onBlock: async () => {
      heard += 1
      return { action: 'accept' }
    },
  })
  await connect(honest, room)
  const peer = await openRawPeer(t)
  await peer.take(gossipProtocol, (stream) => stream.pause())
  await gossip(peer, room, [subscription()])
  await until(() => room.p2p.peers().some(({ id, subscribed }) => id === peer.id && subscribed))

  let published = 0
  while (room.p2p.peers().some(({ id }) => id === peer.id)) {
    await room.p2p.publish(randomBytes(200_000))
    published += 1
    await until(() => heard === published)
  }
  const line = await room.captured.line('peer fault')
  assert.deepEqual([line['peer'], line['fault']], [peer.id, 'unread gossip'])
  assert.equal(await room.metric('viewmesh_p2p_faults_total', { fault: 'unread gossip' }), 1)
  assert.equal(await room.metric('viewmesh_p2p_faults_total'), 1)
  assert.equal(await room.metric('viewmesh_p2p_bans_total'), 0, 'it may come back and catch up')
  assert.equal(honest.p2p.peers()[0]?.score, 0)
  assert(published > 5 && published < 15, `cut off after ${published} blocks of 200 kB`)
})

/** A room with blocks to serve that takes every block but random ones, and an honest peer of it. */
async function victim(
  t: TestContext,
  limits: Partial<P2pLimits> = {},
): Promise<{ room: TestRoom; honest: TestRoom; received: Received }> {
  const received: Received = { honest: 0 }
  const room = await openRoom(t, {
    limits,
    onBlock: async (bytes) => {
      const word = Buffer.from(bytes.subarray(0, 6)).toString('latin1')
      if (word !== 'honest') return { action: 'reject', reason: 'not a sealed block' }
      received.honest += 1
      return { action: 'accept' }
    },
  })
  for (let height = 0; height < 20; height += 1) room.blocks.set(height, randomBytes(80_000))
  const honest = await openRoom(t)
  await connect(room, honest)
  return { room, honest, received }
}

interface Received {
  honest: number
}

async function receives(honest: TestRoom, received: Received): Promise<Received> {
  const before = received.honest
  await honest.p2p.publish(Buffer.from(`honest ${before}`))
  await until(() => received.honest === before + 1)
  return received
}

async function offendUntilBanned(peer: RawPeer, room: TestRoom, attack: Attack): Promise<void> {
  const signal = AbortSignal.timeout(60_000)
  let banned = false
  const line = room.captured.line('peer disconnected and banned').then((found) => {
    banned = true
    return found
  })
  while (!banned) {
    // Once it is banned, its connections end in the middle of things.
    await attack.offend(peer, room).catch(() => {})
    await Promise.race([line, delay(5, undefined, { signal })])
  }
  assert.equal((await line)['reason'], attack.fault)
}

async function gossip(peer: RawPeer, room: TestRoom, frames: readonly Uint8Array[]): Promise<void> {
  const stream = await peer.open(room.address, gossipProtocol)
  for (const frame of frames) stream.send(lengthPrefixed(frame))
}

async function request(peer: RawPeer, room: TestRoom, frame: Uint8Array): Promise<void> {
  const frames = await peer.range(room.address)
  await frames.write(frame)
  await frames.unwrap().close()
}

function subscription(): Uint8Array {
  const topic = topicOf(testNetwork, 'block')
  return RPC.encode({ subscriptions: [{ subscribe: true, topic }], messages: [] })
}

function message(data: Uint8Array, kind: MessageKind = 'block'): Uint8Array {
  return RPC.encode({
    subscriptions: [],
    messages: [{ topic: topicOf(testNetwork, kind), data }],
  })
}

/** Does the same on five range streams, and waits until the other side has cut them. */
function fiveAtOnce(act: (frames: LengthPrefixedStream) => Promise<void>): Attack['offend'] {
  return async (peer, room) => {
    const once = async (): Promise<void> => {
      const frames = await peer.range(room.address)
      await act(frames)
      await closed(frames)
    }
    await Promise.all([once(), once(), once(), once(), once()])
  }
}

/** Resolves when the other side has cut the stream. */
async function closed(frames: LengthPrefixedStream): Promise<void> {
  const stream = frames.unwrap()
  if (stream.status === 'open')
    await new Promise((resolve) => stream.addEventListener('close', resolve))
}
