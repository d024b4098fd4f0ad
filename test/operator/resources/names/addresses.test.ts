import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Generator, Host } from '../../../../operator/api.ts'
import {
  externalAddresses,
  givenAddresses,
  hasIP,
  isPrivate,
  peerAddress,
  peerAddressesOf,
  portOfMultiaddr,
  portOfUrl,
  schemaOrigin,
  serviceOrigin,
  siblingAddresses,
} from '../../../../operator/resources/names/addresses.ts'
import { peerID, readGenerator, readHost } from '../../../support/resources/operator-cases.ts'

const domain = 'cluster.local'
const generator = readGenerator('generator-minimal')
const host = readHost('host-minimal')

function withReplicas(replicas: number): Host {
  return { ...host, spec: { ...host.spec, replicas } }
}

test('addresses within the cluster need no search domains', () => {
  assert.equal(
    peerAddress(generator, peerID, domain),
    `/dns4/mainnet-generator-nodes.validators.svc.cluster.local/tcp/9171/p2p/${peerID}`,
  )
  assert.equal(
    schemaOrigin({ name: 'mainnet', namespace: 'apps' }, domain),
    'http://mainnet-generator.apps.svc.cluster.local:8080',
  )
  assert.equal(
    serviceOrigin(host, 9182, 'example.org'),
    'http://mainnet-host.apps.svc.example.org:9182',
  )
})

test('the port of a URL is the one in it, else that of its scheme', () => {
  const ports = {
    'http://geth:8545': 8545,
    'http://geth/path': 80,
    'https://geth': 443,
    'ws://geth': 80,
    'wss://geth/?key=a:1': 443,
    'https://geth:80': 80,
    'ftp://geth': undefined,
    'no url': undefined,
  }
  for (const [url, port] of Object.entries(ports)) assert.equal(portOfUrl(url), port, url)
})

test('the port of a multiaddr is its TCP port', () => {
  assert.equal(portOfMultiaddr('/ip4/192.0.2.1/tcp/9171/p2p/x'), 9171)
  assert.equal(portOfMultiaddr('/dns4/gen.example.org/tcp/1'), 1)
  assert.equal(portOfMultiaddr('/ip4/192.0.2.1/udp/9171'), undefined)
})

test('an address has an IP where it begins with one', () => {
  for (const address of ['/ip4/192.0.2.1/tcp/1', '/ip6/2001:db8::1/tcp/1'])
    assert.ok(hasIP(address), address)
  for (const address of ['/dns4/a/tcp/1', '/dns/ip4/tcp/1', 'x/ip4/192.0.2.1/tcp/1'])
    assert.ok(!hasIP(address), address)
})

test('addresses of private networks are known by the bounds of their ranges', () => {
  const inside = [
    ...['10.0.0.0', '10.255.255.255', '192.168.0.1', '172.16.0.0', '172.19.0.1', '172.20.0.1'],
    ...['172.29.0.1', '172.30.0.1', '172.31.255.255', '100.64.0.0', '100.69.0.1', '100.70.0.1'],
    ...['100.99.0.1', '100.100.0.1', '100.119.0.1', '100.120.0.1', '100.127.255.255'],
    ...['169.254.0.1', '127.0.0.1'],
  ]
  const outside = [
    ...['9.255.255.255', '11.0.0.0', '100.0.0.1', '192.167.0.1', '192.169.0.1', '172.15.0.1'],
    ...['172.32.0.0', '172.1.0.1', '100.63.255.255', '100.128.0.0', '100.6.0.1', '169.253.0.1'],
    ...['128.0.0.1', '1.10.0.1'],
  ]
  const inside6 = ['fc00::1', 'fdff::1', 'FD00::1', 'fe80::1', 'fe9f::1', 'febf::1', '::1']
  const outside6 = ['fb00::1', 'fe7f::1', 'fec0::1', 'ff02::1', '2001:db8::1', '::2', '::1:2']
  const addresses = (version: number, ips: readonly string[]): string[] =>
    ips.map((ip) => `/ip${version}/${ip}/tcp/9171`)
  for (const address of [...addresses(4, inside), ...addresses(6, inside6)])
    assert.ok(isPrivate(address), address)
  for (const address of [...addresses(4, outside), ...addresses(6, outside6)])
    assert.ok(!isPrivate(address), address)
  assert.ok(!isPrivate('/dns4/10.example.org/tcp/1'))
})

test('external addresses are those of the spec before discovered ones, each once', () => {
  const announce = [['/ip4/192.0.2.1/tcp/1', '/ip4/192.0.2.2/tcp/1']]
  const { services } = host.spec
  const given: Host = {
    ...host,
    spec: { ...host.spec, services: { ...services, p2p: { ...services.p2p, announce } } },
  }
  const discovered = [['/ip4/192.0.2.3/tcp/1', '/ip4/192.0.2.1/tcp/1'], ['/ip4/192.0.2.4/tcp/1']]
  assert.deepEqual(externalAddresses(given, 0, discovered), [
    '/ip4/192.0.2.1/tcp/1',
    '/ip4/192.0.2.2/tcp/1',
    '/ip4/192.0.2.3/tcp/1',
  ])
  assert.deepEqual(externalAddresses(given, 1, discovered), ['/ip4/192.0.2.4/tcp/1'])
  assert.deepEqual(externalAddresses(given, 2, discovered), [])
  const { p2p } = generator.spec
  const [first = []] = announce
  const one: Generator = {
    ...generator,
    spec: { ...generator.spec, p2p: { ...p2p, announce: first } },
  }
  assert.deepEqual([givenAddresses(one, 0), givenAddresses(one, 1)], [first, []])
  assert.deepEqual(givenAddresses(host, 0), [])
})

test('peers reach a replica from outside first, and not before its peer ID is known', () => {
  const external = ['/ip4/192.0.2.1/tcp/1', '/ip4/192.0.2.1/tcp/1']
  const facts = { ordinal: 1, peerID, external, clusterDomain: domain }
  assert.deepEqual(peerAddressesOf(host, facts), [
    `/ip4/192.0.2.1/tcp/1/p2p/${peerID}`,
    `/dns4/mainnet-host-1.mainnet-host-nodes.apps.svc.cluster.local/tcp/9171/p2p/${peerID}`,
  ])
  assert.deepEqual(peerAddressesOf(host, { ...facts, peerID: null }), [])
})

test('replicas know of each other where there are two, and both are known', () => {
  const ids = new Map([
    [0, 'a'],
    [2, 'c'],
    [3, 'd'],
  ])
  const sibling = (ordinal: number, id: string): string =>
    `/dns4/mainnet-host-${ordinal}.mainnet-host-nodes.apps.svc.cluster.local/tcp/9171/p2p/${id}`
  assert.deepEqual(siblingAddresses(withReplicas(1), ids, domain), [])
  assert.deepEqual(siblingAddresses(withReplicas(2), ids, domain), [sibling(0, 'a')])
  assert.deepEqual(siblingAddresses(withReplicas(3), ids, domain), [
    sibling(0, 'a'),
    sibling(2, 'c'),
  ])
})
