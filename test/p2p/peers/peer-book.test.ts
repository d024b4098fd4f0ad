import assert from 'node:assert/strict'
import { test } from 'node:test'
import { multiaddr } from '@multiformats/multiaddr'
import { Registry } from 'prom-client'
import type { Fault } from '../../../src/p2p/limits/fault.ts'
import { defaultLimits } from '../../../src/p2p/limits/limits.ts'
import { createP2pMetrics } from '../../../src/p2p/limits/metrics.ts'
import { createKnownAddresses } from '../../../src/p2p/peers/known-addresses.ts'
import { createPeerBook, type PeerBook } from '../../../src/p2p/peers/peer-book.ts'
import { clockOf } from '../../app/support/test-clock.ts'
import { type CapturedLog, captureLog } from '../../support/captured-log.ts'
import { metricValue } from '../../support/metric-value.ts'

const address = '10.0.0.1'
const never = (): number => 0

/** A book in which `friend` is configured; strangers arrive from one address. */
function openBook(): {
  book: PeerBook
  captured: CapturedLog
  cutOff: string[]
  metric(name: string): Promise<number>
} {
  const captured = captureLog()
  const registry = new Registry()
  const cutOff: string[] = []
  const book = createPeerBook(defaultLimits, {
    log: captured.log,
    metrics: createP2pMetrics(registry, {
      peers: never,
      activeStreams: never,
      banned: never,
      bannedAddresses: never,
    }),
    knownAddresses: createKnownAddresses((peer) => peer === 'friend', 100),
    disconnect: (peer) => cutOff.push(peer),
  })
  return { book, captured, cutOff, metric: (name) => metricValue(registry, name) }
}

/** A fault of each of so many strangers that nobody has seen before. */
function offences(book: PeerBook, count: number, fault: Fault): void {
  for (let offence = 0; offence < count; offence += 1) {
    book.arrived(`${fault} ${offence}`, multiaddr(`/ip4/${address}/tcp/1`))
    book.fault(`${fault} ${offence}`, fault, 'a test')
  }
}

test('an address answers for what its strangers do, together', () => {
  const { book, captured, cutOff } = openBook()
  offences(book, 11, 'malformed message')
  assert.equal(book.isAddressBanned(address), false)
  assert.deepEqual([cutOff, book.addressBans()], [[], 0])
  book.arrived('neighbour', multiaddr('/ip4/10.0.0.2/tcp/1'))
  offences(book, 1, 'protocol violation')
  assert.equal(book.isAddressBanned(address), true)
  assert.equal(cutOff.length, 12)
  assert(!cutOff.includes('neighbour'))
  assert.deepEqual([book.bans(), book.addressBans()], [0, 1])
  offences(book, 2, 'reported')
  assert.equal(cutOff.length, 12, 'while it is banned, there is nothing to count')
  const said = captured.messages('warn').filter((text) => text !== 'peer fault')
  assert.deepEqual(said, ['strangers from an address are banned'])
})

test('an address does not answer for what may happen to an honest peer on a bad line', () => {
  const { book } = openBook()
  offences(book, 100, 'unread gossip')
  offences(book, 100, 'stalled reader')
  offences(book, 100, 'stalled writer')
  assert.equal(book.isAddressBanned(address), false)
})

test('an address does not answer for a configured peer, which answers for itself', (t) => {
  const { pass } = clockOf(t)
  const { book, cutOff } = openBook()
  for (let ban = 0; ban < 6; ban += 1) {
    pass(defaultLimits.banMs)
    book.arrived('friend', multiaddr(`/ip4/${address}/tcp/1`))
    while (!book.isBanned('friend')) book.fault('friend', 'malformed message', 'a test')
  }
  assert.deepEqual([book.isAddressBanned(address), book.addressBans()], [false, 0])
  assert.deepEqual(cutOff, Array(6).fill('friend'))
})

test('an address that was banned answers for nothing that was done meanwhile', (t) => {
  const { pass } = clockOf(t)
  const { book } = openBook()
  offences(book, 12, 'reported')
  offences(book, 12, 'malformed message')
  pass(defaultLimits.banMs)
  offences(book, 6, 'rejected message')
  assert.equal(book.isAddressBanned(address), false)
  offences(book, 1, 'malformed frame')
  assert.equal(book.isAddressBanned(address), true)
})

test('a fault that is found when its stranger has left counts all the same', () => {
  const { book } = openBook()
  for (let offence = 0; offence < 12; offence += 1) {
    book.arrived(`p${offence}`, multiaddr(`/ip4/${address}/tcp/1`))
    book.disconnected(`p${offence}`)
    book.verdict(`p${offence}`, { action: 'reject', reason: 'found out late' })
  }
  assert.equal(book.isAddressBanned(address), true)
})

test('a banned peer is cut off once, and neither trusted nor blamed any more', async () => {
  const { book, captured, cutOff, metric } = openBook()
  book.arrived('p', multiaddr(`/ip4/${address}/tcp/1`))
  book.verdict('p', { action: 'accept', height: 5 })
  assert.deepEqual([book.record('p').verified, book.highestAnnounced()], [true, 5])
  for (let fault = 0; fault < 6; fault += 1) book.fault('p', 'oversize message', 'a test')
  assert.deepEqual(cutOff, ['p'])
  assert.deepEqual([book.isBanned('p'), book.bans()], [true, 1])
  assert.deepEqual(book.record('p'), {
    announced: null,
    lastAnnouncement: null,
    verified: false,
    score: -50,
  })
  assert.equal(book.highestAnnounced(), null)
  assert.deepEqual(
    [await metric('viewmesh_p2p_faults_total'), await metric('viewmesh_p2p_bans_total')],
    [2, 1],
  )
  assert.deepEqual(captured.messages('warn'), [
    'peer fault',
    'peer fault',
    'peer disconnected and banned',
  ])
})

test('what is accepted mends a score, what is ignored leaves it as it is', () => {
  const { book, captured } = openBook()
  book.fault('p', 'reported', 'a test')
  book.verdict('p', { action: 'accept' })
  book.verdict('p', { action: 'ignore', reason: 'an old one' })
  assert.equal(book.record('p').score, -24)
  assert.equal(captured.lines.at(-1)?.['reason'], 'an old one')
  assert.deepEqual(captured.messages('debug'), ['message ignored'])
})

test('a listener that fails is logged, and keeps nobody else from hearing', () => {
  const { book, captured } = openBook()
  const heard: string[] = []
  book.onPeer(() => {
    throw new Error('a listener that fails')
  })
  book.onPeer(({ peer }) => heard.push(peer))
  book.arrived('p', multiaddr(`/ip4/${address}/tcp/1`))
  book.connected('p')
  assert.deepEqual(heard, ['p'])
  assert.deepEqual(captured.messages('error'), ['a listener to peers failed'])
})

test('listeners hear of a peer’s first connection and its last, until they have heard enough', () => {
  const { book, captured } = openBook()
  const heard: unknown[] = []
  const stop = book.onPeer((event) => heard.push(event))
  const come = (): void => {
    book.arrived('p', multiaddr(`/ip4/${address}/tcp/1`))
    book.connected('p')
  }
  come()
  come()
  assert.deepEqual(book.serving(), ['p'])
  book.status('p', { tail: 1, head: 2 })
  book.disconnected('p')
  book.disconnected('p')
  assert.deepEqual(book.serving(), [])
  assert.deepEqual(heard, [
    { type: 'connected', peer: 'p', announced: null },
    { type: 'announced', peer: 'p', announced: { tail: 1, head: 2 } },
    { type: 'disconnected', peer: 'p', announced: null },
  ])
  assert.deepEqual(captured.messages('info'), ['peer connected', 'peer disconnected'])
  stop()
  come()
  assert.equal(heard.length, 3)
})

test('a peer that has left by the time its protocols are known does not count as connected', () => {
  const { book, captured } = openBook()
  book.arrived('p', multiaddr(`/ip4/${address}/tcp/1`))
  book.disconnected('p')
  book.connected('p')
  book.status('p', { tail: 0, head: 1 })
  assert.deepEqual(book.serving(), [])
  assert.equal(book.record('p').announced, null)
  assert.deepEqual(captured.messages('info'), [])
})

test('listeners hear of a peer whose heights change by what it says or by an accepted block', () => {
  const { book } = openBook()
  const heard: string[] = []
  book.onPeer(({ type }) => heard.push(type))
  book.arrived('p', multiaddr(`/ip4/${address}/tcp/1`))
  book.connected('p')
  const changes = [
    () => book.status('p', { tail: 1, head: 5 }),
    () => book.status('p', { tail: 1, head: 5 }),
    () => book.verdict('p', { action: 'accept', height: 5 }),
    () => book.verdict('p', { action: 'accept', height: 6 }),
    () => book.verdict('p', { action: 'accept', height: 0 }),
  ]
  const counts = changes.map((change) => {
    change()
    return heard.length
  })
  assert.deepEqual(counts, [2, 2, 2, 3, 4])
  assert.deepEqual(new Set(heard), new Set(['connected', 'announced']))
  assert.deepEqual(book.record('p').announced, { tail: 0, head: 6 })
})
