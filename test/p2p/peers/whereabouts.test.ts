import assert from 'node:assert/strict'
import { test } from 'node:test'
import { multiaddr } from '@multiformats/multiaddr'
import { createWhereabouts } from '../../../src/p2p/peers/whereabouts.ts'

const at = (ip: string): ReturnType<typeof multiaddr> => multiaddr(`/ip4/${ip}/tcp/1`)

test('a configured peer pays for itself, strangers share what their address may use', () => {
  const configured = new Set(['friend'])
  const where = createWhereabouts((peer) => configured.has(peer), 10)
  for (const peer of ['friend', 'a', 'b']) where.arrived(peer, at('10.0.0.1'))
  assert.deepEqual(where.partyOf('friend'), { key: 'friend', isConfigured: true })
  assert.deepEqual(where.partyOf('a'), { key: '10.0.0.1', isConfigured: false })
  assert.deepEqual(where.strangersAt('10.0.0.1'), ['a', 'b'])
  configured.add('a')
  assert.deepEqual(where.partyOf('a'), { key: 'a', isConfigured: true })
})

test('the first address counts while the peer is here, and after it has left', () => {
  const where = createWhereabouts(() => false, 2)
  where.arrived('p', at('10.0.0.1'))
  where.arrived('p', at('10.0.0.2'))
  assert.equal(where.partyOf('p').key, '10.0.0.1')
  where.left('p')
  assert.deepEqual([where.isHere('p'), where.partyOf('p').key], [false, '10.0.0.1'])
  where.arrived('p', at('10.0.0.2'))
  assert.equal(where.partyOf('p').key, '10.0.0.2')
})

test('those who left longest ago are forgotten', () => {
  const where = createWhereabouts(() => false, 2)
  for (const peer of ['a', 'b', 'c']) {
    where.arrived(peer, at('10.0.0.1'))
    where.left(peer)
  }
  assert.deepEqual(
    ['a', 'b', 'c'].map((peer) => where.partyOf(peer).key),
    ['unknown', '10.0.0.1', '10.0.0.1'],
  )
})
