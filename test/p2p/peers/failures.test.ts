/** What lasts about bootstrap peers, as it is reported to an operator. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { networkServed } from '../../../src/p2p/peers/networks.ts'
import { openRoom, until } from '../../support/p2p-room.ts'
import { openRawPeer } from '../../support/raw-peer.ts'

const nobody = '12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5'

test('a peer that cannot be reached is reported once that lasts, and no more when it comes', async (t) => {
  const peerSeed = randomBytes(32)
  const probe = await openRoom(t, { options: { peerSeed } })
  const listen = probe.p2p.self().addresses
  await probe.p2p.close()
  const options = { bootstrapPeers: [probe.address] }
  const host = await openRoom(t, { options, limits: { lastingMs: 300 } })
  await host.captured.line('all dials failed')
  assert.deepEqual(host.p2p.failures(), [])
  await until(() => host.p2p.failures().length === 1)
  const [failure] = host.p2p.failures()
  assert.equal(failure?.code, 'P2P_ALL_DIALS_FAILED')
  assert.equal(failure.facts['peer'], probe.id)
  assert.match(String(failure.facts['causes']), /connection refused/)
  assert.match(failure.remedy ?? '', /Confirm that the Generator is up/)
  await openRoom(t, { options: { peerSeed, listen } })
  await until(() => host.p2p.failures().length === 0)
})

test('a peer that was connected until now has a minute to come back', async (t) => {
  const generator = await openRoom(t)
  const options = { bootstrapPeers: [generator.address] }
  const host = await openRoom(t, { options, limits: { lastingMs: 1_000_000 } })
  await host.event('connected', generator.id)
  await generator.p2p.close()
  await host.captured.line('all dials failed')
  assert.deepEqual(host.p2p.failures(), [])
})

test('somebody else in the place of a peer is reported at once', async (t) => {
  const other = await openRoom(t)
  const wrong = other.address.replace(other.id, nobody)
  const host = await openRoom(t, { options: { bootstrapPeers: [wrong] } })
  await until(() => host.p2p.failures().length === 1)
  assert.equal(host.p2p.failures()[0]?.code, 'P2P_PEER_ID_MISMATCH')
})

test('a connected peer of another network is reported with both names while it is configured', async (t) => {
  const other = await openRoom(t, { options: { network: 'Other__Net' } })
  const host = await openRoom(t, { options: { bootstrapPeers: [other.address] } })
  await until(() => host.p2p.failures().length === 1)
  const [failure] = host.p2p.failures()
  assert.equal(failure?.code, 'P2P_OTHER_NETWORK')
  assert.equal(
    failure.message,
    `bootstrap peer ${other.id} serves Other__Net, and we are of Local__Devnet`,
  )
  assert.deepEqual(failure.facts, {
    peer: other.id,
    serves: 'Other__Net',
    network: 'Local__Devnet',
  })
  assert.match(failure.remedy ?? '', /CHAIN_NAME and CHAIN_NETWORK/)
  assert.ok(!host.captured.messages('info').includes('peer connected'))
  assert.deepEqual(other.p2p.failures(), [], 'a stranger is nobody whom one has configured')
  host.p2p.setBootstrapPeers([])
  assert.deepEqual(host.p2p.failures(), [])
})

test('a connected peer that knows no network at all is reported as well', async (t) => {
  const raw = await openRawPeer(t)
  const host = await openRoom(t, { options: { bootstrapPeers: [raw.address] } })
  await until(() => host.p2p.failures().length === 1)
  assert.match(host.p2p.failures()[0]?.message ?? '', /serves no network that we know of/)
})

test('the network is read from a protocol’s name, and nothing else that a peer says is shown', () => {
  assert.equal(
    networkServed(['/ipfs/id/1.0.0', '/viewmesh/Ethereum__Mainnet/range/1']),
    'Ethereum__Mainnet',
  )
  for (const name of [
    '/viewmesh/a b/range/1',
    `/viewmesh/${'x'.repeat(129)}/range/1`,
    '/viewmesh//range/1',
  ])
    assert.equal(networkServed([name]), null)
})
