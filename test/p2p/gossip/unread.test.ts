/** Which peers are cut off because they do not read their gossip. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Connection } from '@libp2p/interface'
import { createUnreadWatch, gossipStreams } from '../../../src/p2p/gossip/unread.ts'

const sending = { direction: 'outbound', protocol: '/meshsub/1.2.0' }

/** A stream with so many bytes that are not read; it ends by an error of this name. */
function streamOf(bytes: number, of: { direction: string; protocol: string } = sending) {
  const stream = Object.assign(new EventTarget(), { ...of, writeBufferLength: bytes })
  const end = (name?: string): void => {
    const error = name === undefined ? undefined : Object.assign(new Error(name), { name })
    stream.dispatchEvent(Object.assign(new Event('close'), { error }))
  }
  return { stream, end }
}

const connectionOf = (peer: string, ...streams: readonly ReturnType<typeof streamOf>[]) =>
  ({
    remotePeer: { toString: () => peer },
    streams: streams.map(({ stream }) => stream),
  }) as unknown as Connection

/** Watches these connections, where strangers may have 100 unread bytes together; c is configured. */
function watching(...connections: readonly Connection[]) {
  const said: string[] = []
  const watch = createUnreadWatch(
    { strangersBacklogBytes: 100 },
    {
      remoteOf: (peer) => ({ key: peer, isConfigured: peer === 'c' }),
      onFault: (peer, fault) => void said.push(`${peer}: ${fault}`),
      disconnect: (peer, reason) => void said.push(`${peer} leaves: ${reason}`),
      connections: () => connections,
    },
  )
  return { watch, said: () => said.splice(0) }
}

const cutOff = (peer: string): string[] => [
  `${peer}: unread gossip`,
  `${peer} leaves: unread gossip`,
]

test('strangers that read least are cut off until the others have no more than they may', () => {
  const [a, b, d] = [
    connectionOf('a', streamOf(50)),
    connectionOf('b', streamOf(60)),
    connectionOf('d', streamOf(51)),
  ]
  const many = watching(a, b, d, connectionOf('c', streamOf(1_000)))
  many.watch()
  assert.deepEqual(many.said(), [...cutOff('b'), ...cutOff('d')])
  const whole = watching(a, connectionOf('e', streamOf(20), streamOf(30)))
  whole.watch()
  assert.deepEqual(whole.said(), [])
  const more = watching(a, connectionOf('e', streamOf(20), streamOf(31)))
  more.watch()
  assert.deepEqual(more.said(), cutOff('a'))
})

test('a peer whose stream ends for what it did not read is cut off once, also a configured one', () => {
  for (const peer of ['a', 'c']) {
    const [unread, other, left] = [streamOf(10), streamOf(10), streamOf(10)]
    const { watch, said } = watching(connectionOf(peer, unread, other, left))
    for (let again = 0; again < 3; again++) watch()
    other.end('StreamResetError')
    left.end()
    assert.deepEqual(said(), [])
    unread.end('StreamBufferError')
    assert.deepEqual(said(), cutOff(peer))
  }
})

test('only what we send by gossip counts', () => {
  const ours = streamOf(1)
  const theirs = streamOf(200, { ...sending, direction: 'inbound' })
  const ping = streamOf(200, { ...sending, protocol: '/ipfs/ping/1.0.0' })
  const connection = connectionOf('a', theirs, ours, ping)
  assert.deepEqual(gossipStreams(connection), [ours.stream])
  const { watch, said } = watching(connection)
  watch()
  assert.deepEqual(said(), [])
})
