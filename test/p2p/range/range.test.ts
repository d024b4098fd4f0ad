import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { connect, openRoom, type TestRoom, until } from '../../support/p2p-room.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)

function fill(room: TestRoom, from: number, to: number, bytes: number): void {
  for (let height = from; height <= to; height += 1) room.blocks.set(height, randomBytes(bytes))
}

async function collect(blocks: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const all: Uint8Array[] = []
  for await (const block of blocks) all.push(block)
  return all
}

test('a late Host learns tail and head on connecting, and pulls every block in ascending order', async (t) => {
  const generator = await openRoom(t)
  fill(generator, 100, 139, 80_000)
  const host = await openRoom(t)
  await connect(host, generator)
  assert.deepEqual(host.p2p.peers()[0]?.announced, { tail: 100, head: 139 })
  const blocks = await collect(host.p2p.pull(generator.id, 0, 1000, soon()))
  assert.deepEqual(
    blocks.map((block) => Buffer.from(block)),
    [...generator.blocks.values()],
  )
  const direction = { direction: 'received' }
  assert.equal(await host.metric('viewmesh_p2p_range_blocks_total', direction), 40)
  assert.equal(await host.metric('viewmesh_p2p_range_bytes_total', direction), 40 * 80_000)
})

test('only what was asked for is sent, and gaps are left out', async (t) => {
  const generator = await openRoom(t)
  fill(generator, 1, 9, 10)
  generator.blocks.delete(5)
  const host = await openRoom(t)
  await connect(host, generator)
  const blocks = await collect(host.p2p.pull(generator.id, 4, 6, soon()))
  assert.deepEqual(
    blocks.map((block) => Buffer.from(block)),
    [generator.blocks.get(4), generator.blocks.get(6)],
  )
})

const sizes = [0, 1, 65_525, 65_526, 3_000_000, 16 * 1024 * 1024]

test('blocks of any size up to the limit arrive whole, in buffers of their own', async (t) => {
  const generator = await openRoom(t)
  sizes.forEach((size, height) => {
    generator.blocks.set(height, randomBytes(size))
  })
  const host = await openRoom(t)
  await connect(host, generator)
  const blocks = await collect(host.p2p.pull(generator.id, 0, sizes.length, soon()))
  assert.deepEqual(
    blocks.map((block) => Buffer.from(block)),
    [...generator.blocks.values()],
  )
  assert.deepEqual(
    blocks.map((block) => block.buffer.byteLength),
    sizes,
  )
})

test('a reader that takes its time is sent no more than the window, and gets everything', async (t) => {
  const blockBytes = 50_000
  const asked: number[] = []
  const generator = await openRoom(t, {
    source: {
      range: () => ({ tail: 0, head: 99 }),
      heights: (from, to, limit) => [...Array(100).keys()].slice(from, to + 1).slice(0, limit),
      sealedBlock: (height) => {
        asked.push(height)
        return new Uint8Array(blockBytes).fill(height)
      },
    },
  })
  const limits = { windowBytes: 200_000, maxFrameBytes: 64 * 1024 }
  const host = await openRoom(t, { limits })
  const announced = host.event('announced', generator.id)
  host.p2p.setBootstrapPeers([generator.address])
  await announced
  const seen: (number | undefined)[] = []
  for await (const block of host.p2p.pull(generator.id, 0, 99, soon())) {
    seen.push(block[0])
    // Each of these is an exchange of its own, in which the server could run ahead.
    if (seen.length % 25 === 0) await host.p2p.status(generator.id, soon())
    const ahead = asked.length - seen.length
    assert(ahead <= limits.windowBytes / blockBytes + 1, `${ahead} blocks ahead of the reader`)
  }
  assert.deepEqual(seen, [...Array(100).keys()])
})

test('an abort ends the pull with its reason, and the server stops', async (t) => {
  const generator = await openRoom(t)
  fill(generator, 0, 99, 80_000)
  const host = await openRoom(t)
  await connect(host, generator)
  const stop = new AbortController()
  const reason = new Error('enough')
  await assert.rejects(async () => {
    for await (const _ of host.p2p.pull(generator.id, 0, 99, stop.signal)) stop.abort(reason)
  }, reason)
  await until(async () => (await generator.metric('viewmesh_p2p_range_streams')) === 0)
  assert.equal(generator.p2p.peers()[0]?.score, 0)
})

test('leaving the loop early is no fault either', async (t) => {
  const generator = await openRoom(t)
  fill(generator, 0, 99, 80_000)
  const host = await openRoom(t)
  await connect(host, generator)
  for await (const _ of host.p2p.pull(generator.id, 0, 99, soon())) break
  await until(async () => (await generator.metric('viewmesh_p2p_range_streams')) === 0)
  assert.equal(generator.p2p.peers()[0]?.score, 0)
  assert.equal((await collect(host.p2p.pull(generator.id, 0, 9, soon()))).length, 10)
})

test('more pulls from one peer than it allows wait for their turn', async (t) => {
  const generator = await openRoom(t)
  fill(generator, 0, 19, 100_000)
  const host = await openRoom(t)
  await connect(host, generator)
  const pulls = Array.from({ length: 12 }, () =>
    collect(host.p2p.pull(generator.id, 0, 19, soon())),
  )
  for (const blocks of await Promise.all(pulls)) assert.equal(blocks.length, 20)
  assert.equal(generator.p2p.peers()[0]?.score, 0)
})

test('a Generator that begins empty returns its first heights when it is asked again', async (t) => {
  const generator = await openRoom(t)
  const host = await openRoom(t, { limits: { statusIntervalMs: 50 } })
  await connect(host, generator)
  assert.equal(host.p2p.peers()[0]?.announced, null)
  const announced = host.event('announced', generator.id)
  fill(generator, 5, 6, 10)
  assert.deepEqual((await announced).announced, { tail: 5, head: 6 })
})

test('the server learns what the Host has, too', async (t) => {
  const generator = await openRoom(t)
  const host = await openRoom(t)
  fill(host, 3, 4, 10)
  const announced = generator.event('announced', host.id)
  await connect(host, generator)
  assert.deepEqual((await announced).announced, { tail: 3, head: 4 })
})

test('heights count only once a block of the peer was accepted', async (t) => {
  const generator = await openRoom(t)
  fill(generator, 0, 9, 10)
  const host = await openRoom(t)
  await connect(host, generator)
  assert.equal(host.p2p.highestAnnounced(), null)
  host.p2p.applyVerdict(generator.id, { action: 'accept', height: 0 })
  assert.equal(host.p2p.highestAnnounced(), 9)
  assert.equal(host.p2p.peers()[0]?.verified, true)
})

test('a peer that is not connected cannot be asked', async (t) => {
  const host = await openRoom(t)
  const peer = '12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5'
  await assert.rejects(collect(host.p2p.pull(peer, 0, 9, soon())), {
    code: 'P2P_PULL_FAILED',
    message: 'pulling blocks failed: the peer is not connected',
    facts: { peer, from: 0, to: 9, fault: null },
  })
})

test('a store that cannot be read is our error: logged here, one word to the peer', async (t) => {
  const generator = await openRoom(t, {
    source: {
      range: () => ({ tail: 0, head: 9 }),
      heights: () => [0],
      sealedBlock: () => {
        throw new Error('disk on fire')
      },
    },
  })
  const host = await openRoom(t)
  const announced = host.event('announced', generator.id)
  host.p2p.setBootstrapPeers([generator.address])
  await announced
  await assert.rejects(collect(host.p2p.pull(generator.id, 0, 9, soon())), {
    message: 'pulling blocks failed: the peer answered: unavailable',
  })
  assert.equal((await generator.captured.line('blocks to serve could not be read')).level, 'error')
})
