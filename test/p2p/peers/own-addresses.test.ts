import assert from 'node:assert/strict'
import { test } from 'node:test'
import { multiaddr } from '@multiformats/multiaddr'
import { createOwnAddresses, expandWildcards } from '../../../src/p2p/peers/own-addresses.ts'

const entry = { netmask: '', mac: '', cidr: null }
const interfaces = {
  eth0: [
    { ...entry, address: '192.0.2.7', family: 'IPv4' as const, internal: false },
    { ...entry, address: '2001:db8::7', family: 'IPv6' as const, internal: false, scopeid: 0 },
    { ...entry, address: 'fe80::7', family: 'IPv6' as const, internal: false, scopeid: 2 },
  ],
  lo: [{ ...entry, address: '127.0.0.1', family: 'IPv4' as const, internal: true }],
}

test('a wildcard becomes one address for each interface, loopback first', () => {
  const list = ['/ip4/0.0.0.0/tcp/9171', '/ip6/::/tcp/9171', '/ip4/192.0.2.9/tcp/1']
  assert.deepEqual(expandWildcards(list, interfaces), [
    '/ip4/127.0.0.1/tcp/9171',
    '/ip4/192.0.2.7/tcp/9171',
    '/ip6/2001:db8::7/tcp/9171',
    '/ip4/192.0.2.9/tcp/1',
  ])
})

test('announced addresses come first and can be replaced at any time', () => {
  const own = createOwnAddresses(['/ip4/127.0.0.1/tcp/9171'], ['/ip4/198.51.100.1/tcp/9171'])
  assert.deepEqual(own.list([]), ['/ip4/198.51.100.1/tcp/9171', '/ip4/127.0.0.1/tcp/9171'])
  own.setAnnounced(['/dns4/peer.test/tcp/30171'])
  assert.deepEqual(own.list([]), ['/dns4/peer.test/tcp/30171', '/ip4/127.0.0.1/tcp/9171'])
  assert.throws(() => own.setAnnounced(['nonsense']), { code: 'P2P_ADDRESS_INVALID' })
  assert.equal(own.list([])[0], '/dns4/peer.test/tcp/30171')
})

test('port 0 is shown as the port that the system chose', () => {
  const own = createOwnAddresses(['/ip4/127.0.0.1/tcp/0'], [])
  const found = [multiaddr('/ip4/127.0.0.1/tcp/41000/p2p-circuit')]
  assert.deepEqual(own.list(found), ['/ip4/127.0.0.1/tcp/41000'])
})

test('each family has the port that the system chose for it, and a chosen port stays as it is', () => {
  const listen = ['/ip4/127.0.0.1/tcp/0', '/ip6/::1/tcp/0', '/ip4/127.0.0.1/tcp/9170']
  const found = ['/ip6/::1/tcp/41006', '/ip4/127.0.0.1/tcp/41004'].map((text) => multiaddr(text))
  assert.deepEqual(createOwnAddresses(listen, []).list(found), [
    '/ip4/127.0.0.1/tcp/41004',
    '/ip6/::1/tcp/41006',
    '/ip4/127.0.0.1/tcp/9170',
  ])
})
