/** The streams on which we gossip to peers, beside peers that do not want any to be opened. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { RPC } from '@libp2p/gossipsub/message'
import type { Stream } from '@libp2p/interface'
import { topicOf } from '../../../src/p2p/gossip/gossip.ts'
import { connect, openRoom, type TestRoom, testNetwork, until } from '../../support/p2p-room.ts'
import {
  gossipProtocol,
  lengthPrefixed,
  openRawPeer,
  type RawPeer,
} from '../../support/raw-peer.ts'

const topic = topicOf(testNetwork, 'block')

/** A peer that listens to blocks and keeps the streams on which it hears of them. */
async function openListener(
  t: TestContext,
  room: TestRoom,
): Promise<{ peer: RawPeer; streams: Stream[] }> {
  const peer = await openRawPeer(t)
  const streams: Stream[] = []
  await peer.take(gossipProtocol, (stream) => streams.push(stream))
  const stream = await peer.open(room.address, gossipProtocol)
  const subscription = { subscriptions: [{ subscribe: true, topic }], messages: [] }
  stream.send(lengthPrefixed(RPC.encode(subscription)))
  await until(() => room.p2p.peers().some(({ id, subscribed }) => id === peer.id && subscribed))
  return { peer, streams }
}

test('peers that never answer keep nobody from hearing that we listen', async (t) => {
  const heard: string[] = []
  const room = await openRoom(t, {
    onBlock: async (_, { peer }) => {
      heard.push(peer)
      return { action: 'accept' }
    },
  })
  for (let index = 0; index < 5; index += 1) {
    const deaf = await openRawPeer(t, { from: `127.0.0.${index + 2}`, isDeaf: true })
    await deaf.open(room.address, gossipProtocol)
  }
  await until(() => room.p2p.peers().length === 5)
  const honest = await openRoom(t)
  await connect(room, honest)
  await honest.p2p.publish(randomBytes(100))
  await until(() => heard.length === 1)
  assert.deepEqual(heard, [honest.id])
})

test('a peer whose connection with the stream ends goes on hearing on its other one', async (t) => {
  const room = await openRoom(t)
  const { peer, streams } = await openListener(t, room)
  const [first] = streams
  assert(first !== undefined)
  const other = await peer.dialAgain(room.address)
  await until(() => room.p2p.peers()[0]?.addresses.length === 2)
  const ended = once(first, 'close')
  await peer.dropOthers(other)
  await ended
  await until(() => streams.length === 2)
  let heard = 0
  streams[1]?.addEventListener('message', () => {
    heard += 1
  })
  // What is published while the stream is being opened is lost, as before a peer connects.
  await until(async () => {
    await room.p2p.publish(randomBytes(100))
    return heard > 0
  })
})

test('a stream that a peer has ended is opened again after a while', async (t) => {
  const room = await openRoom(t, { limits: { pullStallMs: 200 } })
  const { streams } = await openListener(t, room)
  streams[0]?.abort(new Error('not wanted'))
  await until(() => streams.length === 2)
})
