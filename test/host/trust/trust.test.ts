/** How a Host comes by its signers: real peers that prove who they are, or cannot. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { signerIdentity } from '../../../src/host/config.ts'
import { openLineFile } from '../../../src/service/settings/line-file.ts'
import { assertExplained } from '../../docs/support/explained.ts'
import { captureLog } from '../../support/captured-log.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import { testSigner } from '../../support/chain/sealed-blocks.ts'
import { until } from '../../support/p2p-room.ts'
import { openTestGenerator, proofOf, type TestGenerator } from '../../support/test-generator.ts'
import { testDirectory } from '../../support/test-store.ts'
import { openTestHost, type TestHost } from '../support/test-host.ts'

const network = 'Local__Devnet'
const blocks = createChain({ count: 3, from: 1 })
const codes = (host: TestHost): string[] => host.status.state().errors.map(({ code }) => code)
const sourcesOf = (host: TestHost): [string, string, string | null][] =>
  (host.status.state().signers ?? []).map(({ identity, source, peer }) => [identity, source, peer])

/** A Generator whose proof of identity the test chooses. */
async function openPosing(
  t: TestContext,
  name: string,
  proof: (peerId: string) => Uint8Array | null,
): Promise<TestGenerator> {
  let own = ''
  const generator = await openTestGenerator(t, name, blocks, {
    room: { answers: { identity: () => proof(own) } },
  })
  own = generator.room.id
  return generator
}

test('a Host with bootstrap peers alone accepts and shows those that prove to be Generators', async (t) => {
  const generator = await openTestGenerator(t, 'alice', blocks)
  const host = await openTestHost(t, { peers: [generator.room.address] })
  assert.deepEqual(codes(host), ['HOST_NO_SIGNER'])
  await host.reached(3)
  const { identity } = generator.signer
  assert.deepEqual(sourcesOf(host), [[identity, 'bootstrap', generator.room.id]])
  await until(() => host.status.state().signers?.[0]?.counted === true)
  const [signer] = host.status.state().signers ?? []
  assert.deepEqual(signer?.head, { number: 3, hash: blocks[2]?.hash })
  assert.equal(signer?.node_height, 3)
  assert.match(signer?.last_heard ?? '', /^\d{4}-\d\d-\d\dT/)
  assert.deepEqual(codes(host), [])
  assert.equal(host.status.state().trust, 'bootstrap')
})

test('a Host is no Generator: nothing that it would seal is accepted', async (t) => {
  const posing = await openPosing(t, 'alice', (id) =>
    proofOf(testSigner('alice', 'Ed25519'), id, 'host'),
  )
  const host = await openTestHost(t, { peers: [posing.room.address] })
  await until(() => host.trust.identityOf(posing.room.id) !== null)
  const { id } = posing.room
  const { identity } = testSigner('alice', 'Ed25519')
  assert.deepEqual(host.trust.identityOf(id)?.role, 'host')
  assert.deepEqual(host.trust.hosts(), [{ identity, source: 'bootstrap', peer: id }])
  assert.deepEqual(sourcesOf(host), [])
  assert.deepEqual(codes(host), ['HOST_NO_SIGNER'])
})

test('a copied proof proves nothing: the connection is another peer’s', async (t) => {
  const honest = await openTestGenerator(t, 'alice', blocks)
  const copied = proofOf(honest.signer, honest.room.id)
  const thief = await openPosing(t, 'mallory', () => copied)
  const host = await openTestHost(t, { peers: [thief.room.address] })
  const fault = await host.captured.line('peer fault')
  assert.deepEqual([fault['peer'], fault['fault']], [thief.room.id, 'reported'])
  assert.deepEqual(sourcesOf(host), [])
})

test('a stranger that connects by itself is not asked and not accepted, whatever it proves', async (t) => {
  const generator = await openTestGenerator(t, 'alice', blocks)
  const host = await openTestHost(t, { peers: [generator.room.address] })
  await host.reached(3)
  const stranger = await openTestGenerator(
    t,
    'mallory',
    createChain({ count: 9, from: 1, seed: 'x' }),
  )
  stranger.room.p2p.setBootstrapPeers([host.address])
  await until(() => host.mesh.p2p.peers().length === 2)
  await stranger.publishHead()
  await generator.publish(createChain({ count: 1, parent: blocks[2] as (typeof blocks)[number] }))
  await host.reached(4)
  assert.equal(sourcesOf(host).length, 1)
  assert.equal(host.status.gauges.lag(), 0)
})

test('a Generator with a new key behind the old peer ID is refused, also after a restart', async (t) => {
  const peerSeed = new Uint8Array(32).fill(7)
  const first = await openTestGenerator(t, 'alice', blocks, {
    room: { options: { network, peerSeed } },
  })
  const host = await openTestHost(t, { peers: [first.room.address] })
  await host.reached(3)
  await first.room.p2p.close()
  const second = await openTestGenerator(t, 'bob', blocks, {
    room: { options: { network, peerSeed } },
  })
  assert.equal(second.room.id, first.room.id)
  host.mesh.p2p.setBootstrapPeers([second.room.address])
  await until(() => codes(host).includes('HOST_SIGNER_CHANGED'))
  const failure = host.status.state().errors.find(({ code }) => code === 'HOST_SIGNER_CHANGED')
  assertExplained(failure ?? assert.fail())
  for (const named of [first.signer.identity, second.signer.identity, first.room.id])
    assert.ok(failure?.message.includes(named), named)
  assert.deepEqual(sourcesOf(host), [[first.signer.identity, 'bootstrap', first.room.id]])
  const line = await host.captured.line('bootstrap peer proves another identity')
  assert.deepEqual(
    [line['peer'], line['pinned'], line['found']],
    [first.room.id, first.signer.identity, second.signer.identity],
  )
  await host.close()
  const again = await openTestHost(t, { peers: [second.room.address], path: host.path })
  await until(() => codes(again).includes('HOST_SIGNER_CHANGED'))
  assert.deepEqual(sourcesOf(again), [[first.signer.identity, 'bootstrap', first.room.id]])
  again.trust.setBootstrapPeers([], false)
  assert.deepEqual(sourcesOf(again), [[first.signer.identity, 'bootstrap', first.room.id]])
  again.trust.setBootstrapPeers([], true)
  again.trust.setBootstrapPeers([second.room.address], true)
  await until(() => sourcesOf(again)[0]?.[0] === second.signer.identity)
  assert.ok(!codes(again).includes('HOST_SIGNER_CHANGED'))
})

test('a Host that starts with an unreadable file of signers goes on with the last good list', async (t) => {
  const generator = await openTestGenerator(t, 'alice', blocks)
  const { identity } = generator.signer
  const env = { HOST_TRUST: 'signers' }
  const peers = [generator.room.address]
  const good = { path: '/signers', values: () => [identity], problem: () => null }
  const gone = { path: '/signers', values: () => [], problem: () => 'ENOENT' }
  const host = await openTestHost(t, { peers, env, signersFile: good })
  await generator.publishHead()
  await host.reached(3)
  await host.close()
  const again = await openTestHost(t, { path: host.path, env, signersFile: gone })
  assert.deepEqual(again.trust.sources(), [{ identity, source: 'file', peer: null }])
  await until(() => sourcesOf(again).length > 0)
  assert.deepEqual(
    again.status.state().signers?.[0]?.head,
    { number: 3, hash: blocks[2]?.hash },
    'and knows its newest head, so that no older one is taken for new',
  )
  const [failure] = again.status.state().errors
  assert.equal(failure?.code, 'HOST_SIGNERS_FILE_UNUSABLE')
  assert.match(failure?.message ?? '', /its last good list of 1 stays/)
  await again.close()
  const without = await openTestHost(t, { path: host.path, env })
  assert.deepEqual(without.trust.sources(), [])
  await without.close()
  const other = await openTestHost(t, { path: host.path, env, signersFile: gone })
  assert.deepEqual(other.trust.sources(), [], 'a file that is no longer named is forgotten')
})

test('the chain is final once all bootstrap peers have proved who they are, also over a restart', async (t) => {
  const generator = await openTestGenerator(t, 'alice', blocks)
  const away = '/ip4/127.0.0.1/tcp/9/p2p/12D3KooWQWSc13ScZPGySKdWAh3GCyhRPjQNHavE54rDY6XCZPJs'
  const peers = [generator.room.address, away]
  const isSure = (host: TestHost): boolean =>
    host.captured.messages('info').includes('the chain is known by its genesis block')
  const first = await openTestHost(t, { peers })
  await first.reached(3)
  await first.close()
  const again = await openTestHost(t, { peers, path: first.path })
  await until(() => sourcesOf(again).length === 1)
  assert.deepEqual([isSure(first), isSure(again)], [false, false])
  again.trust.setBootstrapPeers([generator.room.address], true)
  await until(() => isSure(again))
})

test('a signer taken off the list keeps no vote', async (t) => {
  const [alice, bob] = await Promise.all(
    ['alice', 'bob'].map((name) => openTestGenerator(t, name, blocks)),
  )
  assert.ok(alice && bob)
  const host = await openTestHost(t, { peers: [alice.room.address, bob.room.address] })
  const votes = (): number => host.reader.read((snapshot) => snapshot.seals(3).length)
  await until(() => votes() === 2)
  host.trust.setBootstrapPeers([alice.room.address], true)
  await until(() => votes() === 1)
  assert.deepEqual(sourcesOf(host), [[alice.signer.identity, 'bootstrap', alice.room.id]])
})

test('HOST_TRUST=anyone is said for as long as it is set', async (t) => {
  const generator = await openTestGenerator(t, 'alice', blocks)
  const env = { HOST_TRUST: 'anyone' }
  const host = await openTestHost(t, { peers: [generator.room.address], env })
  await host.captured.line(
    'HOST_TRUST is anyone: whoever signs a block decides what is stored and served.',
  )
  await generator.publishHead()
  await host.reached(3)
  assert.deepEqual(codes(host), ['HOST_TRUSTS_ANYONE'])
  assert.deepEqual(sourcesOf(host), [[generator.signer.identity, 'anyone', null]])
})

test('a file of signers is taken over whole, or the last good list stays and that is said', async (t) => {
  const path = join(testDirectory(t), 'signers')
  const [a, b] = [testSigner('a').identity, testSigner('b', 'Ed25519').identity]
  writeFileSync(path, `# by hand\n${a}\n`)
  const { log, line } = captureLog()
  let change = Promise.withResolvers<void>()
  const file = await openLineFile(
    {
      path,
      setting: 'HOST_TRUSTED_SIGNERS_FILE',
      kind: signerIdentity,
      pollIntervalMs: 5,
      isWhole: true,
    },
    { log, onChange: () => change.resolve() },
  )
  t.after(() => file.close())
  assert.deepEqual([file.values(), file.problem()], [[a], null])
  writeFileSync(path, `${b}\nnot a key\n`)
  await line('file not taken over, the last good list stays')
  assert.deepEqual([file.values(), file.problem()], [[a], 'line 2 cannot be read'])
  writeFileSync(path, '\n')
  await until(() => file.problem() === 'it names nothing')
  assert.deepEqual(file.values(), [a])
  change = Promise.withResolvers()
  writeFileSync(path, `${b.toUpperCase()}\n${a}\n`)
  await change.promise
  assert.deepEqual([file.values(), file.problem()], [[b, a], null])
})
