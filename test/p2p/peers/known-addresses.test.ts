import assert from 'node:assert/strict'
import { test } from 'node:test'
import { multiaddr } from '@multiformats/multiaddr'
import { createKnownAddresses } from '../../../src/p2p/peers/known-addresses.ts'

const at = (ip: string): ReturnType<typeof multiaddr> => multiaddr(`/ip4/${ip}/tcp/1`)

test('a configured peer pays for itself, strangers share what their address may use', () => {
  const configured = new Set(['friend'])
  const where = createKnownAddresses((peer) => configured.has(peer), 10)
  for (const peer of ['friend', 'a', 'b']) where.connected(peer, at('10.0.0.1'))
  where.connected('c', at('10.0.0.2'))
  assert.deepEqual(where.remoteOf('friend'), { key: 'friend', isConfigured: true })
  assert.deepEqual(where.remoteOf('a'), { key: '10.0.0.1', isConfigured: false })
  assert.deepEqual(where.strangersAt('10.0.0.1'), ['a', 'b'])
  configured.add('a')
  assert.deepEqual(where.remoteOf('a'), { key: 'a', isConfigured: true })
})

test('the first address counts while the peer is here, and after it has left', () => {
  const where = createKnownAddresses(() => false, 2)
  where.connected('p', at('10.0.0.1'))
  where.connected('p', at('10.0.0.2'))
  assert.equal(where.remoteOf('p').key, '10.0.0.1')
  where.disconnected('p')
  assert.deepEqual([where.isConnected('p'), where.remoteOf('p').key], [false, '10.0.0.1'])
  where.connected('p', at('10.0.0.2'))
  assert.equal(where.remoteOf('p').key, '10.0.0.2')
})

test('a peer that is here again takes no place of one that has left', () => {
  const where = createKnownAddresses(() => false, 2)
  for (const peer of ['a', 'b']) where.connected(peer, at('10.0.0.1'))
  for (const peer of ['a', 'b']) where.disconnected(peer)
  for (const peer of ['b', 'c']) where.connected(peer, at('10.0.0.1'))
  where.disconnected('c')
  assert.equal(where.remoteOf('a').key, '10.0.0.1')
})

test('those that left longest ago are forgotten', () => {
  const where = createKnownAddresses(() => false, 2)
  for (const peer of ['a', 'b', 'c']) {
    where.connected(peer, at('10.0.0.1'))
    where.disconnected(peer)
  }
  assert.deepEqual(
    ['a', 'b', 'c'].map((peer) => where.remoteOf(peer).key),
    ['unknown', '10.0.0.1', '10.0.0.1'],
  )
})
