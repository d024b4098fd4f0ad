import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { OnMessage, PeerVerdict } from '../../../src/p2p/peers/verdict.ts'
import { connect, openRoom, until } from '../../support/p2p-room.ts'
import { gossipProtocol, openRawPeer } from '../../support/raw-peer.ts'

/** Validates every block alike and records which ones came. */
function validatorWith(verdict: PeerVerdict): {
  onBlock: OnMessage
  next(): Promise<Uint8Array>
  count(): number
} {
  const arrived: Uint8Array[] = []
  let wake = Promise.withResolvers<void>()
  let taken = 0
  return {
    onBlock: async (bytes) => {
      arrived.push(bytes)
      wake.resolve()
      return verdict
    },
    next: async () => {
      while (arrived.length === taken) {
        await wake.promise
        wake = Promise.withResolvers()
      }
      taken += 1
      return arrived[taken - 1] ?? new Uint8Array()
    },
    count: () => arrived.length,
  }
}

test('a published block arrives byte for byte, in a buffer of its own', async (t) => {
  const receiver = validatorWith({ action: 'accept', height: 7 })
  const generator = await openRoom(t)
  const host = await openRoom(t, { onBlock: receiver.onBlock })
  await connect(host, generator)
  const block = randomBytes(80_000)
  await generator.p2p.publish(block)
  const bytes = await receiver.next()
  assert(block.equals(bytes))
  assert.equal(bytes.buffer.byteLength, block.byteLength)
  const gossiped = 'viewmesh_p2p_gossip_bytes_total'
  await until(async () => (await generator.metric(gossiped, { direction: 'sent' })) === 80_000)
  const received = await host.metric(gossiped, { direction: 'received' })
  assert.ok(received >= 80_000 && received < 90_000, `${received} bytes, with gossip's own`)
})

test('an accepted block raises what its sender is known to have', async (t) => {
  const generator = await openRoom(t)
  const host = await openRoom(t, { onBlock: async () => ({ action: 'accept', height: 7 }) })
  await connect(host, generator)
  assert.equal(host.p2p.highestAnnounced(), null)
  const announced = host.event('announced', generator.id)
  await generator.p2p.publish(randomBytes(100))
  assert.deepEqual((await announced).announced, { tail: 7, head: 7 })
  assert.equal(host.p2p.highestAnnounced(), 7)
  assert.equal(await host.metric('viewmesh_p2p_messages_total', { verdict: 'accept' }), 1)
})

test('a block travels on only after it was accepted', async (t) => {
  const middle = validatorWith({ action: 'accept' })
  const verdict = Promise.withResolvers<PeerVerdict>()
  const end = validatorWith({ action: 'accept' })
  const generator = await openRoom(t)
  const first = await openRoom(t, {
    onBlock: async (bytes, from) => {
      await middle.onBlock(bytes, from)
      return verdict.promise
    },
  })
  const second = await openRoom(t, { onBlock: end.onBlock })
  await connect(first, generator)
  await connect(second, first)
  await generator.p2p.publish(randomBytes(100))
  await middle.next()
  await second.p2p.status(first.id, AbortSignal.timeout(60_000))
  assert.equal(end.count(), 0)
  verdict.resolve({ action: 'accept' })
  await end.next()
})

for (const action of ['ignore', 'reject'] as const) {
  test(`a block whose verdict is "${action}" does not travel on`, async (t) => {
    const bad = randomBytes(100)
    const end = validatorWith({ action: 'accept' })
    const generator = await openRoom(t)
    const first = await openRoom(t, {
      onBlock: async (bytes) =>
        bad.equals(bytes) ? { action, reason: 'not wanted' } : { action: 'accept' },
    })
    const second = await openRoom(t, { onBlock: end.onBlock })
    await connect(first, generator)
    await connect(second, first)
    const good = randomBytes(100)
    await generator.p2p.publish(bad)
    await generator.p2p.publish(good)
    assert(good.equals(await end.next()))
    assert.equal(end.count(), 1)
    const [generatorAtFirst] = first.p2p.peers().filter((peer) => peer.id === generator.id)
    assert.equal(generatorAtFirst?.score, action === 'reject' ? -24 : 0)
  })
}

test('a verdict that fails is logged and counts as "ignore": the sender is not to blame', async (t) => {
  const generator = await openRoom(t)
  const host = await openRoom(t, { onBlock: async () => Promise.reject(new Error('disk full')) })
  await connect(host, generator)
  await generator.p2p.publish(randomBytes(100))
  const line = await host.captured.line('a message could not be validated')
  assert.equal(line.level, 'error')
  assert.equal(host.p2p.peers()[0]?.score, 0)
})

test('the same bytes published twice travel once', async (t) => {
  const receiver = validatorWith({ action: 'accept' })
  const generator = await openRoom(t)
  const host = await openRoom(t, { onBlock: receiver.onBlock })
  await connect(host, generator)
  const [block, last] = [randomBytes(100), randomBytes(100)]
  await generator.p2p.publish(block)
  await generator.p2p.publish(block)
  await generator.p2p.publish(last)
  assert(block.equals(await receiver.next()))
  assert(last.equals(await receiver.next()))
})

test('publishing with nobody there is no failure', async (t) => {
  const generator = await openRoom(t)
  await generator.p2p.publish(randomBytes(100))
})

test('a block of exactly the limit travels; one byte more is refused with the way out', async (t) => {
  const receiver = validatorWith({ action: 'accept' })
  const generator = await openRoom(t)
  const host = await openRoom(t, { onBlock: receiver.onBlock })
  await connect(host, generator)
  const { maxGossipBytes } = generator.p2p
  assert.equal(maxGossipBytes, 1024 * 1024)
  await generator.p2p.publish(randomBytes(maxGossipBytes))
  assert.equal((await receiver.next()).byteLength, maxGossipBytes)
  await assert.rejects(generator.p2p.publish(randomBytes(maxGossipBytes + 1)), {
    code: 'P2P_MESSAGE_TOO_LARGE',
    remedy: 'Publish the seals alone; peers pull the block.',
  })
})

test('blocks above what may wait for a verdict are dropped, without blaming the sender', async (t) => {
  const verdict = Promise.withResolvers<PeerVerdict>()
  const generator = await openRoom(t)
  const host = await openRoom(t, {
    limits: { pendingMessages: { configured: 2, address: 0, strangers: 0 } },
    onBlock: () => verdict.promise,
  })
  await connect(host, generator)
  for (let block = 0; block < 5; block += 1) await generator.p2p.publish(randomBytes(100))
  await until(
    async () => (await host.metric('viewmesh_p2p_messages_total', { verdict: 'dropped' })) === 3,
  )
  assert.equal(host.p2p.peers()[0]?.score, 0)
  verdict.resolve({ action: 'accept' })
})

test('peers of another network hear nothing of ours', async (t) => {
  const receiver = validatorWith({ action: 'accept' })
  const generator = await openRoom(t)
  const stranger = await openRoom(t, {
    options: { network: 'Other__Net', bootstrapPeers: [generator.address] },
    onBlock: receiver.onBlock,
  })
  const line = await stranger.captured.line('a connected peer does not serve our network')
  assert.deepEqual([line.level, line['network']], ['warn', 'Other__Net'])
  const quiet = await generator.captured.line('a connected peer does not serve our network')
  assert.equal(quiet.level, 'debug', 'it has not named the stranger')
  await generator.p2p.publish(randomBytes(100))
  await assert.rejects(stranger.p2p.status(generator.id, AbortSignal.timeout(60_000)), {
    code: 'P2P_PULL_FAILED',
  })
  assert.equal(receiver.count(), 0)
})

test('signed heads have a topic of their own, and reach the peers that subscribe to it', async (t) => {
  const blocks = validatorWith({ action: 'accept' })
  const heads = validatorWith({ action: 'accept' })
  const generator = await openRoom(t)
  const host = await openRoom(t, { onBlock: blocks.onBlock, onHead: heads.onBlock })
  await connect(host, generator)
  await generator.p2p.publishHead(Buffer.from('a head'))
  assert.equal(Buffer.from(await heads.next()).toString(), 'a head')
  assert.equal(blocks.count(), 0)
  await assert.rejects(generator.p2p.publishHead(new Uint8Array(513)), {
    code: 'P2P_MESSAGE_TOO_LARGE',
  })
})

test('a peer gossips by gossipsub alone: floodsub, which keeps no scores, is not spoken', async (t) => {
  const room = await openRoom(t)
  const peer = await openRawPeer(t)
  await peer.open(room.address, gossipProtocol)
  await assert.rejects(peer.open(room.address, '/floodsub/1.0.0'), {
    name: 'UnsupportedProtocolError',
  })
})
