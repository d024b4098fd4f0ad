/** The signed heads of a whole Generator beside a real node, as a peer hears them. What takes 15 seconds takes 300 milliseconds here. */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import type { HeadTiming } from '../../src/generator/head/timing.ts'
import { openIdentity } from '../../src/identity/identity.ts'
import { isValidSignature } from '../../src/identity/signature.ts'
import { decodeHead, type Head } from '../../src/primitives/head.ts'
import { decodeIdentityProof, identityDigest } from '../../src/primitives/identity-proof.ts'
import {
  decodeDigestsAnswer,
  decodeHeadsAnswer,
  decodeSealsAnswer,
  encodeVoteRequest,
  groupDigest,
} from '../../src/primitives/vote-exchange.ts'
import { assertExplained } from '../docs/support/explained.ts'
import { type Anvil, startAnvil } from '../support/chain/anvil.ts'
import { signHead } from '../support/chain/signed-heads.ts'
import { type GeneratorInProcess, openGeneratorInProcess } from '../support/generator-in-process.ts'
import { until } from '../support/p2p-room.ts'
import { testDirectory } from '../support/test-store.ts'
import { type HeadListener, type NewestHeads, openHeadListener } from './support/head-listener.ts'
import { openNodeSwitch } from './support/node-switch.ts'

const timing: Partial<HeadTiming> = {
  apartMs: 10,
  everyMs: 300,
  confirmedForMs: 300,
  askNodeMs: 50,
}
const network = 'Local__Devnet'
const secret = 'a secret of tests only'

async function startNode(t: TestContext): Promise<Anvil> {
  const anvil = await startAnvil()
  t.after(() => anvil.close())
  await anvil.rpc('anvil_mine', '0x5')
  return anvil
}

interface NodeBlock {
  readonly number: string
  readonly hash: string
}

const blockOf = (anvil: Anvil, at: string): Promise<NodeBlock> =>
  anvil.rpc<NodeBlock>('eth_getBlockByNumber', at, false)

/** Mines a block; resolves with the head over it. */
async function mineAndHear(anvil: Anvil, { heads }: HeadListener): Promise<Head> {
  await anvil.rpc('evm_mine')
  const { hash } = await blockOf(anvil, 'latest')
  return await heads.first((head) => head.hash === hash)
}

test('a peer receives the head before its block, proven, and gets digests and seals on request', async (t) => {
  const anvil = await startNode(t)
  const settings = { NODE_RPC_URL: anvil.url, NODE_WS_URL: anvil.wsUrl }
  const generator = await openGeneratorInProcess(t, testDirectory(t), settings, timing)
  const { identity } = await generator.reports(
    ({ head, genesis }) => head === 5 && genesis !== null,
  )
  assert.ok(identity !== null)
  const listener = await openHeadListener(t, [generator.address])
  await listener.heads.first(({ number }) => number === 5)
  const head = await mineAndHear(anvil, listener)
  await listener.heard.first((what) => what === 'block 6')
  const order = listener.heard.items
  assert.ok(order.indexOf('head 6') < order.indexOf('block 6'))
  const { hash: genesisHash } = await blockOf(anvil, '0x0')
  assert.deepEqual(
    [head.network, head.genesisHash, head.number, head.nodeHeight, head.signatureIdentity],
    [network, genesisHash, 6, 6, identity],
  )

  const { id } = generator.p2p.self()
  const ask = (name: 'identity' | 'votes', question: Uint8Array): Promise<Uint8Array> =>
    listener.room.p2p.request(id, name, question, AbortSignal.timeout(60_000))
  const proof = decodeIdentityProof(await ask('identity', new Uint8Array()))
  const { role, signatureType, signatureIdentity, signatureValue } = proof
  assert.deepEqual([proof.network, role, signatureIdentity], [network, 'generator', identity])
  const digest = identityDigest({ network, role, peerId: id })
  assert.ok(isValidSignature(signatureType, signatureIdentity, digest, signatureValue))

  const newest = async (identities: readonly string[]): Promise<string[]> => {
    const answer = await ask('votes', encodeVoteRequest({ kind: 'heads', identities }))
    return decodeHeadsAnswer(answer).map((bytes) => decodeHead(bytes).hash)
  }
  assert.deepEqual(await newest([identity]), [head.hash])
  assert.deepEqual(await newest([]), [head.hash])
  assert.deepEqual(await newest([`03${identity.slice(2, -2)}00`]), [])
  const range = { from: 0, to: 63 }
  const { seals } = decodeSealsAnswer(
    await ask('votes', encodeVoteRequest({ kind: 'seals', identity, ...range, after: null })),
  )
  assert.deepEqual(
    seals.map(({ blockNumber }) => blockNumber),
    [0, 1, 2, 3, 4, 5, 6],
  )
  const digests = await ask(
    'votes',
    encodeVoteRequest({ kind: 'digests', ...range, identities: [identity] }),
  )
  assert.deepEqual(decodeDigestsAnswer(digests), [
    { identity, group: 0, digest: groupDigest(seals) },
  ])
})

test('a Generator is silent while its node is away, also when it is asked and after a restart', async (t) => {
  const home = testDirectory(t)
  const node = await openNodeSwitch(t, (await startNode(t)).url)
  const settings = { NODE_RPC_URL: node.url }
  const first = await openGeneratorInProcess(t, home, settings, timing)
  const listener = await openHeadListener(t, [first.address])
  await listener.heads.first(() => listener.heads.items.length > 3)
  node.isAway = true
  await first.reports(({ upstream_mode: mode }) => mode === 'offline')
  await answersNoHead(first, listener)
  const { length } = listener.heads.items
  await first.close()

  const second = await openGeneratorInProcess(t, home, settings, timing)
  listener.room.p2p.setBootstrapPeers([second.address])
  await listener.room.event('connected', second.p2p.self().id)
  await second.reports(({ upstream_mode: mode }) => mode === 'offline')
  await answersNoHead(second, listener)
  assert.equal(listener.heads.items.length, length)

  node.isAway = false
  await listener.heads.first(() => listener.heads.items.length > length)
})

/** Asks a Generator for heads until it has none to show. */
async function answersNoHead({ p2p }: GeneratorInProcess, { room }: HeadListener): Promise<void> {
  const question = encodeVoteRequest({ kind: 'heads', identities: [] })
  await until(async () => {
    const answer = await room.p2p.request(
      p2p.self().id,
      'votes',
      question,
      AbortSignal.timeout(60_000),
    )
    return decodeHeadsAnswer(answer).length === 0
  })
}

test('a Generator that lost its store continues above the head that a peer has', async (t) => {
  const anvil = await startNode(t)
  const home = testDirectory(t)
  const settings = { NODE_RPC_URL: anvil.url }
  const newest: NewestHeads = new Map()
  const first = await openGeneratorInProcess(t, home, settings, timing)
  const { heads } = await openHeadListener(t, [first.address], newest)
  const { signatureIdentity: identity } = await heads.first(({ number }) => number === 5)
  await first.close()
  rmSync(join(home, 'store'), { recursive: true })

  const { signer } = await openIdentity({
    keyPath: join(home, 'keys'),
    secret,
    program: 'generator',
  })
  const genesisHash = newest.get(identity)?.genesisHash ?? assert.fail('no head')
  const sequence = Date.now() + 1e9
  const ahead = signHead(signer, { network, genesisHash, number: 5, sequence })
  newest.set(identity, ahead)
  const second = await openGeneratorInProcess(t, home, settings, timing)
  const listener = await openHeadListener(t, [second.address], newest)
  await listener.heads.first((head) => head.sequence === sequence + 1)
})

test('of two Generators with one key one stops and reports it, and the other continues', async (t) => {
  const anvil = await startNode(t)
  const keys = join(testDirectory(t), 'keys')
  const settings = { NODE_RPC_URL: anvil.url, DB_KEY_PATH: keys }
  const often = { ...timing, askPeersMs: 50, foreignHeadsApartMs: 100 }
  const newest: NewestHeads = new Map()
  const open = async (): Promise<[GeneratorInProcess, HeadListener]> => {
    const generator = await openGeneratorInProcess(t, testDirectory(t), settings, often)
    return [generator, await openHeadListener(t, [generator.address], newest)]
  }
  const [[one, hearsOne], [other, hearsOther]] = [await open(), await open()]
  await Promise.all([hearsOne, hearsOther].map(({ heads }) => heads.first(() => true)))
  await anvil.rpc('evm_mine')
  const [error, survivor] = await Promise.race([
    one.failed.then((failure) => [failure, hearsOther] as const),
    other.failed.then((failure) => [failure, hearsOne] as const),
  ])
  assert.ok(error instanceof ServiceError)
  assert.equal(error.code, 'GENERATOR_KEY_RUNS_TWICE')
  assert.match(error.message, /^The key of this Generator runs twice: /)
  assertExplained(error)
  await mineAndHear(anvil, survivor)
})

test('a Generator that gets its own heads from a peer knows them, and goes on', async (t) => {
  const anvil = await startNode(t)
  const settings = { NODE_RPC_URL: anvil.url, NODE_WS_URL: anvil.wsUrl }
  const often = { ...timing, askPeersMs: 20, foreignHeadsApartMs: 10 }
  const generator = await openGeneratorInProcess(t, testDirectory(t), settings, often)
  const listener = await openHeadListener(t, [generator.address])
  await listener.heads.first(({ number }) => number === 5)
  const failed = generator.failed.then((error) => Promise.reject(error))
  for (let blocks = 0; blocks < 8; blocks += 1)
    await Promise.race([mineAndHear(anvil, listener), failed])
})

for (const [startHeight, stored, depth] of [
  ['latest', 'one block', 1],
  ['-1', 'two blocks', 4],
] as const)
  test(`a Generator that stored ${stored} follows a reorganisation of ${depth}`, async (t) => {
    const anvil = await startNode(t)
    const settings = { NODE_RPC_URL: anvil.url, GENERATOR_START_HEIGHT: startHeight }
    const generator = await openGeneratorInProcess(t, testDirectory(t), settings, timing)
    const { tail } = await generator.reports(({ head, genesis }) => head === 5 && genesis !== null)
    const listener = await openHeadListener(t, [generator.address])
    await anvil.rpc('anvil_reorg', depth, [])
    const { hash } = await blockOf(anvil, 'latest')
    await listener.heads.first((head) => head.hash === hash)
    const heights = tail === 5 ? ['0x5'] : ['0x4', '0x5']
    const blocks = await Promise.all(heights.map((height) => blockOf(anvil, height)))
    assert.deepEqual(await generator.query('{ Block { hash } }'), {
      Block: blocks.map((block) => ({ hash: block.hash })),
    })
  })
