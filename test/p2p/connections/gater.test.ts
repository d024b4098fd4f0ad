/** Which connections may begin, and which of those whose peer is known may stay. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Connection, MultiaddrConnection, PeerId } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { createGater } from '../../../src/p2p/connections/gater.ts'
import { defaultLimits, type P2pLimits } from '../../../src/p2p/limits/limits.ts'

interface Setup {
  readonly limits?: Partial<P2pLimits>
  readonly configured?: readonly string[]
  readonly banned?: readonly string[]
  readonly bannedAddresses?: readonly string[]
}

const idOf = (peer: string): PeerId => ({ toString: () => peer }) as PeerId

/** A connection from an address, and what was done with it. */
function connectionFrom(address: string) {
  const target = new EventTarget()
  const calls: string[] = []
  const connection = Object.assign(target, {
    remoteAddr: multiaddr(`/ip4/${address}/tcp/1`),
    status: 'open',
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
    abort: ({ message }: Error) => {
      calls.push(message)
      target.dispatchEvent(new Event('close'))
    },
  })
  return { connection: connection as unknown as MultiaddrConnection, calls }
}

function open({ limits = {}, configured = [], banned = [], bannedAddresses = [] }: Setup = {}) {
  const refused: string[] = []
  const gater = createGater(
    { ...defaultLimits, ...limits },
    {
      book: {
        isBanned: (peer) => banned.includes(peer),
        isAddressBanned: (group) => bannedAddresses.includes(group),
        record: () => ({ announced: null, lastAnnouncement: null, verified: false, score: 0 }),
      },
      metrics: {
        refusedConnections: {
          inc: ({ reason }: { readonly reason: string }) => void refused.push(reason),
        } as Parameters<typeof createGater>[1]['metrics']['refusedConnections'],
      },
      isConfigured: (peer) => configured.includes(peer),
    },
  )
  const { denyInboundConnection, denyInboundEncryptedConnection, denyDialPeer } =
    gater.connectionGater
  assert.ok(denyInboundConnection && denyInboundEncryptedConnection && denyDialPeer)
  /** A peer connects from an address and proves who it is; what was done with its connection. */
  const arrive = async (peer: string, address: string): Promise<readonly string[]> => {
    const { connection, calls } = connectionFrom(address)
    if (await denyInboundConnection(connection)) return [...calls, 'denied']
    if (await denyInboundEncryptedConnection(idOf(peer), connection)) calls.push('denied')
    return calls
  }
  return {
    ...{ gater, refused, arrive },
    ...{ denyInboundConnection, denyInboundEncryptedConnection, denyDialPeer },
  }
}

test('a handshake begins with a pause until it is its turn', async () => {
  const { denyInboundConnection } = open({ limits: { handshakesPerSecond: 0.5 } })
  const [first, second] = [connectionFrom('10.0.0.1'), connectionFrom('10.0.0.2')]
  assert.equal(await denyInboundConnection(first.connection), false)
  assert.deepEqual(first.calls, ['pause', 'resume'])
  const denied = denyInboundConnection(second.connection)
  assert.deepEqual(second.calls, ['pause'])
  second.connection.abort(new Error('it leaves'))
  assert.equal(await denied, true)
  assert.deepEqual(second.calls, ['pause', 'it leaves'])
})

test('an address that connects too often is refused without a pause', async () => {
  const { arrive, refused } = open({ limits: { connectionsPerSecond: 0.25 } })
  assert.deepEqual(await arrive('a', '10.0.0.1'), ['pause', 'resume'])
  assert.deepEqual(await arrive('b', '10.0.0.1'), ['denied'])
  assert.deepEqual(await arrive('c', '10.0.0.2'), ['pause', 'resume'])
  assert.deepEqual(refused, ['rate'])
})

test('of too many handshakes of an address the oldest goes', async () => {
  const { denyInboundConnection, refused } = open({ limits: { handshakesPerAddress: 2 } })
  const handshakes = [1, 2, 3].map(() => connectionFrom('10.0.0.1'))
  for (const { connection } of handshakes) await denyInboundConnection(connection)
  assert.deepEqual(
    handshakes.map(({ calls }) => calls.slice(2)),
    [['no place for this connection: handshakes'], [], []],
  )
  assert.deepEqual(refused, ['handshakes'])
})

test('a connection that went before its peer was known is denied', async () => {
  const { denyInboundEncryptedConnection, refused } = open()
  const { connection } = connectionFrom('10.0.0.1')
  assert.equal(await denyInboundEncryptedConnection(idOf('a'), connection), true)
  assert.deepEqual(refused, [])
})

test('banned peers are denied, and strangers at a banned address', async () => {
  const { arrive, refused, denyDialPeer } = open({
    configured: ['known', 'banned and known'],
    banned: ['banned', 'banned and known'],
    bannedAddresses: ['10.0.0.2'],
  })
  assert.ok((await arrive('banned', '10.0.0.1')).includes('denied'))
  assert.ok((await arrive('banned and known', '10.0.0.1')).includes('denied'))
  assert.ok((await arrive('stranger', '10.0.0.2')).includes('denied'))
  assert.deepEqual(refused, ['banned', 'banned', 'banned'])
  assert.deepEqual(await arrive('known', '10.0.0.2'), ['pause', 'resume'])
  assert.deepEqual(await arrive('stranger', '10.0.0.1'), ['pause', 'resume'])
  assert.deepEqual(
    ['banned', 'stranger'].map((peer) => denyDialPeer(idOf(peer))),
    [true, false],
  )
})

test('an address has as many connections as it may, handshakes not counted', async () => {
  const { arrive, denyInboundConnection, refused } = open({ limits: { connectionsPerAddress: 2 } })
  await denyInboundConnection(connectionFrom('10.0.0.1').connection)
  for (const peer of ['a', 'b'])
    assert.deepEqual(await arrive(peer, '10.0.0.1'), ['pause', 'resume'])
  assert.ok((await arrive('c', '10.0.0.1')).includes('denied'))
  assert.deepEqual(refused, ['address'])
})

test('a configured peer takes the place of a stranger', async () => {
  const { arrive, refused } = open({
    limits: { maxConnections: 2, reservedConnections: 1 },
    configured: ['first', 'second'],
  })
  const stranger = await arrive('stranger', '10.0.0.1')
  const first = await arrive('first', '10.0.0.2')
  assert.deepEqual(stranger, ['pause', 'resume'])
  assert.deepEqual(await arrive('second', '10.0.0.3'), ['pause', 'resume'])
  assert.deepEqual(stranger, ['pause', 'resume', 'no place for this connection: evicted'])
  assert.deepEqual([first, refused], [['pause', 'resume'], ['evicted']])
})

test('what we dialled counts as well, and ends where there is no place', async () => {
  const { gater, arrive } = open({ limits: { connectionsPerAddress: 1 } })
  const opened = (peer: string, direction: Connection['direction'], address: string): string[] => {
    const { connection, calls } = connectionFrom(address)
    const complete = Object.assign(connection, { direction, remotePeer: idOf(peer) })
    gater.opened(complete as unknown as Connection)
    return calls
  }
  assert.deepEqual(opened('a', 'inbound', '10.0.0.1'), [])
  assert.deepEqual(opened('a', 'outbound', '10.0.0.1'), [])
  assert.deepEqual(opened('b', 'outbound', '10.0.0.1'), ['no place'])
  assert.deepEqual(opened('c', 'inbound', '10.0.0.1'), [])
  assert.ok((await arrive('d', '10.0.0.1')).includes('denied'))
})
