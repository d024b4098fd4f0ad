/** Addresses that nobody else can dial are known as such: a registration is for good. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reachOf } from '../../../src/service/health/address-reach.ts'

const addresses = {
  nobody: [
    '/ip4/127.0.0.1/tcp/9171',
    '/ip4/127.8.0.1/tcp/9171/p2p/Peer',
    '/ip4/0.0.0.0/tcp/9171',
    '/ip4/169.254.1.1/tcp/9171',
    '/ip4/224.0.0.1/tcp/9171',
    '/ip6/::/tcp/9171',
    '/ip6/::1/tcp/9171',
    '/ip6/0:0:0:0:0:0:0:1/tcp/9171',
    '/ip6/fe80::1/tcp/9171',
    '/ip6/::ffff:127.0.0.1/tcp/9171',
    '/ip6zone/eth0/ip6/fe80::1/tcp/9171',
    '/dns4/localhost/tcp/9171',
    '/dns/LOCALHOST./tcp/9171',
    '/ip4/300.0.0.1/tcp/9171',
    '/ip4/::1/tcp/9171',
    '',
    'nonsense',
  ],
  private: [
    '/ip4/10.0.0.2/tcp/9171',
    '/ip4/172.31.0.1/tcp/9171',
    '/ip4/192.168.1.1/tcp/9171',
    '/ip4/100.64.0.1/tcp/9171',
    '/ip6/fd00::7/tcp/9171',
    '/ip6/::ffff:10.0.0.2/tcp/9171',
    '/dns4/host-0/tcp/9171',
    '/dns4/host-0.hosts.default.svc.cluster.local/tcp/9171',
  ],
  public: [
    '/ip4/203.0.113.7/tcp/9171/p2p/Peer',
    '/ip4/172.32.0.1/tcp/9171',
    '/ip6/2001:db8::7/tcp/9171',
    '/dns4/node.example.org/tcp/9171',
    '/dnsaddr/node.example.org',
  ],
} as const

for (const [reach, of] of Object.entries(addresses))
  test(`addresses that reach ${reach} are known by their text`, () => {
    for (const address of of) assert.equal(reachOf(address), reach, address)
  })
