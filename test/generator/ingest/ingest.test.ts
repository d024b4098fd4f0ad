/** The ingest loop between a real store and a node that grows, stumbles and changes branches. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServiceError } from '../../../src/errors.ts'
import { prepareBlock } from '../../../src/generator/ingest/prepare-block.ts'
import { encodeBlock } from '../../../src/generator/read/encode-block.ts'
import { openBody } from '../../../src/primitives/body/body.ts'
import { blockSections } from '../../../src/primitives/collections.ts'
import type { Seal } from '../../../src/primitives/seal.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { assertExplained } from '../../docs/support/explained.ts'
import { type ChainBlock, createChain, forkChain } from '../../support/chain/block-factory.ts'
import type { GeneratedNode } from '../../support/chain/generated-node.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { assertStored, ingestSetting } from '../support/running-ingest.ts'

const sealsAt = (store: StoreWriter, block: ChainBlock | undefined): readonly Seal[] =>
  store.reader.read((snapshot) => snapshot.sealsOf(block?.hash ?? ''))

/**
 * Service page: "BlockSignature absent | Generator writing a block | all documents of the block have
 * landed | BlockSignature written".
 */
test('a block is sealed once all its documents are stored, from the start height on', async (t) => {
  const chain = createChain({ count: 20 })
  const { store, node, run } = await ingestSetting(t, chain.slice(0, 15))
  const running = run()
  await running.sealed(chain[14]?.hash)
  node.show(chain)
  await running.sealed(chain[19]?.hash)
  assertStored(store, chain)
})

test('what was sealed is counted: blocks, documents by collection, the height, seconds by stage', async (t) => {
  const chain = createChain({ count: 5 })
  const { run } = await ingestSetting(t, chain)
  const { sealed, metric } = run()
  await sealed(chain[4]?.hash)
  const { counts } = openBody(
    prepareBlock(encodeBlock(testNetwork, chain[0] ?? assert.fail())).body,
  )
  for (const collection of blockSections)
    assert.equal(
      await metric('viewmesh_generator_documents_total', { collection }),
      5 * counts[collection],
    )
  assert.equal(await metric('viewmesh_generator_blocks_total'), 5)
  assert.equal(await metric('viewmesh_generator_sealed_height'), 5)
  for (const stage of ['prepare', 'commit'])
    assert.equal(await metric('viewmesh_generator_stage_seconds_count', { stage }), 5)
  assert.equal(await metric('viewmesh_generator_reorganisations_total'), 0)
})

test('blocks that follow one another are taken without a pause', async (t) => {
  const chain = createChain({ count: 3 })
  const { run } = await ingestSetting(t, chain)
  const hourMs = 3_600_000
  await run({ backoff: { minMs: hourMs, maxMs: hourMs } }).sealed(chain[2]?.hash)
})

test('an empty store starts N behind the head for -N', async (t) => {
  const chain = createChain({ count: 20 })
  const { store, run } = await ingestSetting(t, chain)
  await run({ startHeight: { kind: 'behind', blocks: 4 } }).sealed(chain[19]?.hash)
  assertStored(store, chain.slice(15))
})

test('a restart continues after the last block at any start height and seals nothing twice', async (t) => {
  const chain = createChain({ count: 12 })
  const { store, node, run } = await ingestSetting(t, chain.slice(0, 6))
  const first = run()
  await first.sealed(chain[5]?.hash)
  await first.stop()
  const before = chain.slice(0, 6).map((block) => sealsAt(store, block))
  node.show(chain)
  const asked = node.asked.length
  await run({ startHeight: { kind: 'at', height: 9 } }).sealed(chain[11]?.hash)
  assertStored(store, chain)
  assert.deepEqual(
    chain.slice(0, 6).map((block) => sealsAt(store, block)),
    before,
  )
  const receipts = node.asked.slice(asked).filter((name) => name === 'eth_getTransactionReceipt')
  assert.equal(receipts.length, 12, 'two for each of the six new blocks, none for the old ones')
})

test('a block that was stored but not sealed when the program died is sealed at the start', async (t) => {
  const chain = createChain({ count: 3 })
  const { store, run } = await ingestSetting(t, chain)
  for (const source of chain) await store.putBlock(prepareBlock(encodeBlock(testNetwork, source)))
  const running = run()
  await running.sealed(chain[2]?.hash)
  assertStored(store, chain)
})

test('on a reorganisation the orphaned blocks are removed and the canonical ones sealed', async (t) => {
  const chain = createChain({ count: 10 })
  const { store, node, run } = await ingestSetting(t, chain)
  const running = run()
  await running.sealed(chain[9]?.hash)
  const fork = forkChain(chain, 6, { count: 6 })
  node.show(fork)
  await running.sealed(fork.at(-1)?.hash)
  assertStored(store, fork)
  const line = running.log.lines.find(({ level }) => level === 'warn')
  assert.deepEqual(
    [line?.msg, line?.['common'], line?.['removed']],
    ['node changed branches, removed blocks it left', 6, 4],
  )
  assert.equal(await running.metric('viewmesh_generator_reorganisations_total'), 1)
  assert.equal(await running.metric('viewmesh_generator_removed_blocks_total'), 4)
})

test('another head at the same height, or a lower one, is a reorganisation too', async (t) => {
  const chain = createChain({ count: 10 })
  const { store, node, run } = await ingestSetting(t, chain)
  const running = run()
  await running.sealed(chain[9]?.hash)
  for (const [common, count] of [
    [9, 1],
    [6, 2],
  ] as const) {
    const fork = forkChain(chain, common, { count, seed: `fork ${common}` })
    node.show(fork)
    await running.sealed(fork.at(-1)?.hash)
    assertStored(store, fork)
  }
})

test('when a branch returns its old seals are used again', async (t) => {
  const chain = createChain({ count: 8 })
  const { store, node, run } = await ingestSetting(t, chain)
  const running = run()
  await running.sealed(chain[7]?.hash)
  const before = chain.map((block) => sealsAt(store, block))
  const fork = forkChain(chain, 5, { count: 3 })
  node.show(fork)
  await running.sealed(fork.at(-1)?.hash)
  assert.deepEqual(sealsAt(store, chain[7]), before[7], 'kept while the block is orphaned')
  const longer = [
    ...chain,
    ...createChain({ seed: 'on', count: 1, parent: chain[7] as ChainBlock }),
  ]
  node.show(longer)
  await running.sealed(longer.at(-1)?.hash)
  assertStored(store, longer)
  assert.deepEqual(
    chain.map((block) => sealsAt(store, block)),
    before,
  )
})

test('a reorganisation of 64 blocks while the program was stopped is followed at the start', async (t) => {
  const chain = createChain({ count: 70 })
  const { store, node, run } = await ingestSetting(t, chain)
  const first = run()
  await first.sealed(chain[69]?.hash)
  await first.stop()
  const fork = forkChain(chain, 6, { count: 66 })
  node.show(fork)
  await run().sealed(fork.at(-1)?.hash)
  assertStored(store, fork)
})

test('a node that is behind is waited for; nothing is removed', async (t) => {
  const chain = createChain({ count: 12 })
  const { store, node, run } = await ingestSetting(t, chain.slice(0, 10))
  const first = run()
  await first.sealed(chain[9]?.hash)
  await first.stop()
  node.show(chain.slice(0, 5))
  const second = run()
  await second.log.line('continues after the last stored block')
  assertStored(store, chain.slice(0, 10))
  node.show(chain)
  await second.sealed(chain[11]?.hash)
  assertStored(store, chain)
})

test('a node that is below everything stored at the start is reported once', async (t) => {
  const chain = createChain({ from: 0, count: 30 })
  const { node, run } = await ingestSetting(t, chain)
  const startHeight = { kind: 'at', height: 20 } as const
  const first = run({ startHeight })
  await first.sealed(chain[29]?.hash)
  await first.stop()
  node.show(chain.slice(0, 5))
  const second = run({ startHeight })
  await second.log.line('continues after the last stored block')
  await askedForHead(node, 10)
  assert.deepEqual(second.log.messages('warn'), [
    'execution node is behind everything stored, waits until it has caught up',
  ])
})

test('block 0 of a node that is below everything stored is not taken for that of the store', async (t) => {
  const chain = createChain({ from: 0, count: 30 })
  const { store, node, run } = await ingestSetting(t, chain.slice(0, 5))
  for (const source of chain.slice(20))
    await store.putBlock(prepareBlock(encodeBlock(testNetwork, source)))
  const running = run()
  await running.log.line('continues after the last stored block')
  await askedForHead(node, 10)
  await store.flushed()
  assert.equal(store.genesisHash(), null)
})

/** Resolves when a node was asked for its head so many times more. */
async function askedForHead(node: GeneratedNode, times: number): Promise<void> {
  let left = times
  await new Promise<void>((resolve) => {
    node.change((_, param) => {
      if (param === 'latest' && --left === 0) resolve()
      return undefined
    })
  })
}

test('a node with none of the stored blocks ends ingest: Genesis changed, and what to do', async (t) => {
  const chain = createChain({ count: 5 })
  const { store, node, run } = await ingestSetting(t, chain)
  const first = run()
  await first.sealed(chain[4]?.hash)
  await first.stop()
  node.show(createChain({ seed: 'another', count: 9 }))
  await assert.rejects(run().ended, {
    code: 'GENERATOR_CHAIN_CHANGED',
    message: /^Genesis changed: .*1 to 5/,
    remedy: /NODE_RPC_URL.*DB_STORE_PATH/,
  })
  assertStored(store, chain)
})

test('a node below everything stored is awaited on the same block 0, and ends ingest on another', async (t) => {
  const chain = createChain({ from: 0, count: 30 })
  const { store, node, run } = await ingestSetting(t, chain)
  const startHeight = { kind: 'at', height: 20 } as const
  const running = run({ startHeight })
  await running.sealed(chain[29]?.hash)
  assert.equal(await running.genesis, chain[0]?.hash)
  node.show(chain.slice(0, 5))
  const { msg: message } = await running.log.line(
    'execution node is behind everything stored, waits until it has caught up',
  )
  assertExplained({ message })
  const longer = [
    ...chain,
    ...createChain({ seed: 'on', count: 1, parent: chain[29] as ChainBlock }),
  ]
  node.show(longer)
  await running.sealed(longer[30]?.hash)
  node.show(createChain({ seed: 'another', from: 0, count: 5 }))
  await assert.rejects(running.ended, (error: ServiceError) => {
    assertExplained(error)
    assert.match(error.message, /^Genesis changed: .*20 to 30/)
    return error.code === 'GENERATOR_CHAIN_CHANGED'
  })
  assertStored(store, longer.slice(20))
})

test('a response that cannot be turned into documents is requested again', async (t) => {
  const chain = createChain({ count: 3 })
  const { store, node, run } = await ingestSetting(t, chain)
  let bad = 3
  node.change((method, param) => {
    const source = chain.find(({ number }) => number === Number(param))
    if (method !== 'eth_getBlockByNumber' || source?.number !== 2 || bad-- <= 0) return undefined
    return { result: { ...source.block, uncles: ['not a hash'] } }
  })
  const running = run()
  await running.sealed(chain[2]?.hash)
  assertStored(store, chain)
  assert.deepEqual(running.log.messages('warn'), ['block cannot be read, retries'])
})

test('a node whose blocks do not follow one another is reported once, until they do', async (t) => {
  const chain = createChain({ count: 5 })
  const { store, node, run } = await ingestSetting(t, chain)
  const other = forkChain(chain, 1, { count: 2 }).at(-1) ?? assert.fail('no block')
  assert.equal(other.number, 3)
  let times = 0
  const many = Promise.withResolvers<void>()
  node.change((method, param) => {
    const result =
      method === 'eth_getTransactionReceipt'
        ? other.receipts.find(({ transactionHash }) => transactionHash === param)
        : undefined
    if (result !== undefined) return { result }
    if (method !== 'eth_getBlockByNumber' || param !== '0x3') return undefined
    if (++times === 10) many.resolve()
    return { result: other.block }
  })
  const running = run()
  await many.promise
  node.change(() => undefined)
  await running.sealed(chain[4]?.hash)
  assertStored(store, chain)
  const warnings = running.log.lines.filter(({ level }) => level === 'warn')
  assert.deepEqual(
    warnings.map(({ msg, height }) => [msg, height]),
    [['node returns blocks that do not follow one another, retries', 3]],
  )
})

test('exactly the newest blocks are visible when old ones are pruned', async (t) => {
  const chain = createChain({ count: 30 })
  const { store, run } = await ingestSetting(t, chain, 10)
  await run().sealed(chain[29]?.hash)
  assertStored(store, chain.slice(20))
})
