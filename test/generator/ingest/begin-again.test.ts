/** What ingest does about a node that shares no stored block any more, or does not say: it loses nothing that is canonical. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { prepareBlock } from '../../../src/generator/ingest/prepare-block.ts'
import { encodeBlock } from '../../../src/generator/read/encode-block.ts'
import { type ChainBlock, createChain, forkChain } from '../../support/chain/block-factory.ts'
import type { GeneratedNode } from '../../support/chain/generated-node.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { assertStored, ingestSetting } from '../support/running-ingest.ts'

const hashOf = (block: ChainBlock | undefined): string => block?.hash ?? assert.fail('no block')

/** Shows `next` at the moment the node is asked for block 0 the `times`th time from now. */
function showAtGenesis(node: GeneratedNode, times: number, next: readonly ChainBlock[]): void {
  let left = times
  node.change((_, param) => {
    if (param === '0x0' && --left === 0) node.show(next)
    return undefined
  })
}

describe('a reorganisation that leaves no stored block common', () => {
  test('of one block, where one is stored', async (t) => {
    const chain = createChain({ from: 0, count: 11 })
    const { store, node, run } = await ingestSetting(t, chain)
    const running = run({ startHeight: { kind: 'behind', blocks: 0 } })
    await running.sealed(hashOf(chain[10]))
    await running.genesis
    const fork = forkChain(chain, 9, { count: 2 })
    node.show(fork)
    await running.sealed(hashOf(fork[11]))
    assertStored(store, fork.slice(10))
    assert.deepEqual(running.log.messages('warn'), [
      'node changed branches below everything stored, begins again',
    ])
    assert.equal(await running.metric('viewmesh_generator_removed_blocks_total'), 1)
  })

  test('of one block, to another one of the same height', async (t) => {
    const chain = createChain({ from: 0, count: 11 })
    const { store, node, run } = await ingestSetting(t, chain)
    const running = run({ startHeight: { kind: 'behind', blocks: 0 } })
    await running.sealed(hashOf(chain[10]))
    await running.genesis
    const fork = forkChain(chain, 9, { count: 1 })
    node.show(fork)
    await running.sealed(hashOf(fork[10]))
    assertStored(store, fork.slice(10))
  })

  test('of more blocks than are kept', async (t) => {
    const chain = createChain({ from: 0, count: 40 })
    const { store, node, run } = await ingestSetting(t, chain, 10)
    const running = run({ startHeight: { kind: 'at', height: 0 } })
    await running.sealed(hashOf(chain[39]))
    assertStored(store, chain.slice(30))
    const fork = forkChain(chain, 19, { count: 25 })
    node.show(fork)
    await running.sealed(hashOf(fork[44]))
    assertStored(store, fork.slice(35))
    assert.equal(await running.metric('viewmesh_generator_removed_blocks_total'), 10)
  })

  test('while the program was stopped', async (t) => {
    const chain = createChain({ from: 0, count: 12 })
    const { store, node, run } = await ingestSetting(t, chain)
    const startHeight = { kind: 'behind', blocks: 2 } as const
    const first = run({ startHeight })
    await first.sealed(hashOf(chain[11]))
    await first.genesis
    await first.stop()
    const fork = forkChain(chain, 5, { count: 9 })
    node.show(fork)
    await run({ startHeight }).sealed(hashOf(fork[14]))
    assertStored(store, fork.slice(9))
  })

  test('removes nothing before the node has named block 0 and its head twice', async (t) => {
    const chain = createChain({ from: 0, count: 11 })
    const { store, node, run } = await ingestSetting(t, chain)
    const running = run({ startHeight: { kind: 'behind', blocks: 0 } })
    await running.sealed(hashOf(chain[10]))
    await running.genesis
    const longer = [
      ...chain,
      ...createChain({ seed: 'on', count: 1, parent: chain[10] as ChainBlock }),
    ]
    showAtGenesis(node, 1, longer)
    node.show(forkChain(chain, 9, { count: 2 }))
    await running.sealed(hashOf(longer[11]))
    assertStored(store, longer.slice(10))
    assert.equal(await running.metric('viewmesh_generator_reorganisations_total'), 0)
  })

  test('to a chain with another block 0 ends ingest, and what is stored stays', async (t) => {
    const chain = createChain({ from: 0, count: 11 })
    const { store, node, run } = await ingestSetting(t, chain)
    const running = run({ startHeight: { kind: 'behind', blocks: 1 } })
    await running.sealed(hashOf(chain[10]))
    await running.genesis
    const other = createChain({ seed: 'another', from: 0, count: 12 })
    node.show(other)
    await assert.rejects(running.ended, {
      code: 'GENERATOR_CHAIN_CHANGED',
      message: `Genesis changed: block 0 of the execution node is ${hashOf(other[0])}, that of the stored blocks 9 to 10 is ${hashOf(chain[0])}, so it follows another chain.`,
    })
    assertStored(store, chain.slice(9))
  })
})

describe('a provider of several nodes, whose `null` means that one of them is behind', () => {
  test('cuts nothing off when it does not know its own head', async (t) => {
    const chain = createChain({ count: 10 })
    const { store, node, run } = await ingestSetting(t, chain)
    const first = run()
    await first.sealed(hashOf(chain[9]))
    await first.stop()
    node.change((_, param) => (param === '0xa' ? { result: null } : undefined))
    const second = run()
    await second.log.line('continues after the last stored block')
    assertStored(store, chain)
    assert.deepEqual(second.log.messages('warn'), [])
  })

  test('is asked again where it does not say at which block its branch left ours', async (t) => {
    const chain = createChain({ count: 10 })
    const { store, node, run } = await ingestSetting(t, chain)
    const running = run()
    await running.sealed(hashOf(chain[9]))
    const fork = forkChain(chain, 4, { count: 8 })
    let silent = 5
    node.change((_, param) => {
      return param === '0x5' && silent-- > 0 ? { result: null } : undefined
    })
    node.show(fork)
    await running.sealed(hashOf(fork.at(-1)))
    assertStored(store, fork)
    assert.equal(await running.metric('viewmesh_generator_removed_blocks_total'), 6)
  })
})

describe('block 0', () => {
  test('is requested until it is known, and kept', async (t) => {
    const chain = createChain({ from: 0, count: 8 })
    const { store, node, run } = await ingestSetting(t, chain)
    node.change((_, param) => (param === '0x0' ? { result: null } : undefined))
    const running = run({ startHeight: { kind: 'at', height: 4 } })
    await running.sealed(hashOf(chain[7]))
    assert.equal(store.genesisHash(), null)
    node.change(() => undefined)
    assert.equal(await running.genesis, hashOf(chain[0]))
    assert.equal(store.genesisHash(), hashOf(chain[0]))
  })

  test('of another chain ends ingest, also of an empty store that knows its own', async (t) => {
    const chain = createChain({ from: 0, count: 3 })
    const { store, run } = await ingestSetting(t, chain)
    const own = `0x${'ab'.repeat(32)}`
    await store.adoptGenesis(own)
    await assert.rejects(run().ended, {
      code: 'GENERATOR_CHAIN_CHANGED',
      message: `Genesis changed: block 0 of the execution node is ${hashOf(chain[0])}, that of the stored chain is ${own}, so it follows another chain.`,
    })
  })

  test('is not taken from a node that has none of the stored blocks', async (t) => {
    const node = createChain({ seed: 'another', from: 0, count: 9 })
    const { store, run } = await ingestSetting(t, node)
    const chain = createChain({ count: 3 })
    for (const source of chain) await store.putBlock(prepareBlock(encodeBlock(testNetwork, source)))
    await assert.rejects(run().ended, { code: 'GENERATOR_CHAIN_CHANGED' })
    assert.equal(store.genesisHash(), null)
  })
})
