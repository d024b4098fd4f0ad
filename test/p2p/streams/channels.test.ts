/** Long streams of frames in both directions: who gets one, and what ends it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { lpStream } from '@libp2p/utils'
import type { P2pParts } from '../../../src/p2p/p2p.ts'
import { type Channel, channelProtocol } from '../../../src/p2p/streams/channels.ts'
import { connect, openRoom, testNetwork, until } from '../../support/p2p-room.ts'
import { lengthOf, openRawPeer } from '../../support/raw-peer.ts'

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
const text = (frame: Uint8Array): string => Buffer.from(frame).toString()
const within = (): AbortSignal => AbortSignal.timeout(60_000)
const options = { windowBytes: 1024 * 1024 }

type Serve = (channel: Channel, peer: string) => Promise<void>

const serving = (serve: Serve): NonNullable<P2pParts['channels']> => ({
  views: { serve, busy: bytes('busy') },
})

/** Sends each frame back. */
const echo: Serve = async (channel) => {
  for (;;) await channel.write(await channel.read())
}

/** Serves until the other side leaves. */
const wait: Serve = async (channel) => {
  await channel.write(bytes('welcome'))
  await new Promise((resolve) => channel.ended.addEventListener('abort', resolve))
}

test('a channel carries frames in both directions, and its server knows the peer', async (t) => {
  const opener = await openRoom(t)
  const server = await openRoom(t, {
    channels: serving(async (channel, peer) => {
      await channel.write(bytes(peer))
      for (let frame = 0; frame < 100; frame++) await channel.write(await channel.read())
    }),
  })
  await connect(opener, server)
  const channel = await opener.p2p.openChannel(server.id, 'views', options, within())
  assert.equal(text(await channel.read()), opener.id)
  for (let frame = 0; frame < 100; frame++) {
    await channel.write(bytes(`frame ${frame}`))
    assert.equal(text(await channel.read()), `frame ${frame}`)
  }
  await channel.close()
})

test('a frame may have 1 MiB from the server and 256 KiB from the opener', async (t) => {
  const opener = await openRoom(t)
  const server = await openRoom(t, {
    channels: serving(async (channel) => {
      const request = await channel.read()
      await channel.write(new Uint8Array(1024 * 1024 + request.length - 256 * 1024))
    }),
  })
  await connect(opener, server)
  const channel = await opener.p2p.openChannel(server.id, 'views', options, within())
  await channel.write(new Uint8Array(256 * 1024))
  assert.equal((await channel.read()).length, 1024 * 1024)
  const other = await opener.p2p.openChannel(server.id, 'views', options, within())
  await other.write(new Uint8Array(256 * 1024 + 1))
  await assert.rejects(other.read(), { code: 'P2P_CHANNEL_FAILED' })
  assert.equal(await server.metric('viewmesh_p2p_faults_total', { fault: 'oversize frame' }), 1)
})

test('a stranger gets as many channels as its address may have, then busy, until one ends', async (t) => {
  const opener = await openRoom(t)
  const channelStreams = { configured: 8, address: 2, strangers: 64 }
  const server = await openRoom(t, { channels: serving(wait), limits: { channelStreams } })
  await connect(opener, server)
  const open = (): Promise<Channel> => opener.p2p.openChannel(server.id, 'views', options, within())
  const first = async (channel: Channel): Promise<string> => text(await channel.read())
  const held = [await open(), await open()]
  assert.deepEqual(await Promise.all(held.map(first)), ['welcome', 'welcome'])
  assert.equal(await first(await open()), 'busy')
  held[0]?.abort(new Error('enough'))
  await until(async () => (await first(await open())) === 'welcome')
})

test('a channel above what an address may request is answered with busy', async (t) => {
  const requests = { configured: 1, address: 0.25, strangers: 1 }
  const server = await openRoom(t, {
    channels: serving(wait),
    limits: { requests, requestWaitMs: 0 },
  })
  const raw = await openRawPeer(t)
  await raw.dial(server.address)
  const protocol = channelProtocol(testNetwork, 'views')
  const streams = await Promise.all([1, 2].map(() => raw.open(server.address, protocol)))
  const frames = await Promise.all(streams.map((stream) => lpStream(stream).read()))
  assert.deepEqual(frames.map((frame) => text(frame.subarray())).sort(), ['busy', 'welcome'])
})

test('a channel is written no faster than its remote may be sent bytes', async (t) => {
  const written = Promise.withResolvers<number>()
  const opener = await openRoom(t)
  const server = await openRoom(t, {
    limits: { channelBytes: { configured: 1, address: 1, strangers: 1 } },
    channels: serving(async (channel) => {
      let count = 0
      const write = async (frame: Uint8Array): Promise<void> => {
        await channel.write(frame)
        count += 1
      }
      const writing = Promise.allSettled([write(bytes('four')), write(new Uint8Array(1_000))])
      await channel.read()
      written.resolve(count)
      await writing
    }),
  })
  await connect(opener, server)
  const channel = await opener.p2p.openChannel(server.id, 'views', options, within())
  assert.equal(text(await channel.read()), 'four')
  await channel.write(bytes('how many?'))
  assert.equal(await written.promise, 1)
})

test('a peer is asked for a channel when it may be asked something, and not before', async (t) => {
  const opener = await openRoom(t, { limits: { requestsPerSecond: 0.001 } })
  let isOpen = false
  const server = await openRoom(t, {
    channels: serving(async () => {
      isOpen = true
    }),
  })
  const connected = [opener.event('connected', server.id), server.event('connected', opener.id)]
  opener.p2p.setBootstrapPeers([server.address])
  await Promise.all(connected)
  const stop = new AbortController()
  const opening = opener.p2p.openChannel(server.id, 'views', options, stop.signal)
  await connect(await openRoom(t), server)
  assert.equal(isOpen, false)
  const reason = new Error('enough')
  stop.abort(reason)
  await assert.rejects(opening, reason)
})

test('a channel that a node does not serve is not opened, and nobody is blamed', async (t) => {
  const opener = await openRoom(t)
  const server = await openRoom(t)
  await connect(opener, server)
  const opening = opener.p2p.openChannel(server.id, 'views', options, within())
  await assert.rejects(opening, { code: 'P2P_CHANNEL_FAILED' })
  for (const room of [opener, server])
    assert.doesNotMatch(await room.registry.metrics(), /viewmesh_p2p_faults_total\{[^}]*\} [1-9]/)
})

test('an application that leaves is no error of the server', async (t) => {
  const left = Promise.withResolvers<void>()
  const opener = await openRoom(t)
  const server = await openRoom(t, {
    channels: serving((channel, peer) => echo(channel, peer).finally(left.resolve)),
  })
  await connect(opener, server)
  const channel = await opener.p2p.openChannel(server.id, 'views', options, within())
  await channel.write(bytes('hello'))
  await channel.read()
  channel.abort(new Error('enough'))
  await left.promise
  await nextTurn()
  assert.deepEqual(server.captured.messages('error'), [])
})

test('a channel ends with the signal, with its node, and with its server', async (t) => {
  const opener = await openRoom(t)
  const server = await openRoom(t, { channels: serving(wait) })
  await connect(opener, server)
  const controller = new AbortController()
  const aborted = await opener.p2p.openChannel(server.id, 'views', options, controller.signal)
  await aborted.read()
  controller.abort(new Error('called off'))
  await assert.rejects(aborted.read(), /called off/)
  const left = await opener.p2p.openChannel(server.id, 'views', options, within())
  await left.read()
  await server.p2p.close()
  await assert.rejects(left.read(), { code: 'P2P_CHANNEL_FAILED' })
})

test('a server that fails ends the channel, says so in its log, and blames nobody', async (t) => {
  const opener = await openRoom(t)
  const server = await openRoom(t, {
    channels: serving(() => Promise.reject(new Error('the store is closed'))),
  })
  await connect(opener, server)
  const channel = await opener.p2p.openChannel(server.id, 'views', options, within())
  const facts = { peer: server.id, channel: 'views', fault: null }
  await assert.rejects(channel.read(), { code: 'P2P_CHANNEL_FAILED', facts })
  const line = await server.captured.line('a channel could not be served')
  assert.equal(line['channel'], 'views')
  assert.deepEqual(
    server.p2p.peers().map(({ id, score }) => [id, score]),
    [[opener.id, 0]],
  )
})

test('a peer that announces too long a frame loses score', async (t) => {
  const server = await openRoom(t, { channels: serving(echo) })
  const raw = await openRawPeer(t)
  const stream = await raw.open(server.address, channelProtocol(testNetwork, 'views'))
  stream.send(lengthOf(256 * 1024 + 1))
  const fault = { fault: 'oversize frame' }
  await until(async () => (await server.metric('viewmesh_p2p_faults_total', fault)) === 1)
})

test('a server that announces too long a frame is blamed by who opened the channel', async (t) => {
  const opener = await openRoom(t)
  const raw = await openRawPeer(t)
  await raw.take(channelProtocol(testNetwork, 'views'), (stream) => {
    stream.send(lengthOf(1024 * 1024 + 1))
  })
  await raw.dial(opener.address)
  await until(() => opener.p2p.peers().some(({ id }) => id === raw.id))
  const channel = await opener.p2p.openChannel(raw.id, 'views', options, within())
  const facts = { peer: raw.id, channel: 'views', fault: 'oversize frame' }
  await assert.rejects(channel.read(), { code: 'P2P_CHANNEL_FAILED', facts })
  assert.equal(await opener.metric('viewmesh_p2p_faults_total', { fault: 'oversize frame' }), 1)
})

test('a peer that opens a channel and says nothing gives its place up in time', async (t) => {
  const server = await openRoom(t, { channels: serving(echo), limits: { stallMs: 50 } })
  const raw = await openRawPeer(t)
  const stream = await raw.open(server.address, channelProtocol(testNetwork, 'views'))
  const fault = { fault: 'stalled writer' }
  await until(async () => (await server.metric('viewmesh_p2p_faults_total', fault)) === 1)
  await until(() => stream.status !== 'open')
})

test('a peer that is not connected gets no channel', async (t) => {
  const opener = await openRoom(t)
  const server = await openRoom(t)
  const opening = opener.p2p.openChannel(server.id, 'views', options, within())
  await assert.rejects(opening, { code: 'P2P_CHANNEL_FAILED' })
})

test('a hundred thousand frames at once leave turns of the event loop to others', async (t) => {
  const count = 100_000
  let turns = 0
  const during = Promise.withResolvers<number>()
  const turn = (): void => {
    turns += 1
    setImmediate(turn).unref()
  }
  const server = await openRoom(t, {
    channels: serving(async (channel) => {
      await channel.read()
      const before = turns
      for (let frame = 1; frame < count; frame++) await channel.read()
      during.resolve(turns - before)
    }),
  })
  const peer = await openRawPeer(t)
  const stream = await peer.open(server.address, channelProtocol(testNetwork, 'views'))
  turn()
  stream.send(Buffer.alloc(2 * count, Uint8Array.of(1, 7)))
  assert.ok((await during.promise) > 10)
})
