/**
 * Peers that send what they should not. Of each kind: what the log says, what is counted, that the
 * sender is cut off after four of them, and that an honest block arrives meanwhile.
 */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { zstdCompressSync } from 'node:zlib'
import type { RuleName } from '../../src/host/verify.ts'
import { encodeBody } from '../../src/primitives/body.ts'
import { writeHeader } from '../../src/primitives/body-header.ts'
import { createWriter } from '../../src/primitives/cbor.ts'
import { encodeSealedBlock } from '../../src/primitives/sealed-block.ts'
import { type ChainBlock, createChain, shapes } from '../support/block-factory.ts'
import { openRoom, type TestRoom, until } from '../support/p2p-room.ts'
import { sealBlock, signSeal, testSigner } from '../support/sealed-blocks.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { openTestGenerator, type TestGenerator } from '../support/test-generator.ts'
import { openTestHost, type TestHost } from '../support/test-host.ts'
import { storedChain } from '../support/test-store.ts'

const network = 'Local__Devnet'
const mallory = testSigner('mallory', 'Ed25519')
const random = createSeededRandom('hostile')

interface Scene {
  readonly chain: readonly ChainBlock[]
  readonly honest: TestGenerator
  readonly host: TestHost
  readonly hostile: TestRoom
}

/** A Host with five blocks of an honest Generator, and a peer that wants no good. */
async function openScene(t: TestContext): Promise<Scene> {
  const chain = createChain({ count: 6, from: 1, shape: shapes.tiny })
  const honest = await openTestGenerator(t, 'honest', chain.slice(0, 5))
  const hostile = await openRoom(t, { options: { network }, limits: { maxGossipBytes: 3 << 20 } })
  const host = await openTestHost(t, { peers: [honest.room.address, hostile.address] })
  await host.reached(5)
  for (const room of [honest.room, hostile])
    await until(() => room.p2p.peers().some(({ id, subscribed }) => id === host.id && subscribed))
  return { chain, honest, host, hostile }
}

/** Sends the four messages, and an honest block between; asserts what the Host made of them. */
async function assertCutOff(
  { chain, honest, host, hostile }: Scene,
  messages: readonly Uint8Array[],
  rule: RuleName | null,
): Promise<void> {
  const [first, ...rest] = messages
  assert.equal(messages.length, 4)
  await hostile.p2p.publish(first ?? new Uint8Array())
  await host.captured.line('peer fault')
  await honest.publish(chain.slice(5))
  for (const message of rest) await hostile.p2p.publish(message)
  await host.reached(6)
  const banned = await host.captured.line('peer disconnected and banned')
  assert.equal(banned['peer'], hostile.id)
  assert.ok(!host.mesh.p2p.peers().some(({ id }) => id === hostile.id))
  assert.ok(host.mesh.p2p.peers().some(({ id }) => id === honest.room.id))
  assert.deepEqual(
    storedChain(host.reader),
    chain.map(({ number, hash }) => [number, hash]),
  )
  if (rule === null) return
  const rejected = await host.captured.line('block rejected')
  assert.deepEqual(
    [rejected['level'], rejected['peer'], rejected['rule']],
    ['warn', hostile.id, rule],
  )
  const metric = await host.registry.getSingleMetricAsString('viewmesh_host_broken_rules_total')
  assert.match(metric, new RegExp(`rule="${rule}"\\} 4`))
}

const four = <T>(make: (index: number) => T): T[] => [0, 1, 2, 3].map(make)

/** Blocks that could be next, each with another hash. */
const nextBlocks = (chain: readonly ChainBlock[]): ChainBlock[] =>
  four((index) => {
    const [block] = createChain({ seed: `next-${index}`, count: 1, parent: chain[4] as ChainBlock })
    assert.ok(block !== undefined)
    return block
  })

describe('a hostile peer on gossip', () => {
  test('garbage', async (t) => {
    const scene = await openScene(t)
    await assertCutOff(
      scene,
      four(() => random.bytes(200)),
      'well-formed',
    )
  })

  test('a wrong signature', async (t) => {
    const scene = await openScene(t)
    const messages = nextBlocks(scene.chain).map((block) => {
      const { seal, body } = sealBlock(block, mallory, network)
      return encodeSealedBlock([{ ...seal, signatureValue: mallory.sign(random.bytes(32)) }], body)
    })
    await assertCutOff(scene, messages, 'valid-signature')
  })

  test('an altered document', async (t) => {
    const scene = await openScene(t)
    const messages = nextBlocks(scene.chain).map((block) => {
      const { seal, documents } = sealBlock(block, mallory, network)
      const [log, ...others] = documents.documents.Log
      assert.ok(log !== undefined)
      const altered = { ...log, values: [random.hex(20), ...log.values.slice(1)] }
      const changed = { ...documents.documents, Log: [altered, ...others] }
      return encodeSealedBlock([seal], encodeBody({ ...documents, documents: changed }).body)
    })
    await assertCutOff(scene, messages, 'sealed-documents')
  })

  test('a decompression bomb', async (t) => {
    const scene = await openScene(t)
    const bomb = zstdCompressSync(Buffer.alloc(300 * 1024 * 1024))
    const messages = nextBlocks(scene.chain).map((block, index) => {
      const { seal } = sealBlock(block, mallory, network)
      const rawBytes = index % 2 === 0 ? 300 * 1024 * 1024 : 1000
      return encodeSealedBlock([seal], bombBody(bomb, rawBytes))
    })
    await assertCutOff(scene, messages, 'sound-documents')
  })

  test('a block whose parent does not exist', async (t) => {
    const scene = await openScene(t)
    const messages = four((index) => {
      const [block] = createChain({ seed: `alone-${index}`, count: 1, from: 6 })
      assert.ok(block !== undefined)
      return sealBlock(block, mallory, network).bytes
    })
    await assertCutOff(scene, messages, null)
    const fault = await scene.host.captured.line('peer fault')
    assert.match(String(fault['detail']), /wrong parent/)
    const metric = await scene.host.registry.getSingleMetricAsString('viewmesh_host_messages_total')
    assert.match(metric, /via="gossip",outcome="incomplete"\} 4/)
  })

  test('more than a message may be long', async (t) => {
    const scene = await openScene(t)
    const { host, hostile, honest, chain } = scene
    await hostile.p2p.publish(random.bytes(2 << 20))
    const fault = await host.captured.line('peer fault')
    assert.deepEqual([fault['peer'], fault['fault']], [hostile.id, 'oversize message'])
    await honest.publish(chain.slice(5))
    await host.reached(6)
    assert.equal(await host.captured.line('peer disconnected').then(({ peer }) => peer), hostile.id)
  })

  test('one valid seal cannot move the end of the chain away', async (t) => {
    const { chain, honest, host, hostile } = await openScene(t)
    const [far] = createChain({ count: 1, from: 2 ** 40 })
    assert.ok(far !== undefined)
    await hostile.p2p.publish(sealBlock(far, mallory, network).bytes)
    await honest.publish(chain.slice(5))
    await host.reached(6)
    assert.equal(storedChain(host.reader).length, 6)
  })
})

describe('a hostile peer that is asked for blocks', () => {
  test('is left for another one, and what it sent is not kept', async (t) => {
    const chain = createChain({ count: 100, from: 1, shape: shapes.empty })
    const liar = await openTestGenerator(t, 'liar', chain)
    for (const block of liar.chain.values())
      liar.chain.set(block.number, { ...block, bytes: Uint8Array.from(random.bytes(300)) })
    const host = await openTestHost(t, { peers: [liar.room.address] })
    await host.captured.line('block rejected')
    const honest = await openTestGenerator(t, 'honest', chain)
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
    const host = await openTestHost(t, { peers: [liar.room.address] })
    const { rule } = await host.captured.line('block rejected')
    assert.equal(rule, 'sealed-documents')
    assert.deepEqual(storedChain(host.reader), [])
  })
})

/** A body whose one chunk unpacks to 300 MiB and says that it unpacks to `rawBytes`. */
function bombBody(bomb: Uint8Array, rawBytes: number): Uint8Array {
  const out = createWriter(1024)
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
