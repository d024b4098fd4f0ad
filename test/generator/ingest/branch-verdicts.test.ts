/** What following the node's branch removes, and when it removes nothing, decided by what the node returns. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ChainHead } from '../../../src/chain/block-reader.ts'
import { followBranch } from '../../../src/generator/ingest/follow-branch.ts'
import type { OwnRange } from '../../../src/generator/ingest/own-chain.ts'
import { prepareBlock } from '../../../src/generator/ingest/prepare-block.ts'
import { type EncodedBlock, encodeBlock } from '../../../src/generator/read/encode-block.ts'
import { captureLog } from '../../support/captured-log.ts'
import { createChain, forkChain } from '../../support/chain/block-factory.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'

const ours = createChain({ from: 0, count: 10 })
const theirs = forkChain(ours, 3, { count: 8 })
const encoded = (block: (typeof ours)[number] | undefined): EncodedBlock =>
  encodeBlock(testNetwork, block ?? assert.fail('no block'))
const hashOf = (block: (typeof ours)[number] | undefined): string =>
  block?.hash ?? assert.fail('no block')

interface Setting {
  /** The stored heights; null for none. */
  readonly stored?: OwnRange | null
  readonly genesisHash?: string | null
  /** Height of the node's head. */
  readonly head: number
  readonly node?: typeof ours
  /** What the node returns at a height the so manieth time, instead of its own block. */
  readonly header?: (height: number, time: number) => ChainHead | null | undefined
  readonly block?: EncodedBlock | null
  readonly signal?: AbortSignal
}

/** The verdict, and all that was done. */
async function follow(setting: Setting): Promise<[verdict: string, ...done: unknown[]]> {
  const { stored = { tail: 5, head: 9 }, genesisHash = hashOf(ours[0]), node = theirs } = setting
  const { log, lines } = captureLog()
  const done: unknown[] = []
  const times = new Map<number, number>()
  const headOf = (height: number): ChainHead => ({
    number: height,
    hash: hashOf(node[height]),
    parentHash: node[height]?.parentHash ?? assert.fail('no block'),
  })
  const verdict = await followBranch(
    { recheckMs: 0 },
    {
      feed: {
        head: async () => headOf(setting.head),
        header: async (height) => {
          const time = (times.get(height) ?? 0) + 1
          times.set(height, time)
          const other = setting.header?.(height, time)
          return other === undefined ? headOf(height) : other
        },
      },
      block: async (height) =>
        setting.block === undefined ? encoded(node[height]) : setting.block,
      own: {
        range: () => stored,
        hashAt: (height) => ours[height]?.hash,
        tip: assert.fail,
        add: assert.fail,
        sealRest: assert.fail,
        truncateAbove: async (height) => void done.push(['truncate above', height]),
        beginAgain: async ({ header }) =>
          void done.push(['begin again', header.number, header.hash]),
        drain: async () => void done.push('drain'),
      },
      genesisHash,
      log,
      metrics: { reorganised: (removed) => void done.push(['removed', removed]) },
    },
    setting.signal ?? new AbortController().signal,
  )
  const facts = lines.map(({ level: _, time: __, ...line }) => line)
  return [verdict, ...done.slice(1), ...facts]
}

const begins = 'node changed branches below everything stored, begins again'
const behind = 'execution node is behind everything stored, waits until it has caught up'

describe('nothing is removed', () => {
  test('where nothing is stored', async () => {
    assert.deepEqual(await follow({ stored: null, head: 9 }), ['same'])
  })

  test('where the node has all stored blocks up to its head', async () => {
    for (const head of [5, 7, 9]) assert.deepEqual(await follow({ head, node: ours }), ['same'])
  })

  test('where the head of the node is below everything stored, of whatever branch', async () => {
    for (const genesisHash of [hashOf(ours[0]), null])
      assert.deepEqual(await follow({ head: 4, genesisHash }), [
        'unknown',
        { head: 4, height: 9, msg: behind },
      ])
  })

  test('where the node does not return the same head and block 0 twice', async () => {
    const other = { number: 0, hash: `0x${'ab'.repeat(32)}`, parentHash: `0x${'00'.repeat(32)}` }
    const headers: Required<Setting>['header'][] = [
      (height) => (height === 0 ? null : undefined),
      (height, time) => (height === 0 && time === 2 ? null : undefined),
      (height, time) => (height === 10 && time === 1 ? null : undefined),
      (height, time) => (height === 10 && time === 1 ? { ...other, number: 10 } : undefined),
    ]
    for (const header of headers) assert.deepEqual(await follow({ head: 10, header }), ['unknown'])
  })

  test('where ingest ends between the two checks of the node', async () => {
    const ended = follow({ head: 10, signal: AbortSignal.abort() })
    await assert.rejects(ended, { name: 'AbortError' })
  })

  test('where the node has no other block at the lowest height after all', async () => {
    assert.deepEqual(await follow({ head: 10, block: null }), ['unknown'])
    assert.deepEqual(await follow({ head: 10, block: encoded(ours[5]) }), ['unknown'])
  })

  test('and ingest ends where block 0 is another one, or is not known', async () => {
    const other = { number: 0, hash: `0x${'ab'.repeat(32)}`, parentHash: `0x${'00'.repeat(32)}` }
    const header = (height: number, time: number, from: number): ChainHead | undefined =>
      height === 0 && time >= from ? other : undefined
    const changed = { code: 'GENERATOR_CHAIN_CHANGED' }
    for (const [head, from] of [
      [4, 1],
      [10, 1],
      [10, 2],
    ] as const)
      await assert.rejects(
        follow({ head, header: (height, time) => header(height, time, from) }),
        changed,
      )
    await assert.rejects(follow({ head: 10, genesisHash: null }), {
      ...changed,
      message:
        'Genesis changed: the execution node has none of the stored blocks 5 to 9, so it follows another chain.',
      facts: { tail: 5, head: 9, genesis: null, nodeGenesis: null },
    })
  })
})

describe('removed are', () => {
  test('the blocks above the last common one, also where that is the lowest', async () => {
    const msg = 'node changed branches, removed blocks it left'
    for (const tail of [0, 2, 3])
      assert.deepEqual(await follow({ stored: { tail, head: 9 }, head: 10 }), [
        'changed',
        ['truncate above', 3],
        ['removed', 6],
        { common: 3, removed: 6, height: 9, msg },
      ])
  })

  test('all stored blocks where even the lowest is another one', async () => {
    for (const tail of [4, 5, 9])
      for (const head of [tail, 10]) {
        const removed = 9 - tail + 1
        assert.deepEqual(await follow({ stored: { tail, head: 9 }, head }), [
          'changed',
          ['begin again', tail, prepareBlock(encoded(theirs[tail])).header.hash],
          ['removed', removed],
          { from: tail, removed, head, msg: begins },
        ])
      }
  })
})
