import assert from 'node:assert/strict'
import { test } from 'node:test'
import { multiaddr } from '@multiformats/multiaddr'
import { createConnectionTable } from '../../../src/p2p/connections/connection-table.ts'

type Table = ReturnType<typeof createConnectionTable>
type Connection = Parameters<Table['add']>[0]

/** A connection from an address that notes whether it was ended. */
function connectionFrom(
  address: string,
  status: Connection['status'] = 'open',
): { connection: Connection; ended: () => string | null; end(): void } {
  let reason: string | null = null
  const target = new EventTarget()
  const connection: Connection = {
    remoteAddr: multiaddr(`/ip4/${address}/tcp/1`),
    status,
    abort: ({ message }) => {
      reason = message
    },
    addEventListener: (type, listener) => target.addEventListener(type, listener),
  }
  return { connection, ended: () => reason, end: () => target.dispatchEvent(new Event('close')) }
}

/** A table with a handshake of each of these addresses; `ended` says which had to go. */
function openTable(addresses: readonly string[]): {
  table: Table
  ended(): number[]
  reasons: string[]
} {
  const reasons: string[] = []
  const limits = { handshakesPerAddress: 2, handshakesTotal: 5 }
  const table = createConnectionTable(limits, (reason) => reasons.push(reason))
  const connections = addresses.map((address) => connectionFrom(address))
  for (const { connection } of connections) table.add(connection)
  const ended = (): number[] =>
    connections.flatMap((each, index) => (each.ended() === null ? [] : [index]))
  return { table, ended, reasons }
}

test('an address with as many handshakes as it may have loses its oldest for one more', () => {
  const { table, ended, reasons } = openTable(['10.0.0.1', '10.0.0.2', '10.0.0.2'])
  table.makeRoom('10.0.0.1')
  assert.deepEqual(ended(), [])
  table.makeRoom('10.0.0.2')
  assert.deepEqual(ended(), [1])
  assert.deepEqual(reasons, ['handshakes'])
  table.makeRoom('10.0.0.2')
  assert.deepEqual(ended(), [1], 'it has room now')
})

test('in a table full of handshakes the address with the most of them loses its oldest', () => {
  const crowded = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.3']
  const { table, ended } = openTable(crowded)
  table.makeRoom('10.0.0.4')
  assert.deepEqual(ended(), [])
  const full = openTable([...crowded, '10.0.0.4'])
  full.table.makeRoom('10.0.0.5')
  assert.deepEqual(full.ended(), [2])
  full.table.makeRoom('10.0.0.5')
  assert.deepEqual(full.ended(), [2])
})

test('an address that gives way itself takes no place of another', () => {
  const { table, ended } = openTable(['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.3', '10.0.0.3'])
  table.makeRoom('10.0.0.3')
  assert.deepEqual(ended(), [2])
})

test('a connection whose peer is proven is no handshake any more', () => {
  const { table, ended } = openTable(['10.0.0.1', '10.0.0.1'])
  for (const tracked of table.all()) tracked.peer = 'p'
  table.makeRoom('10.0.0.1')
  assert.deepEqual(ended(), [])
})

test('a connection is listed from when it is added until it closes, on either side', () => {
  const { table } = openTable([])
  const [first, second, closed] = [
    connectionFrom('10.0.0.1'),
    connectionFrom('10.0.0.2'),
    connectionFrom('10.0.0.3', 'closed'),
  ]
  const tracked = [first, second, closed].map(({ connection }) => table.add(connection))
  assert.deepEqual(
    tracked.map(({ group, peer }) => [group, peer]),
    ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map((group) => [group, null]),
  )
  assert.deepEqual(table.all(), tracked.slice(0, 2))
  assert.equal(table.get(first.connection), tracked[0])
  first.end()
  assert.equal(table.get(first.connection), undefined)
  tracked[1]?.close('evicted')
  assert.equal(second.ended(), 'no place for this connection: evicted')
  assert.deepEqual(table.all(), [])
})
