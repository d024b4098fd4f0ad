import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { openRoom, until } from '../../support/p2p-room.ts'

const stranger = '12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5'

test('a Generator that was away is connected again, and its new heights are known', async (t) => {
  const peerSeed = randomBytes(32)
  const before = await openRoom(t, { options: { peerSeed } })
  before.blocks.set(1, randomBytes(10))
  const host = await openRoom(t, { options: { bootstrapPeers: [before.address] } })
  await until(() => host.p2p.peers()[0]?.announced?.head === 1)
  const listen = before.p2p.self().addresses
  await before.p2p.close()
  await host.captured.line('all dials failed')

  const after = await openRoom(t, { options: { peerSeed, listen } })
  after.blocks.set(2, randomBytes(10))
  assert.equal(after.id, before.id)
  await until(() => host.p2p.peers()[0]?.announced?.head === 2)
})

test('a peer that is not there yet when the Host starts is found when it comes', async (t) => {
  const peerSeed = randomBytes(32)
  const probe = await openRoom(t, { options: { peerSeed } })
  const listen = probe.p2p.self().addresses
  await probe.p2p.close()
  const host = await openRoom(t, { options: { bootstrapPeers: [probe.address] } })
  await host.captured.line('all dials failed')
  await openRoom(t, { options: { peerSeed, listen } })
  await host.captured.line('bootstrap peer connected')
})

test('a list given at run time replaces the old one: new peers are dialled, the others ignored', async (t) => {
  const [first, second] = [await openRoom(t), await openRoom(t)]
  const host = await openRoom(t, { options: { bootstrapPeers: [first.address] } })
  await host.event('connected', first.id)
  const connected = host.event('connected', second.id)
  host.p2p.setBootstrapPeers([second.address])
  await connected
  assert.deepEqual(
    host.p2p.peers().map(({ id }) => id),
    [first.id, second.id],
  )
  const disconnected = host.event('disconnected', first.id)
  await first.p2p.close()
  await disconnected
  assert.deepEqual(host.captured.messages('warn'), [])
})

test('a list with a mistake changes nothing', async (t) => {
  const generator = await openRoom(t)
  const host = await openRoom(t, { options: { bootstrapPeers: [generator.address] } })
  assert.throws(() => host.p2p.setBootstrapPeers(['/ip4/127.0.0.1/tcp/1']), {
    code: 'P2P_ADDRESS_INVALID',
  })
  await host.event('connected', generator.id)
})

test('a peer may be named by a DNS name', async (t) => {
  const generator = await openRoom(t)
  const named = generator.address.replace('/ip4/127.0.0.1', '/dns4/localhost')
  const host = await openRoom(t, { options: { bootstrapPeers: [named] } })
  await host.event('connected', generator.id)
})

test("a peer's second address is used when the first fails", async (t) => {
  const generator = await openRoom(t)
  const dead = generator.address.replace(/tcp\/\d+/, 'tcp/1')
  const host = await openRoom(t, { options: { bootstrapPeers: [dead, generator.address] } })
  await host.captured.line('bootstrap peer connected')
  assert.deepEqual(host.captured.messages('warn'), [])
})

test('the same list may be given to every node: each skips itself', async (t) => {
  const peerSeed = randomBytes(32)
  const probe = await openRoom(t, { options: { peerSeed } })
  const listen = probe.p2p.self().addresses
  await probe.p2p.close()
  const other = await openRoom(t)
  const list = [probe.address, other.address]
  const room = await openRoom(t, { options: { peerSeed, listen, bootstrapPeers: list } })
  await room.event('connected', other.id)
  assert.deepEqual(room.captured.messages('warn'), [])
})

test('a banned bootstrap peer is not dialled while the ban lasts, and is again after it', async (t) => {
  const generator = await openRoom(t)
  const limits = { banMs: 400 }
  const host = await openRoom(t, { limits, options: { bootstrapPeers: [generator.address] } })
  await host.event('connected', generator.id)
  const disconnected = host.event('disconnected', generator.id)
  for (let report = 0; report < 4; report += 1) host.p2p.penalise(generator.id, 'forged a seal')
  await disconnected
  const fault = await host.captured.line('peer fault')
  assert.deepEqual([fault['fault'], fault['detail']], ['reported', 'forged a seal'])
  assert.deepEqual(host.p2p.peers(), [])
  await host.event('connected', generator.id)
  assert.equal(host.p2p.peers()[0]?.score, -50)
})

test('a peer that closes each connection is dialled ever less often, and reported in the end', async (t) => {
  const generator = await openRoom(t)
  const limits = { redialMinMs: 20, redialMaxMs: 100_000, lastingMs: 500 }
  const host = await openRoom(t, { limits, options: { bootstrapPeers: [generator.address] } })
  await host.event('connected', generator.id)
  for (let report = 0; report < 4; report += 1) generator.p2p.penalise(host.id, 'made up')
  await until(() => host.p2p.failures().length === 1)
  const [failure] = host.p2p.failures()
  assert.equal(failure?.code, 'P2P_ALL_DIALS_FAILED')
  assert.match(`${failure.facts['causes']}`, /connected, and the connection ended soon/)
  const dials = host.captured.lines.filter(({ msg }) => msg === 'bootstrap peer connected').length
  assert.ok(dials < 10, `${dials} dials in 500 ms`)
})

describe('somebody else in the place of a bootstrap peer', () => {
  const strangerAt = (room: { readonly id: string; readonly address: string }): string =>
    room.address.replace(room.id, stranger)

  test('is reported with both IDs, the address and a remedy, beside a peer that is connected', async (t) => {
    const [other, generator] = [await openRoom(t), await openRoom(t)]
    const bootstrapPeers = [strangerAt(other), generator.address]
    const host = await openRoom(t, { options: { bootstrapPeers } })
    await host.event('connected', generator.id)
    await until(() => host.p2p.failures().length > 0)
    const [mismatch, ...more] = host.p2p.failures()
    assert.deepEqual(more, [])
    assert.equal(mismatch?.code, 'P2P_PEER_ID_MISMATCH')
    assert.equal(
      mismatch.message,
      `peer id mismatch: expected ${stranger}, but remote key matches ${other.id}`,
    )
    const address = other.address.replace(`/p2p/${other.id}`, '')
    assert.deepEqual(mismatch.facts, { peer: stranger, address })
    assert.match(mismatch.remedy ?? '', /set BOOTSTRAP_PEERS/)
    assert.deepEqual(
      host.p2p.peers().map(({ id }) => id),
      [generator.id],
    )
  })

  test('is forgotten with the right ID, and stays while another peer joins the list', async (t) => {
    const [first, second] = [await openRoom(t), await openRoom(t)]
    const wrong = strangerAt(first)
    const host = await openRoom(t, { options: { bootstrapPeers: [wrong] } })
    await until(() => host.p2p.failures().length > 0)
    host.p2p.setBootstrapPeers([wrong, second.address])
    assert.equal(host.p2p.failures().length, 1)
    host.p2p.setBootstrapPeers([second.address, first.address])
    assert.deepEqual(host.p2p.failures(), [])
    await host.event('connected', first.id)
    assert.deepEqual(host.p2p.failures(), [])
  })

  test('is forgotten when nobody answers there any more, and when the peer itself comes', async (t) => {
    const peerSeed = randomBytes(32)
    const probe = await openRoom(t, { options: { peerSeed } })
    const listen = probe.p2p.self().addresses
    await probe.p2p.close()
    const other = await openRoom(t, { options: { listen } })
    const host = await openRoom(t, { options: { bootstrapPeers: [probe.address] } })
    await until(() => host.p2p.failures().length > 0)
    await other.p2p.close()
    await until(() => host.p2p.failures().length === 0)

    const again = await openRoom(t, { options: { listen } })
    await until(() => host.p2p.failures().length > 0)
    await again.p2p.close()
    await openRoom(t, { options: { peerSeed, listen } })
    await host.captured.line('bootstrap peer connected')
    assert.deepEqual(host.p2p.failures(), [])
  })

  test('is no matter where the peer has come by itself', async (t) => {
    const other = await openRoom(t)
    const peerSeed = randomBytes(32)
    const probe = await openRoom(t, { options: { peerSeed } })
    await probe.p2p.close()
    const wrong = other.address.replace(other.id, probe.id)
    const host = await openRoom(t, { options: { bootstrapPeers: [wrong] } })
    await until(() => host.p2p.failures().length > 0)
    await openRoom(t, { options: { peerSeed, bootstrapPeers: [host.address] } })
    await until(() => host.p2p.failures().length === 0)
  })
})
