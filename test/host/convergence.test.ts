/** Hosts with the same signers end with the same blocks and votes, whatever happens to their connections. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Seal } from '../../src/primitives/seal.ts'
import {
  decodeVoteRequest,
  encodeDigestsAnswer,
  encodeHeadsAnswer,
  encodeSealsAnswer,
  type GroupDigest,
} from '../../src/primitives/vote-exchange.ts'
import { type ChainBlock, createChain, shapes } from '../support/chain/block-factory.ts'
import { sealBlock, testSigner } from '../support/chain/sealed-blocks.ts'
import { openRoom, until } from '../support/p2p-room.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { openTestGenerator, type TestGenerator } from '../support/test-generator.ts'
import { storedChain } from '../support/test-store.ts'
import { openSeverableLink, type SeverableLink } from './support/severable-link.ts'
import { openTestHost, type TestHost, type TestHostSetup } from './support/test-host.ts'

const blocks = 40
const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, Math.min(blocks, to) - from + 1) }, (_, index) => from + index)
const network = 'Local__Devnet'

/** Of every stored block its height, hash, and who sealed it. */
function votesOf(host: TestHost): string[] {
  return host.reader.read((snapshot) =>
    storedChain(host.reader).map(([height, hash]) => {
      const signers = snapshot.seals(height).map(({ signatureIdentity }) => signatureIdentity)
      return `${height} ${hash} ${signers.sort().join(' ')}`
    }),
  )
}

/**
 * A Host that lies: it serves what a stranger sealed, repeats what it hears, says that it has votes that nobody else
 * has, and asked for them gives the stranger's, forged ones or those of another signer, without an end.
 */
async function openLiar(
  t: TestContext,
  hosts: readonly TestHost[],
  generators: readonly TestGenerator[],
): Promise<{ readonly asked: ReadonlySet<string> }> {
  const mallory = testSigner('mallory', 'Ed25519')
  const heard: Uint8Array[] = []
  const asked = new Set<string>()
  let turn = 0
  const strangers = (): Seal[] =>
    [...(generators[0]?.chain.values() ?? [])].map(
      ({ source }) => sealBlock(source, mallory, network).seal,
    )
  const lies: readonly ((identity: string) => readonly Seal[])[] = [
    () => strangers(),
    (identity) => strangers().map((own) => ({ ...own, signatureIdentity: identity })),
    (identity) =>
      generators.find(({ signer }) => signer.identity !== identity)?.seals.slice(0, 100) ?? [],
  ]
  const liar = await openRoom(t, {
    options: { network, bootstrapPeers: hosts.map(({ address }) => address) },
    onBlock: async (bytes) => {
      heard.push(bytes)
      return { action: 'accept', height: 1 }
    },
    source: {
      range: () => ({ tail: 0, head: 10_000 }),
      heights: (from, to) => range(from, to),
      sealedBlock: (height) => {
        const source = generators[0]?.chain.get(height)?.source
        return source === undefined ? null : sealBlock(source, mallory, network).bytes
      },
    },
    answers: {
      votes: (question) => {
        const request = decodeVoteRequest(question)
        asked.add(request.kind)
        if (request.kind === 'heads') return encodeHeadsAnswer([])
        if (request.kind === 'digests') return encodeDigestsAnswer(request.identities.map(madeUp))
        turn += 1
        const seals = lies[turn % lies.length]?.(request.identity) ?? []
        return encodeSealsAnswer({ seals, more: true })
      },
    },
  })
  const repeat = setInterval(() => {
    for (const bytes of heard.slice(-20)) {
      const again = Uint8Array.from(bytes)
      liar.p2p.publish(again).catch(() => undefined)
    }
  }, 100)
  t.after(() => clearInterval(repeat))
  return { asked }
}

const madeUp = (identity: string): GroupDigest => ({ identity, group: 0, digest: '00'.repeat(16) })

/** They sign their heads over and over, as Generators do. */
function repeatHeads(t: TestContext, generators: readonly TestGenerator[]): void {
  const repeat = setInterval(() => {
    for (const generator of generators) generator.publishHead().catch(() => undefined)
  }, 500)
  t.after(() => clearInterval(repeat))
}

interface Mesh {
  readonly generators: readonly TestGenerator[]
  readonly hosts: TestHost[]
  readonly links: readonly SeverableLink[]
  restart(index: number): Promise<void>
}

/** alice and bob at the first Host, bob at the second, carol at the third, and the Hosts in a row. */
async function openMesh(t: TestContext): Promise<Mesh> {
  const generators = await Promise.all(
    ['alice', 'bob', 'carol'].map((name) => openTestGenerator(t, name)),
  )
  const [alice, bob, carol] = generators
  assert.ok(alice && bob && carol)
  const HOST_TRUSTED_SIGNERS = generators.map(({ signer }) => signer.identity).join()
  const env = { HOST_TRUSTED_SIGNERS, DB_P2P_LISTEN_ADDR: '/ip4/127.0.0.1/tcp/0' }
  const links: SeverableLink[] = []
  const setups: TestHostSetup[] = []
  const hosts: TestHost[] = []
  for (const [index, near] of [[carol], [bob], [alice, bob]].entries()) {
    const below = hosts.at(-1)
    const targets = [...near.map(({ room }) => room.address), ...(below ? [below.address] : [])]
    const own = await Promise.all(targets.map((target) => openSeverableLink(t, target)))
    links.push(...own)
    const peers = own.map(({ address }) => address)
    const setup = { name: `host-${index}`, env, peers, compareVotesMs: 300 }
    setups.push(setup)
    hosts.push(await openTestHost(t, setup))
  }
  return {
    generators,
    hosts,
    links,
    restart: async (index) => {
      const [host, setup] = [hosts[index], setups[index]]
      assert.ok(host && setup)
      await host.close()
      const DB_P2P_LISTEN_ADDR = host.address.replace(/\/p2p\/\w+$/, '')
      const again = { ...setup, path: host.path, env: { ...setup.env, DB_P2P_LISTEN_ADDR } }
      hosts[index] = await openTestHost(t, again)
    },
  }
}

/** Every Generator seals and publishes each block, in an order of its own, while links come and go. */
async function publishUnderDisruption(mesh: Mesh, chain: readonly ChainBlock[]): Promise<void> {
  const random = createSeededRandom('severed links')
  for (const [index, block] of chain.entries()) {
    for (const link of mesh.links) random.pick([link.sever, link.mend, () => undefined])()
    const first = random.pick(mesh.generators)
    const others = mesh.generators.filter((generator) => generator !== first)
    for (const generator of [first, ...others]) await generator.publish([block])
    if (index % 15 === 10) await mesh.restart(random.pick([0, 1, 2]))
  }
}

test('three Hosts over severed links, with restarts and a liar, count the same votes in the end', async (t) => {
  const chain = createChain({ count: blocks, from: 1, shape: shapes.empty })
  const mesh = await openMesh(t)
  repeatHeads(t, mesh.generators)
  const liar = await openLiar(t, mesh.hosts, mesh.generators)
  await publishUnderDisruption(mesh, chain)
  for (const link of mesh.links) link.mend()
  const expected = chain.map(({ number, hash }) => {
    const signers = mesh.generators.map(({ signer }) => signer.identity)
    return `${number} ${hash} ${signers.sort().join(' ')}`
  })
  for (const host of mesh.hosts) {
    await until(() => votesOf(host).join() === expected.join())
  }
  assert.deepEqual([...liar.asked].sort(), ['digests', 'heads', 'seals'])
})
