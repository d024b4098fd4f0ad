/** When a stream to a peer is opened, and on which of its connections. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Connection, Stream } from '@libp2p/interface'
import { createOutbound } from '../../../src/p2p/gossip/outbound.ts'
import { clockOf } from '../../app/support/test-clock.ts'

type Registrar = Parameters<ReturnType<typeof createOutbound>['register']>[0]
type Topology = Parameters<Registrar['register']>[1]

const protocol = '/meshsub/1.2.0'
const timeoutMs = 1_000

/** Lets everything go on that waits for nothing. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A connection of a peer; each stream that is asked for on it waits until the test opens it or does not. */
function connectionOf(peer: string) {
  const asked: PromiseWithResolvers<Stream>[] = []
  const state = { status: 'open', streams: [] as Stream[] }
  const protocols: (readonly string[])[] = []
  const id = { toString: () => peer, equals: (other: unknown) => String(other) === peer }
  const connection = {
    remotePeer: id,
    get status() {
      return state.status
    },
    get streams() {
      return state.streams
    },
    newStream: (wanted: readonly string[]) => {
      protocols.push([...wanted])
      const stream = Promise.withResolvers<Stream>()
      asked.push(stream)
      return stream.promise
    },
  }
  return {
    connection: connection as unknown as Connection,
    state,
    protocols,
    asked: () => asked.length,
    /** The stream that was asked for last is open, and returned; it ends by `close`. */
    opens: async (): Promise<{ stream: Stream; close(): void }> => {
      const target = new EventTarget()
      const stream = Object.assign(target, {
        ...{ direction: 'outbound', protocol },
      }) as unknown as Stream
      state.streams = [stream]
      asked.at(-1)?.resolve(stream)
      await settled()
      const close = (): void => {
        state.streams = []
        target.dispatchEvent(new Event('close'))
      }
      return { stream, close }
    },
    fails: async (): Promise<void> => {
      asked.at(-1)?.reject(new Error('no stream'))
      await settled()
    },
  }
}

/** Peers with these connections, and those that gossipsub got to know. */
function open(t: TestContext, ...open: readonly ReturnType<typeof connectionOf>[]) {
  const { pass } = clockOf(t)
  const connections = open.map(({ connection }) => connection)
  const outbound = createOutbound({ timeoutMs, connections: () => connections })
  const introduced: Connection[] = []
  let inner: Topology | undefined
  const registrar = outbound.register({
    register: async (_: string, topology: Topology) => {
      inner = topology
      return 'an ID'
    },
  } as Registrar)
  const registered = registrar.register(protocol, {
    onConnect: (_, connection) => void introduced.push(connection),
  })
  return {
    ...{ outbound, introduced, pass, registered },
    /** What libp2p says when a peer speaks the protocol. */
    connects: (connection: Connection) => inner?.onConnect?.(connection.remotePeer, connection),
  }
}

test('gossipsub hears of a peer once there is a stream to it, and gets that stream', async (t) => {
  const peer = connectionOf('a')
  const { connects, introduced, registered } = open(t, peer)
  assert.equal(await registered, 'an ID')
  connects(peer.connection)
  assert.deepEqual([peer.protocols, introduced], [[[protocol]], []])
  const { stream } = await peer.opens()
  const [connection = assert.fail()] = introduced
  assert.equal(connection.remotePeer, peer.connection.remotePeer)
  assert.equal(await connection.newStream([protocol]), stream)
})

test('a peer with a stream, or to which one is being opened, gets no other', async (t) => {
  const [first, second] = [connectionOf('a'), connectionOf('a')]
  const other = connectionOf('b')
  const { outbound } = open(t, first, second, other)
  for (const { connection } of [first, second, other]) outbound.open(connection)
  assert.deepEqual(
    [first, second, other].map((each) => each.asked()),
    [1, 0, 1],
  )
  await first.opens()
  for (const { connection } of [first, second]) outbound.open(connection)
  assert.deepEqual(
    [first, second].map((each) => each.asked()),
    [1, 0],
  )
})

test('a stream is tried again on the same connection after twice the time that one may take', async (t) => {
  const peer = connectionOf('a')
  const { outbound, pass } = open(t, peer)
  outbound.open(peer.connection)
  await peer.fails()
  pass(2 * timeoutMs - 1)
  outbound.renew()
  assert.equal(peer.asked(), 1)
  pass(1)
  outbound.renew()
  assert.equal(peer.asked(), 2)
})

test('where a stream cannot be opened, or ends, one is opened on another connection of the peer', async (t) => {
  const [first, second, third] = [connectionOf('a'), connectionOf('a'), connectionOf('a')]
  const other = connectionOf('b')
  const { outbound, introduced } = open(t, first, second, third, other)
  outbound.open(first.connection)
  await first.fails()
  assert.deepEqual([second.asked(), third.asked(), other.asked()], [1, 0, 0])
  const { close } = await second.opens()
  assert.equal(introduced.length, 1)
  close()
  assert.deepEqual([first.asked(), third.asked(), other.asked()], [1, 1, 0])
})

test('a stream that ends late gives way to one on another connection, not on its own', async (t) => {
  const [first, second] = [connectionOf('a'), connectionOf('a')]
  const { outbound, pass } = open(t, first, second)
  outbound.open(first.connection)
  const { close } = await first.opens()
  pass(2 * timeoutMs)
  close()
  assert.deepEqual([first.asked(), second.asked()], [1, 1])
})

test('only peers that gossip get another stream, and only on open connections', async (t) => {
  const [gossiping, silent] = [connectionOf('a'), connectionOf('b')]
  const { outbound, pass } = open(t, gossiping, silent)
  gossiping.state.status = 'closing'
  outbound.open(gossiping.connection)
  outbound.renew()
  assert.deepEqual([gossiping.asked(), silent.asked()], [0, 0])
  gossiping.state.status = 'open'
  outbound.renew()
  assert.deepEqual([gossiping.asked(), silent.asked()], [1, 0])
  const { close } = await gossiping.opens()
  close()
  pass(2 * timeoutMs)
  outbound.renew()
  assert.deepEqual([gossiping.asked(), silent.asked()], [2, 0])
})

test('gossipsub itself opens no stream', async (t) => {
  const peer = connectionOf('a')
  const { outbound } = open(t, peer)
  const connection = outbound.silent(peer.connection)
  await assert.rejects(connection.newStream([protocol]), {
    message: 'its stream is opened elsewhere',
  })
  assert.equal(peer.asked(), 0)
})
