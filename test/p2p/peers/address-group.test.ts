import assert from 'node:assert/strict'
import { test } from 'node:test'
import { multiaddr } from '@multiformats/multiaddr'
import fc from 'fast-check'
import { addressGroup } from '../../../src/p2p/peers/address-group.ts'

const groupOf = (text: string): string => addressGroup(multiaddr(text))

test('an IPv4 address is a group of its own, also where it is mapped into IPv6', () => {
  assert.equal(groupOf('/ip4/198.51.100.7/tcp/9171'), '198.51.100.7')
  assert.equal(groupOf('/ip6/::ffff:198.51.100.7/tcp/9171'), '198.51.100.7')
  assert.equal(groupOf('/ip6/::ffff:c633:6407/tcp/1'), '198.51.100.7')
})

test('the 2^64 addresses of an IPv6 network are one group', () => {
  assert.equal(groupOf('/ip6/2001:db8:0:1::/tcp/1'), '2001:db8:0:1::/64')
  assert.equal(groupOf('/ip6/2001:db8:0:1:ffff:1:2:3/tcp/2'), '2001:db8:0:1::/64')
  assert.notEqual(groupOf('/ip6/2001:db8:0:2::1/tcp/1'), groupOf('/ip6/2001:db8:0:1::1/tcp/1'))
  assert.equal(groupOf('/ip6/::1/tcp/1'), '0:0:0:0::/64')
  assert.equal(groupOf('/ip6zone/eth0/ip6/fe80::1/tcp/1'), 'fe80:0:0:0::/64')
})

test('only the network of mapped addresses is read as IPv4', () => {
  assert.equal(groupOf('/ip6/::fffe:c633:6407/tcp/1'), '0:0:0:0::/64')
  assert.equal(groupOf('/ip6/1::ffff:c633:6407/tcp/1'), '1:0:0:0::/64')
  assert.equal(groupOf('/ip6/::1:ffff:c633:6407/tcp/1'), '0:0:0:0::/64')
})

test('what is no IP address is a group as well', () => {
  assert.equal(groupOf('/dns4/peer.test/tcp/1'), 'peer.test')
})

test('all ways to write an IPv6 address give one group', () => {
  fc.assert(
    fc.property(fc.ipV6(), (text) => {
      const parsed = groupOf(`/ip6/${text}/tcp/1`)
      const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1)
      assert.equal(groupOf(`/ip6/${canonical}/tcp/1`), parsed)
    }),
  )
})
