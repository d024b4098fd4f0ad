/** Addresses that nobody else can dial are known as such: a registration is for good. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bestAddress, reachOf } from '../../../src/service/health/address-reach.ts'

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
    '/ip0/host/tcp/9171',
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

/** First and last addresses of networks, and those beside them. */
const edges = {
  nobody: [
    '0.0.0.0',
    '0.255.255.255',
    '127.0.0.0',
    '127.255.255.255',
    '169.254.0.0',
    '169.254.255.255',
    '224.0.0.0',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::',
    'febf::1',
    'ff00::',
    'ffff::1',
  ],
  private: [
    '10.0.0.0',
    '10.255.255.255',
    '172.16.0.0',
    '172.31.255.255',
    '192.168.0.0',
    '192.168.255.255',
    '100.64.0.0',
    '100.127.255.255',
    'fc00::',
    'fdff::1',
  ],
  public: [
    '1.0.0.0',
    '9.255.255.255',
    '11.0.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '169.253.255.255',
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '223.255.255.255',
    '::2',
    'fbff::1',
    'fe7f::1',
    'fec0::1',
  ],
} as const

for (const [reach, of] of Object.entries(edges))
  test(`networks that reach ${reach} have these edges`, () => {
    for (const address of of) {
      const kind = address.includes(':') ? 'ip6' : 'ip4'
      assert.equal(reachOf(`/${kind}/${address}/tcp/9171`), reach, address)
      assert.equal(reachOf(`/${kind}/${address}`), reach, address)
    }
  })

test('names are known by how they end', () => {
  const names = {
    localhost: 'nobody',
    'a.localhost': 'nobody',
    mylocalhost: 'private',
    'localhost.example': 'public',
    'node.local': 'private',
    'node.INTERNAL.': 'private',
    'node.local.example': 'public',
    'node.mylocal': 'public',
  }
  for (const [name, reach] of Object.entries(names))
    for (const kind of ['dns', 'dns4', 'dns6', 'dnsaddr'])
      assert.equal(reachOf(`/${kind}/${name}/tcp/1`), reach, name)
  assert.equal(reachOf('/dns5/node.example.org/tcp/1'), 'nobody')
  assert.equal(reachOf('/xdns/node.example.org/tcp/1'), 'nobody')
  assert.equal(reachOf('/ip6/10.0.0.2/tcp/1'), 'nobody')
})

test('the address for others is the first public one, else the first private one', () => {
  const [own, first, second, outer, other] = [
    '/ip4/127.0.0.1/tcp/1',
    '/ip4/10.0.0.2/tcp/1',
    '/ip4/10.0.0.1/tcp/1',
    '/ip4/203.0.113.7/tcp/1',
    '/ip4/203.0.113.6/tcp/1',
  ]
  assert.equal(bestAddress([own, first, outer, other, second]), outer)
  assert.equal(bestAddress([own, first, second]), first)
  assert.equal(bestAddress([own]), undefined)
})
