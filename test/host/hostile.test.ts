/**
 * Peers that send what they should not. Of each kind: what the log says, what is counted, that the
 * sender is cut off after four of them, and that an honest block arrives meanwhile.
 */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { zstdCompressSync } from 'node:zlib'
import type { RuleName } from '../../src/host/apply/verify.ts'
import { encodeBody } from '../../src/primitives/body/body.ts'
import { writeHeader } from '../../src/primitives/body/body-header.ts'
import { createByteWriter } from '../../src/primitives/cbor.ts'
import { encodeSealedBlock } from '../../src/primitives/sealed-block.ts'
import type { LogLine } from '../support/captured-log.ts'
import { type ChainBlock, createChain, shapes } from '../support/chain/block-factory.ts'
import { sealBlock, signSeal, testSigner } from '../support/chain/sealed-blocks.ts'
import { metricValue } from '../support/metric-value.ts'
import { type TestRoom, until } from '../support/p2p-room.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { openTestGenerator, type TestGenerator } from '../support/test-generator.ts'
import { storedChain } from '../support/test-store.ts'
import { openTestHost, type TestHost } from './support/test-host.ts'

const network = 'Local__Devnet'
const mallory = testSigner('mallory', 'Ed25519')
const random = createSeededRandom('hostile')
const mib = 1024 * 1024

interface Scene {
  readonly honest: TestGenerator
  readonly host: TestHost
}

/**
 * A Host with five blocks of an honest Generator. It accepts Mallory as well, who reports no head: what a
 * hostile peer does here is what an accepted signer, or whoever has its key, can do.
 */
async function openScene(t: TestContext): Promise<Scene> {
  const chain = createChain({ count: 5, from: 1, shape: shapes.tiny })
  const honest = await openTestGenerator(t, 'honest', chain)
  const env = { HOST_TRUSTED_SIGNERS: `${honest.signer.identity},${mallory.identity}` }
  const host = await openTestHost(t, { peers: [honest.room.address], env })
  host.pass(60_000)
  await host.reached(5)
  await connected(honest.room, host)
  return { honest, host }
}

/** A peer that wants no good, connected to the Host. */
async function openHostile(t: TestContext, { honest, host }: Scene): Promise<TestRoom> {
  const { room: hostile } = await openTestGenerator(t, 'hostile', [], {
    room: { options: { network }, limits: { maxGossipBytes: 3 << 20 } },
  })
  host.mesh.p2p.setBootstrapPeers([honest.room.address, hostile.address])
  await connected(hostile, host)
  return hostile
}

async function connected(room: TestRoom, host: TestHost): Promise<void> {
  await until(() => room.p2p.peers().some(({ id, subscribed }) => id === host.id && subscribed))
}

/** The first line with this message about this peer, as soon as it is there. */
async function lineAbout(host: TestHost, message: string, peer: string): Promise<LogLine> {
  const find = (): LogLine | undefined =>
    host.captured.lines.find((line) => line.msg === message && line['peer'] === peer)
  await until(() => find() !== undefined)
  return find() ?? assert.fail(message)
}

/** The honest Generator's next block, published; resolves when the Host has it. */
async function honestBlockArrives({ honest, host }: Scene): Promise<void> {
  const top = Math.max(...honest.chain.keys())
  const parent = honest.chain.get(top)?.source ?? assert.fail('the Generator has blocks')
  await honest.publish(createChain({ count: 1, parent, shape: shapes.tiny }))
  await host.reached(top + 1)
}

/** Sends the four messages, and an honest block between; asserts what the Host made of them. */
async function assertCutOff(
  t: TestContext,
  scene: Scene,
  messages: readonly Uint8Array[],
  rule: RuleName | null,
): Promise<TestRoom> {
  const { honest, host } = scene
  const hostile = await openHostile(t, scene)
  const [first, ...rest] = messages
  assert.equal(messages.length, 4)
  await hostile.p2p.publish(first ?? new Uint8Array())
  await lineAbout(host, 'peer fault', hostile.id)
  await honestBlockArrives(scene)
  for (const message of rest) await hostile.p2p.publish(message)
  await lineAbout(host, 'peer disconnected and banned', hostile.id)
  const peers = host.mesh.p2p.peers().map(({ id }) => id)
  assert.deepEqual(peers, [honest.room.id])
  assert.deepEqual(
    storedChain(host.reader),
    [...honest.chain.values()].map(({ number, hash }) => [number, hash]),
  )
  if (rule === null) return hostile
  const rejected = await lineAbout(host, 'block rejected', hostile.id)
  assert.deepEqual([rejected.level, rejected['rule']], ['warn', rule])
  const metric = await host.registry.getSingleMetricAsString('viewmesh_host_broken_rules_total')
  assert.match(metric, new RegExp(`rule="${rule}"\\} 4`))
  return hostile
}

const four = <T>(make: (index: number) => T): T[] => [0, 1, 2, 3].map(make)

/** Blocks that could be next, each with another hash. */
function nextBlocks({ honest }: Scene): ChainBlock[] {
  const parent = [...honest.chain.values()].at(-1)?.source ?? assert.fail('no blocks')
  return four((index) => createChain({ seed: `next-${index}`, count: 1, parent })).flat()
}

test('a hostile peer on gossip', async (t) => {
  const scene = await openScene(t)

  await t.test('is banned for garbage', async (t) => {
    await assertCutOff(
      t,
      scene,
      four(() => random.bytes(200)),
      'well-formed',
    )
  })

  await t.test('is banned for wrong signatures', async (t) => {
    const messages = nextBlocks(scene).map((block) => {
      const { seal, body } = sealBlock(block, mallory, network)
      return encodeSealedBlock([{ ...seal, signatureValue: mallory.sign(random.bytes(32)) }], body)
    })
    await assertCutOff(t, scene, messages, 'valid-signature')
  })

  await t.test('is banned for altered documents', async (t) => {
    const messages = nextBlocks(scene).map((block) => {
      const { seal, documents } = sealBlock(block, mallory, network)
      const [log, ...others] = documents.documents.Log
      assert.ok(log !== undefined)
      const altered = { ...log, values: [random.hex(20), ...log.values.slice(1)] }
      const changed = { ...documents.documents, Log: [altered, ...others] }
      return encodeSealedBlock([seal], encodeBody({ ...documents, documents: changed }).body)
    })
    await assertCutOff(t, scene, messages, 'sealed-documents')
  })

  await t.test('is banned for decompression bombs', async (t) => {
    const bomb = zstdCompressSync(Buffer.alloc(100 * mib))
    const messages = nextBlocks(scene).map((block, index) => {
      const { seal } = sealBlock(block, mallory, network)
      return encodeSealedBlock([seal], bombBody(bomb, index % 2 === 0 ? 100 * mib : 1000))
    })
    await assertCutOff(t, scene, messages, 'sound-documents')
  })

  await t.test(
    'has no blocks stored that are on no chain, though an accepted signer sealed them',
    async (t) => {
      const { host, honest } = scene
      const hostile = await openHostile(t, scene)
      const next = honest.chain.size + 1
      const alone = four((index) => createChain({ seed: `alone-${index}`, count: 1, from: next }))
      for (const block of alone.flat())
        await hostile.p2p.publish(sealBlock(block, mallory, network).bytes)
      await until(() => host.status.gauges.waitingBlocks() === 4)
      await honestBlockArrives(scene)
      assert.equal(storedChain(host.reader).length, honest.chain.size)
    },
  )

  await t.test('is banned for messages above the limit', async (t) => {
    const { host } = scene
    const hostile = await openHostile(t, scene)
    const counted = () =>
      metricValue(host.registry, 'viewmesh_p2p_faults_total', { fault: 'oversize message' })
    await hostile.p2p.publish(random.bytes(mib + 1))
    const { fault } = await lineAbout(host, 'peer fault', hostile.id)
    assert.equal(fault, 'oversize message')
    assert.equal(await counted(), 1)
    await lineAbout(host, 'peer disconnected', hostile.id)
    await until(() => hostile.p2p.peers().every(({ id }) => id !== host.id))
    await honestBlockArrives(scene)
    await connected(hostile, host)
    await hostile.p2p.publish(random.bytes(mib + 1))
    await lineAbout(host, 'peer disconnected and banned', hostile.id)
    assert.equal(await counted(), 2, 'twice, and no third time')
    assert.ok(host.mesh.p2p.peers().every(({ id }) => id !== hostile.id))
    await honestBlockArrives(scene)
  })

  await t.test('cannot move the end of the chain away by one valid seal', async (t) => {
    const hostile = await openHostile(t, scene)
    const [far] = createChain({ count: 1, from: 2 ** 31 - 1 })
    assert.ok(far !== undefined)
    await hostile.p2p.publish(sealBlock(far, mallory, network).bytes)
    await scene.host.captured.line('block ignored')
    await honestBlockArrives(scene)
    assert.equal(storedChain(scene.host.reader).length, scene.honest.chain.size)
    assert.equal(scene.host.status.gauges.lag(), 0)
  })
})

describe('a hostile peer that is asked for blocks', () => {
  test('is left for another one, and what it sent is not kept', async (t) => {
    const chain = createChain({ count: 100, from: 1, shape: shapes.empty })
    const liar = await openTestGenerator(t, 'liar', chain)
    for (const block of liar.chain.values())
      liar.chain.set(block.number, { ...block, bytes: Uint8Array.from(random.bytes(300)) })
    const honest = await openTestGenerator(t, 'honest', chain)
    const env = { HOST_TRUSTED_SIGNERS: honest.signer.identity }
    const host = await openTestHost(t, { peers: [liar.room.address], env })
    await honest.room.p2p.setBootstrapPeers([host.address])
    await host.captured.line('block rejected')
    host.mesh.p2p.setBootstrapPeers([liar.room.address, honest.room.address])
    await host.reached(100)
    assert.equal(storedChain(host.reader).length, 100)
  })

  test('that seals and serves another block than it announced brings nothing in', async (t) => {
    const chain = createChain({ count: 3, from: 1 })
    const liar = await openTestGenerator(t, 'liar', chain)
    const forged = chain.map((block) => {
      const { cids, hash, body } = sealBlock(block, mallory, network)
      const seal = signSeal({ network, number: block.number + 7, hash, cids }, mallory)
      return encodeSealedBlock([seal], body)
    })
    for (const [index, bytes] of forged.entries()) {
      const block = liar.chain.get(index + 1)
      assert.ok(block !== undefined)
      liar.chain.set(index + 1, { ...block, bytes })
    }
    const env = { HOST_TRUSTED_SIGNERS: `${liar.signer.identity},${mallory.identity}` }
    const host = await openTestHost(t, { peers: [liar.room.address], env })
    host.pass(60_000)
    const { rule } = await host.captured.line('block rejected')
    assert.equal(rule, 'sealed-documents')
    assert.deepEqual(storedChain(host.reader), [])
  })
})

/** A body whose one chunk unpacks to 100 MiB and says that it unpacks to `rawBytes`. */
function bombBody(bomb: Uint8Array, rawBytes: number): Uint8Array {
  const out = createByteWriter(1024)
  writeHeader(out, {
    totalDifficulty: null,
    logsPerTransaction: [],
    entriesPerTransaction: [],
    counts: { Block: 1, Transaction: 0, AccessListEntry: 0, Log: 0 },
    chunks: {
      Block: [{ length: 1, rawBytes, stored: bomb }],
      Transaction: [],
      AccessListEntry: [],
      Log: [],
    },
  })
  return Buffer.concat([out.bytes.subarray(0, out.at), bomb])
}
