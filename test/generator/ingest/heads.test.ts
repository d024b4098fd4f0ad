/**
 * The heads that ingest signs between a real store and a node that grows, leaves and changes branches.
 * Times are scaled: what takes 15 seconds takes 60 milliseconds here.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ChainBlock, createChain, forkChain } from '../../support/chain/block-factory.ts'
import type { GeneratedNode } from '../../support/chain/generated-node.ts'
import { testSigner } from '../../support/chain/sealed-blocks.ts'
import { signHead } from '../../support/chain/signed-heads.ts'
import { ingestSetting } from '../support/running-ingest.ts'

const timing = { apartMs: 2, everyMs: 60, confirmedForMs: 60, askNodeMs: 5 }
const hashOf = (block: ChainBlock | undefined): string => block?.hash ?? assert.fail('no block')

/** The node answers errors from now on; resolves when it was asked so many times. */
async function leave(node: GeneratedNode, times: number): Promise<void> {
  let left = times
  await new Promise<void>((resolve) => {
    node.change(() => {
      if (--left === 0) resolve()
      return { error: { code: -32000, message: 'away' } }
    })
  })
}

describe('a head', () => {
  test('is handed out before the block that it is about, and both are on the disk', async (t) => {
    const chain = createChain({ from: 0, count: 9 })
    const { store, node, run } = await ingestSetting(t, chain.slice(0, 8))
    await store.adoptGenesis(hashOf(chain[0]))
    // Neither waits for a former head nor has to be confirmed again, however slow the machine is.
    const running = run({
      timing: { ...timing, apartMs: 0, everyMs: 60_000, confirmedForMs: 60_000 },
    })
    await running.head(({ number }) => number === 7)
    await running.sealed(hashOf(chain[7]))
    node.show(chain)
    const head = await running.head(({ number }) => number === 8)
    await running.sealed(hashOf(chain[8]))
    const of8 = running.reported.filter((each) => each.endsWith(' 8'))
    assert.deepEqual(of8.slice(0, 2), ['head 8', 'sealed 8'])
    assert.deepEqual([head.hash, head.nodeHeight], [chain[8]?.hash, 8])
    assert.equal(head.genesisHash, chain[0]?.hash)
    const { length } = running.heads
    assert.equal(await running.metric('viewmesh_generator_heads_total'), length)
  })

  test('goes out while a Generator catches up, and says how far its node is', async (t) => {
    const chain = createChain({ from: 0, count: 60 })
    const { run } = await ingestSetting(t, chain)
    const running = run({ timing })
    const head = await running.head(({ number }) => number > 5 && number < 55)
    assert.equal(head.nodeHeight, 59)
  })

  test('is signed again while no block comes, and never once the node is away', async (t) => {
    const chain = createChain({ from: 0, count: 4 })
    const { node, run } = await ingestSetting(t, chain)
    const running = run({ timing })
    await running.sealed(hashOf(chain[3]))
    const { length } = running.heads
    await running.head(() => running.heads.length > length + 3)
    await leave(node, 80)
    const before = running.heads.length
    await leave(node, 40)
    assert.equal(running.heads.length, before)
    node.change(() => undefined)
    await running.head(() => running.heads.length > before)
  })

  test('of what a former run stored waits until the node confirms it', async (t) => {
    const chain = createChain({ from: 0, count: 4 })
    const { node, run } = await ingestSetting(t, chain)
    const first = run({ timing })
    const { sequence } = await first.head(({ number }) => number === 3)
    await first.stop()
    const away = leave(node, 40)
    const second = run({ timing })
    await away
    assert.deepEqual(second.heads, [])
    node.change(() => undefined)
    const head = await second.head(() => true)
    assert.equal(head.number, 3)
    assert.ok(head.sequence > sequence)
  })

  test('is not signed before block 0 is known', async (t) => {
    const chain = createChain({ from: 0, count: 9 })
    const { node, run } = await ingestSetting(t, chain)
    node.change((_, param) => (param === '0x0' ? { result: null } : undefined))
    const running = run({ timing, startHeight: { kind: 'at', height: 5 } })
    await running.sealed(hashOf(chain[8]))
    assert.deepEqual(running.heads, [])
    node.change(() => undefined)
    assert.equal((await running.head(() => true)).number, 8)
  })
})

describe('a reorganisation', () => {
  for (const [depth, startHeight] of [
    [1, 20],
    [3, 0],
    [4, 18],
  ])
    test(`of ${depth} blocks from height ${startHeight} leaves no head on a removed block`, async (t) => {
      const chain = createChain({ from: 0, count: 21 })
      const { node, run } = await ingestSetting(t, chain)
      const running = run({ timing, startHeight: { kind: 'at', height: startHeight ?? 0 } })
      await running.head(({ hash }) => hash === chain[20]?.hash)
      const fork = forkChain(chain, 20 - (depth ?? 0), { count: (depth ?? 0) + 1 })
      node.show(fork)
      await running.head(({ hash }) => hash === fork.at(-1)?.hash)
      const left = running.heads.findLastIndex(({ hash }) => hash === chain[20]?.hash)
      const common = new Set(fork.map(({ hash }): string => hash))
      assert.ok(running.heads.slice(left + 1).every(({ hash }) => common.has(hash)))
    })

  test('that no new head announces is noticed when the node is asked for the block', async (t) => {
    const chain = createChain({ from: 0, count: 6 })
    const { node, run } = await ingestSetting(t, chain)
    const running = run({ timing }, { pollIntervalMs: 600_000 })
    await running.head(({ hash }) => hash === chain[5]?.hash)
    const fork = forkChain(chain, 3, { count: 2 })
    node.show(fork)
    await running.head(({ hash }) => hash === fork[5]?.hash)
  })
})

test('heads of our key that are newer again and again end ingest', async (t) => {
  const chain = createChain({ from: 0, count: 5 })
  const { run } = await ingestSetting(t, chain)
  const running = run({ timing: { ...timing, foreignHeadsApartMs: 0 } })
  let { sequence } = await running.head(({ number }) => number === 4)
  const signer = testSigner('ingest')
  for (let number = 5; number < 8; number++) {
    sequence += 1_000
    running.foundHead(signHead(signer, { number, sequence, genesisHash: hashOf(chain[0]) }))
  }
  await assert.rejects(running.ended, { code: 'GENERATOR_KEY_RUNS_TWICE' })
})
