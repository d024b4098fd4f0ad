/** What it costs to be asked for ranges, and how we ask ourselves. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { P2pLimits } from '../../../src/p2p/limits/limits.ts'
import { rangeProtocol } from '../../../src/p2p/peers/networks.ts'
import { encodeClientFrame } from '../../../src/p2p/range/range-frames.ts'
import type { BlockSource } from '../../../src/p2p/range/range-server.ts'
import { connect, openRoom, type TestRoom, testNetwork, until } from '../../support/p2p-room.ts'
import { openRawPeer } from '../../support/raw-peer.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const statusOnly = encodeClientFrame({
  kind: 'request',
  from: 1,
  to: 0,
  windowBytes: 0,
  status: { tail: 1, head: 9 },
})

async function count(blocks: AsyncIterable<Uint8Array>): Promise<number> {
  let blocksSeen = 0
  for await (const _ of blocks) blocksSeen += 1
  return blocksSeen
}

/** A Host that is connected to a server of `source`, to which it is a stranger. */
async function openPair(
  t: TestContext,
  source: BlockSource,
  limits: Partial<P2pLimits> = {},
): Promise<{ server: TestRoom; host: TestRoom }> {
  const server = await openRoom(t, { source, limits })
  const host = await openRoom(t)
  const announced = host.event('announced', server.id)
  host.p2p.setBootstrapPeers([server.address])
  await announced
  return { server, host }
}

test('a range over a gap of twenty millions costs two heights', async (t) => {
  const stored = [0, 20_000_000]
  const asked: number[] = []
  const { server, host } = await openPair(t, {
    range: () => ({ tail: 0, head: 20_000_000 }),
    heights: (from, to) => stored.filter((height) => height >= from && height <= to),
    sealedBlock: (height) => {
      asked.push(height)
      return randomBytes(10)
    },
  })
  assert.equal(await count(host.p2p.pull(server.id, 0, 20_000_000, soon())), 2)
  assert.deepEqual(asked, stored)
})

test('more heights than are read at a time are all served', async (t) => {
  const lookups: number[] = []
  const { server, host } = await openPair(t, {
    range: () => ({ tail: 0, head: 999 }),
    heights: (from, to, limit) => {
      lookups.push(from)
      return Array.from({ length: Math.min(limit, to - from + 1) }, (_, index) => from + index)
    },
    sealedBlock: () => randomBytes(10),
  })
  assert.equal(await count(host.p2p.pull(server.id, 0, 999, soon())), 1000)
  assert.deepEqual(lookups, [0, 256, 512, 768])
})

test('the walk ends when the asker leaves, although nothing was to be sent', async (t) => {
  let walked = 0
  const { server, host } = await openPair(t, {
    range: () => ({ tail: 0, head: 2 ** 31 - 1 }),
    heights: (from, _, limit) => Array.from({ length: limit }, (__, index) => from + index),
    sealedBlock: () => {
      walked += 1
      return null
    },
  })
  const stop = new AbortController()
  const pull = count(host.p2p.pull(server.id, 0, 2 ** 31 - 1, stop.signal))
  await until(() => walked > 1000)
  stop.abort(new Error('enough'))
  await assert.rejects(pull, /enough/)
  await until(async () => (await server.metric('viewmesh_p2p_range_streams')) === 0)
  const before = walked
  for (let turn = 0; turn < 20; turn += 1) await nextTurn()
  assert.equal(walked, before)
})

test('other work has its turn while a range without blocks is walked', async (t) => {
  let walked = 0
  const { server, host } = await openPair(t, {
    range: () => ({ tail: 0, head: 2 ** 31 - 1 }),
    heights: (from, _, limit) => Array.from({ length: limit }, (__, index) => from + index),
    sealedBlock: () => {
      walked += 1
      return null
    },
  })
  const stop = new AbortController()
  const pull = count(host.p2p.pull(server.id, 0, 2 ** 31 - 1, stop.signal))
  await until(() => walked > 0)
  for (let ask = 0; ask < 5; ask += 1) await host.p2p.status(server.id, soon())
  stop.abort(new Error('enough'))
  await assert.rejects(pull, /enough/)
})

test('strangers are sent so many bytes a second; a configured peer as many as it reads', async (t) => {
  const source: BlockSource = {
    range: () => ({ tail: 0, head: 9 }),
    heights: (from, to) => [...Array(10).keys()].filter((height) => height >= from && height <= to),
    sealedBlock: () => new Uint8Array(100_000),
  }
  const rangeBytes = { configured: 2 ** 40, address: 60_000, strangers: 60_000 }
  const { server, host } = await openPair(t, source, { rangeBytes })
  const stop = new AbortController()
  const pull = assert.rejects(count(host.p2p.pull(server.id, 0, 9, stop.signal)), /enough/)
  const known = await openRoom(t)
  await connect(known, server)
  server.p2p.setBootstrapPeers([known.address])
  assert.equal(await count(known.p2p.pull(server.id, 0, 9, soon())), 10)
  const sent = await server.metric('viewmesh_p2p_range_bytes_total', { direction: 'sent' })
  assert(sent < 1_600_000, `${sent} bytes, of which a million to the configured peer`)
  stop.abort(new Error('enough'))
  await pull
})

test('strangers of one address share a rate of requests: above it they wait, or get `busy`', async (t) => {
  const room = await openRoom(t, {
    limits: { requests: { configured: 20, address: 0.25, strangers: 100 }, requestWaitMs: 0 },
  })
  const [first, second, other] = await Promise.all([
    openRawPeer(t, { from: '127.0.0.2' }),
    openRawPeer(t, { from: '127.0.0.2' }),
    openRawPeer(t, { from: '127.0.0.3' }),
  ])
  const answers: number[] = []
  for (const peer of [first, second, other]) {
    const frames = await peer.range(room.address)
    await frames.write(statusOnly)
    answers.push((await frames.read()).get(0))
    if (peer === second) await assert.rejects(frames.read())
  }
  const [status, error] = [16, 20]
  assert.deepEqual(answers, [status, error, status])
  const heads = new Map(room.p2p.peers().map(({ id, announced }) => [id, announced?.head]))
  assert.deepEqual(
    [first, second, other].map(({ id }) => heads.get(id)),
    [9, undefined, 9],
  )
  assert.equal(await room.metric('viewmesh_p2p_faults_total'), 0)
})

test('strangers of one address share the streams; one that gets `busy` is not to blame', async (t) => {
  const room = await openRoom(t, {
    limits: { rangeStreams: { configured: 8, address: 2, strangers: 3 } },
  })
  const answers: number[] = []
  for (const from of ['127.0.0.2', '127.0.0.2', '127.0.0.2', '127.0.0.3', '127.0.0.4']) {
    const peer = await openRawPeer(t, { from })
    const frames = await peer.range(room.address)
    const last = answers.length
    frames.read().then(
      (frame) => answers.push(frame.get(0)),
      () => undefined,
    )
    if (last < 2) await until(async () => (await room.metric('viewmesh_p2p_range_streams')) > last)
  }
  await until(() => answers.length === 2)
  assert.deepEqual(answers, [20, 20])
  assert.equal(await room.metric('viewmesh_p2p_range_streams'), 3)
  assert.equal(await room.metric('viewmesh_p2p_faults_total'), 0)
})

test('however often we ask, an honest peer never takes it for a flood: our requests wait', async (t) => {
  const limits = { requestsPerSecond: 10 }
  const server = await openRoom(t, { limits })
  server.blocks.set(0, randomBytes(10))
  const host = await openRoom(t, { limits })
  await connect(host, server)
  const pulls = Array.from({ length: 45 }, () => count(host.p2p.pull(server.id, 0, 9, soon())))
  for (const blocks of await Promise.all(pulls)) assert.equal(blocks, 1)
  assert.equal(await server.metric('viewmesh_p2p_faults_total'), 0)
})

test('a peer that does not say its heights is asked for them once at a time', async (t) => {
  const room = await openRoom(t, { limits: { statusIntervalMs: 5 } })
  const askedOf = async (isSilent: boolean): Promise<() => number> => {
    const peer = await openRawPeer(t)
    let asked = 0
    await peer.take(rangeProtocol(testNetwork), (stream) => {
      asked += 1
      if (!isSilent) stream.abort(new Error('no heights'))
    })
    await peer.dial(room.address)
    return () => asked
  }
  const silent = await askedOf(true)
  await until(() => silent() > 0)
  const refusing = await askedOf(false)
  await until(() => refusing() > 5)
  assert.equal(silent(), 1)
})
