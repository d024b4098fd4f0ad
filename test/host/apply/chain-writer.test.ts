/** What is written of the chain, and what is reported of each write. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ChainWriter, createChainWriter } from '../../../src/host/apply/chain-writer.ts'
import type { Stored } from '../../../src/host/apply/outcome.ts'
import type { WaitingBlock } from '../../../src/host/apply/waiting-blocks.ts'
import type { SealedBlockToStore } from '../../../src/store/store.ts'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import { sealBlock, testNetwork } from '../../support/chain/sealed-blocks.ts'
import { alice, at } from './open-applier.ts'

const sealed = createChain({ count: 2, from: 5, shape: shapes.tiny }).map((one) =>
  sealBlock(one, alice),
)
const waiting = sealed.map(({ number, hash, source: { parentHash }, seal, body }): WaitingBlock => {
  const { merkleRoot: root, cidCount: count } = seal
  return { number, hash, parentHash, root, count, body, documents: null }
})

interface Scene {
  readonly writer: ChainWriter
  readonly stored: readonly Stored[]
  /** What the store was asked for. */
  readonly asked: readonly string[]
  readonly removed: readonly number[]
  readonly failures: readonly unknown[]
}

/** A store that is done with a View by each block that it puts, or fails. */
function openScene(failure: Error | null = null): Scene {
  const stored: Stored[] = []
  const asked: string[] = []
  const removed: number[] = []
  const failures: unknown[] = []
  const textOf = ({ header, seals }: SealedBlockToStore): string =>
    `${header.number} with ${seals.length} seals`
  const writer = createChainWriter(
    { network: testNetwork, maxRawBytes: 1 << 26 },
    {
      store: {
        putSealedBlock: async (block) => {
          if (failure !== null) throw failure
          asked.push(`put ${textOf(block)}`)
          return [{ height: block.header.number, epoch: 0, slots: [7] }]
        },
        replaceBlocks: async (from, to, blocks) => {
          asked.push(`replace ${from} to ${to} by ${blocks.map(textOf)}`)
          return []
        },
      },
      book: {
        takePending: (height) =>
          sealed.flatMap(({ number, seal }) => (number === height ? [seal] : [])),
      },
      waiting: { remove: ({ number }) => void removed.push(number) },
      onStored: (written) => void stored.push(written),
      onFailure: (error) => void failures.push(error),
    },
  )
  return { writer, stored, asked, removed, failures }
}

const taken = { blocks: 2, transactions: 4, logs: 6, accessListEntries: 2, seals: 2 }
const nothing = { blocks: 0, transactions: 0, logs: 0, accessListEntries: 0, seals: 0 }

test('blocks are stored with their seals, wait no longer, and are reported together', async () => {
  const { writer, stored, asked, removed } = openScene()
  writer.write(waiting, null)
  assert.deepEqual([writer.pending.at(5), writer.pending.head(), removed], [waiting[0], 6, [5, 6]])
  await writer.drain()
  await new Promise(setImmediate)
  assert.deepEqual(asked, ['put 5 with 1 seals', 'put 6 with 1 seals'])
  const viewsDone = [5, 6].map((height) => ({ height, epoch: 0, slots: [7] }))
  assert.deepEqual(stored, [{ bottom: 5, top: 6, removed: 0, taken, viewsDone }])
})

test('blocks that give way are removed with what comes, and also where nothing comes yet', async () => {
  const { writer, stored, asked } = openScene()
  writer.write(waiting, { from: 5, to: 9, depth: 4 })
  writer.write([], { from: 3, to: 6, depth: 3 })
  writer.write([], { from: 0, to: 2, depth: 1 })
  await writer.drain()
  await new Promise(setImmediate)
  assert.deepEqual(asked, [
    'replace 5 to 9 by 5 with 1 seals,6 with 1 seals',
    'replace 3 to 6 by ',
    'replace 0 to 2 by ',
  ])
  assert.deepEqual(stored, [
    { bottom: 5, top: 6, removed: 4, taken, viewsDone: [] },
    { bottom: 3, top: 2, removed: 3, taken: nothing, viewsDone: [] },
    { bottom: 0, top: -1, removed: 1, taken: nothing, viewsDone: [] },
  ])
})

test('a write that fails is reported as such, and not as stored', async () => {
  const failure = new Error('no room')
  const { writer, stored, failures } = openScene(failure)
  writer.write(waiting, null)
  await assert.rejects(writer.drain(), failure)
  await new Promise(setImmediate)
  assert.deepEqual([stored, failures], [[], [failure]])
})

test('a block without its bytes is not stored', () => {
  const { writer, asked } = openScene()
  assert.throws(() => writer.write([{ ...at(waiting, 0), body: null }], null), {
    message: 'a block without its bytes is not stored',
  })
  assert.deepEqual(asked, [])
})
