/** What gossipsub gets of a stream: whole frames, and of those what it may have. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { RPC } from '@libp2p/gossipsub/message'
import { streamPair } from '@libp2p/utils'
import { Registry } from 'prom-client'
import { type GossipFramesParts, gossipFrames } from '../../../src/p2p/gossip/gossip-frames.ts'
import { createBudget } from '../../../src/p2p/limits/budget.ts'
import { createP2pMetrics } from '../../../src/p2p/limits/metrics.ts'
import { metricValue } from '../../support/metric-value.ts'
import { lengthOf, lengthPrefixed } from '../../support/raw-peer.ts'

const never = (): number => 0
const remote = { key: '10.0.0.1', isConfigured: false }

const stallMs = 60_000

interface Scene {
  readonly frames: AsyncGenerator<Uint8Array>
  /** Sends a part of what comes. */
  send(bytes: Uint8Array): Promise<void>
  /** Ends our side at once. */
  abort(): void
  /** Bytes that are kept of frames in pieces. */
  kept(): number
  /** What gossipsub read, once the sender has sent this and ended the stream. */
  read(...sent: readonly Uint8Array[]): Promise<Buffer>
  /** Faults, ends of connections, and frames, in order. */
  readonly events: string[]
  metric(name: string, labels: Readonly<Record<string, string>>): Promise<number>
}

async function openScene(
  t: TestContext,
  more: Partial<Pick<GossipFramesParts, 'bytes' | 'messages' | 'inbox'>> = {},
): Promise<Scene> {
  const registry = new Registry()
  const figures = { peers: never, activeStreams: never, banned: never, bannedAddresses: never }
  const events: string[] = []
  const size = 2 ** 24
  const [ours, theirs] = await streamPair()
  t.after(() => ours.abort(new Error('the test is over')))
  const partial = createBudget({ configured: size, address: size, strangers: size })
  const frames = gossipFrames(ours, 'p', {
    metrics: createP2pMetrics(registry, figures),
    bytes: { take: () => true },
    messages: { take: () => true },
    partial,
    inbox: { offer: () => true },
    stallMs,
    remoteOf: () => remote,
    onFrame: (peer) => events.push(`a frame of ${peer}`),
    onFault: (peer, fault) => events.push(`${peer}: ${fault}`),
    disconnect: (peer) => events.push(`${peer} is disconnected`),
    ...more,
  })
  return {
    ...{ frames, events, kept: partial.total },
    abort: () => ours.abort(new Error('a newer stream takes its place')),
    send: async (bytes) => {
      theirs.send(bytes)
      for (let turn = 0; turn < 5; turn++) await nextTurn()
    },
    metric: (name, labels) => metricValue(registry, `viewmesh_p2p_${name}_total`, labels),
    read: async (...sent) => {
      for (const bytes of sent) theirs.send(bytes)
      void theirs.close()
      const pieces: Uint8Array[] = []
      for await (const piece of frames) pieces.push(piece)
      return Buffer.concat(pieces)
    },
  }
}

function frameOf(...texts: readonly string[]): Uint8Array {
  const messages = texts.map((text) => ({ topic: '/t', data: new Uint8Array(Buffer.from(text)) }))
  return RPC.encode({ subscriptions: [], messages })
}

/** A frame of exactly so many bytes. */
function frameOfBytes(bytes: number): Uint8Array {
  const around = (text: string): number => frameOf(text).byteLength - text.length
  let length = bytes - around('')
  while (around('x'.repeat(length)) + length > bytes) length -= 1
  const frame = frameOf('x'.repeat(length))
  assert.equal(frame.byteLength, bytes)
  return frame
}

const wanted = RPC.encode({
  subscriptions: [{ subscribe: true, topic: '/t' }],
  messages: [],
})

test('frames are passed on with their lengths, of whatever size they are', async (t) => {
  const frames = [50, 127, 128, 129, 16_383, 16_384, 16_385].map(frameOfBytes)
  const sent = frames.map(lengthPrefixed)
  const { read, events, metric } = await openScene(t)
  const all = Buffer.concat(sent)
  assert.deepEqual(await read(...sent), all)
  assert.deepEqual(events, Array(frames.length).fill('a frame of p'))
  assert.equal(await metric('gossip_bytes', { direction: 'received' }), all.byteLength)
})

test('messages are passed on one by one, behind what else is in their frame, or left out', async (t) => {
  const offered: string[] = []
  const { read } = await openScene(t, {
    inbox: {
      offer: (peer, topic, data) => {
        const text = Buffer.from(data).toString()
        offered.push(`${peer} ${topic} ${text}`)
        return text !== 'unwanted'
      },
    },
  })
  const frame = Buffer.concat([frameOf('first'), wanted, frameOf('unwanted', 'last')])
  const parts = [wanted, frameOf('first'), frameOf('last')].map(lengthPrefixed)
  assert.deepEqual(await read(lengthPrefixed(frame)), Buffer.concat(parts))
  assert.deepEqual(offered, ['p /t first', 'p /t unwanted', 'p /t last'])
})

test('of a frame with nothing that may be passed on nothing is, not even its length', async (t) => {
  const { read, events } = await openScene(t, { inbox: { offer: () => false } })
  assert.equal((await read(lengthPrefixed(frameOf('unwanted')), lengthOf(0))).byteLength, 0)
  assert.deepEqual(events, ['a frame of p'], 'one without any content is none')
})

test('a frame that is no message is a fault, and the next one is read', async (t) => {
  const { read, events } = await openScene(t)
  const next = lengthPrefixed(frameOf('next'))
  assert.deepEqual(await read(lengthPrefixed(Uint8Array.of(0x0b)), next), Buffer.from(next))
  assert.deepEqual(events, ['a frame of p', 'p: malformed message', 'a frame of p'])
})

test('a frame whose length nobody may send ends what is read, and the connection', async (t) => {
  const { read, events } = await openScene(t)
  const first = lengthPrefixed(frameOf('first'))
  const passed = await read(Buffer.concat([first, lengthOf(4 * 1024 * 1024 + 1)]))
  assert.deepEqual(passed, Buffer.from(first))
  assert.deepEqual(events, ['a frame of p', 'p: oversize message', 'p is disconnected'])
})

test('frames above the budgets of bytes or of work are dropped, each for itself', async (t) => {
  const [large, busy, small] = [frameOf('x'.repeat(1_000)), frameOf('a', 'b'), frameOf('a')]
  const costs: number[] = []
  const { read, events, metric } = await openScene(t, {
    bytes: { take: (_, bytes) => bytes < 1_000 },
    messages: {
      take: (_, cost) => {
        costs.push(cost)
        return cost < 3
      },
    },
  })
  const passed = await read(...[large, busy, small].map(lengthPrefixed))
  assert.deepEqual(passed, Buffer.from(lengthPrefixed(small)))
  assert.deepEqual(costs, [3, 2])
  assert.equal(await metric('messages', { verdict: 'dropped' }), 2)
  assert.deepEqual(events, Array(3).fill('a frame of p'))
})

test('a frame that is not finished in time is a fault, however often a piece of it comes', async (t) => {
  const { frames, send, events } = await openScene(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const reading = frames.next()
  await send(Buffer.concat([lengthOf(100), new Uint8Array(10)]))
  t.mock.timers.tick(stallMs - 1)
  await send(new Uint8Array(10))
  assert.deepEqual(events, ['a frame of p'])
  t.mock.timers.tick(1)
  assert.deepEqual(events, ['a frame of p', 'p: stalled writer'])
  await assert.rejects(reading, /not finished in time/)
})

test('a frame that the end of its stream cuts short is no fault, and nothing is kept of it', async (t) => {
  const { read, events, kept } = await openScene(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const passed = await read(Buffer.concat([lengthOf(100), new Uint8Array(10)]))
  t.mock.timers.tick(stallMs)
  assert.deepEqual([passed.byteLength, events, kept()], [0, ['a frame of p'], 0])
})

test('what a stream had brought when it was given up is the last that is passed on', async (t) => {
  const { frames, send, abort } = await openScene(t)
  const first = lengthPrefixed(frameOf('first'))
  await send(first)
  const passed = [await frames.next(), await frames.next()].map(({ value }) => value)
  assert.deepEqual(Buffer.concat(passed), Buffer.from(first))
  abort()
  assert.deepEqual(await frames.next(), { done: true, value: undefined })
})
