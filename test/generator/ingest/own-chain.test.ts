/** The writes of the own chain, against a store whose writes the test ends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Registry } from 'prom-client'
import { createIngestMetrics } from '../../../src/generator/ingest/ingest-metrics.ts'
import { openOwnChain } from '../../../src/generator/ingest/own-chain.ts'
import { prepareBlock } from '../../../src/generator/ingest/prepare-block.ts'
import { createSealer } from '../../../src/generator/ingest/sealer.ts'
import { encodeBlock } from '../../../src/generator/read/encode-block.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import { testNetwork, testSigner } from '../../support/chain/sealed-blocks.ts'
import { openTestStore } from '../../support/test-store.ts'

const signer = testSigner('own-chain')
const blocks = createChain({ count: 130 }).map((source) =>
  prepareBlock(encodeBlock(testNetwork, source)),
)

interface Opened {
  readonly chain: ReturnType<typeof openOwnChain>
  readonly sealed: number[]
  readonly failures: unknown[]
  /** Calls of the signer of heads, but for sealed blocks. */
  readonly calls: string[]
}

function open(store: StoreWriter, maxWrites = 4): Opened {
  const sealed: number[] = []
  const failures: unknown[] = []
  const calls: string[] = []
  const chain = openOwnChain(
    { identity: signer.identity, maxWrites },
    {
      store,
      heads: {
        sealed: async () => undefined,
        suspend: () => void calls.push('suspend'),
        resume: () => void calls.push('resume'),
      },
      seal: createSealer(testNetwork, { signer, nowMs: () => 1_000 }),
      metrics: createIngestMetrics(new Registry()),
      onSealed: ({ number }) => void sealed.push(number),
      onFailure: (error) => void failures.push(error),
    },
  )
  return { chain, sealed, failures, calls }
}

test('the store is pruned after every 64 blocks', async (t) => {
  const store = await openTestStore(t)
  let prunes = 0
  const prune: StoreWriter['prune'] = () => {
    prunes += 1
    return store.prune()
  }
  const { chain, sealed, failures } = open({ ...store, prune })
  const pruned: number[] = []
  for (const block of blocks) {
    await chain.add(block, 0)
    await chain.drain()
    if (prunes > pruned.length) pruned.push(block.header.number)
  }
  assert.deepEqual([pruned, sealed.length, failures], [[64, 128], 130, []])
})

test('a block is ours when it is handed over, and waits while too many are written', async (t) => {
  const store = await openTestStore(t)
  const gate = Promise.withResolvers<void>()
  const putBlock: StoreWriter['putBlock'] = async (block) => {
    await gate.promise
    await store.putBlock(block)
  }
  const { chain, sealed } = open({ ...store, putBlock }, 2)
  assert.equal(chain.tip(), null)
  const [first, second] = blocks
  assert.ok(first !== undefined && second !== undefined)
  await chain.add(first, 0)
  let isTaken = false
  const added = chain.add(second, 0).then(() => {
    isTaken = true
  })
  await setImmediate()
  assert.deepEqual([isTaken, chain.range(), sealed], [false, null, []])
  assert.deepEqual(chain.tip(), { number: 2, hash: second.header.hash })
  assert.deepEqual([1, 2, 3].map(chain.hashAt), [first.header.hash, second.header.hash, undefined])
  gate.resolve()
  await added
  await chain.drain()
  assert.deepEqual([isTaken, chain.range(), sealed], [true, { tail: 1, head: 2 }, [1, 2]])
})

test('a write that fails is reported', async (t) => {
  const store = await openTestStore(t)
  const failure = new Error('the disk is full')
  const { chain, failures, sealed } = open({
    ...store,
    putBlock: () => Promise.reject(failure),
    putSeals: async () => undefined,
  })
  const [first] = blocks
  assert.ok(first !== undefined)
  await chain.add(first, 0)
  await assert.rejects(chain.drain(), failure)
  assert.deepEqual([failures, sealed], [[failure], []])
})

test('blocks of an earlier run that have no seal get one, and are counted', async (t) => {
  const store = await openTestStore(t)
  for (const block of blocks.slice(0, 3)) await store.putBlock(block)
  const { chain, sealed } = open(store)
  assert.deepEqual(chain.tip(), { number: 3, hash: blocks[2]?.header.hash })
  assert.equal(await chain.sealRest(), 3)
  assert.deepEqual(sealed, [1, 2, 3])
  assert.equal(await chain.sealRest(), 0)
})

for (const how of ['removed', 'replaced'] as const)
  test(`no head is signed while blocks are ${how}, which waits for the writes before`, async (t) => {
    const store = await openTestStore(t)
    const done: string[] = []
    const gate = Promise.withResolvers<void>()
    const { chain, calls, sealed } = open({
      ...store,
      async putBlock(block) {
        await gate.promise
        await store.putBlock(block)
        done.push('put', ...calls)
      },
      async truncateAbove(height) {
        done.push('removed', ...calls)
        await store.truncateAbove(height)
      },
      async replaceBlocks(...replaced) {
        done.push('replaced', ...calls)
        return await store.replaceBlocks(...replaced)
      },
    })
    const [first, second, third] = blocks
    assert.ok(first !== undefined && second !== undefined && third !== undefined)
    for (const block of [first, second, third]) await chain.add(block, 0)
    const changing = how === 'removed' ? chain.truncateAbove(1) : chain.beginAgain(first)
    gate.resolve()
    await changing
    assert.deepEqual(done, ['put', 'put', 'put', how, 'suspend'])
    assert.deepEqual(calls, ['suspend', 'resume'])
    assert.deepEqual(chain.range(), { tail: 1, head: 1 })
    assert.deepEqual(chain.tip(), { number: 1, hash: first.header.hash })
    assert.deepEqual(sealed, [1, 2, 3, ...(how === 'replaced' ? [1] : [])])
  })
