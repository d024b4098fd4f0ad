/**
 * A node that goes wrong in every way leaves the same store behind as one that never does. Times are
 * scaled: an absence is 60 ms long, and pauses between attempts grow from 0.2 to 10 ms, where a
 * Generator that misses its node for a minute pauses for 0.2 to 10 seconds.
 */
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import type { WholeBlock } from '../../../src/chain/block-reader.ts'
import type { RpcBlock, RpcReceipt } from '../../../src/primitives/rpc-block.ts'
import { type Anvil, deployEmitter, mineBusyBlocks, startAnvil } from '../../support/chain/anvil.ts'
import {
  type Fault,
  type FaultProxy,
  faults,
  startFaultProxy,
} from '../../support/chain/fault-proxy.ts'
import { openTestStore } from '../../support/test-store.ts'
import { assertStored, runIngestOn } from '../support/running-ingest.ts'

const blocks = 12
const times = 20
const absenceMs = 60
const backoff = { minMs: 0.2, maxMs: 10 }

let anvil: Anvil
let expected: readonly WholeBlock[]

before(async () => {
  anvil = await startAnvil()
  await mineBusyBlocks(anvil, await deployEmitter(anvil), blocks - 1)
  // A node that was slow with the emitter's block was asked for it again, and has an empty one more.
  const head = Number(await anvil.rpc('eth_blockNumber'))
  assert.ok(head >= blocks)
  const heights = Array.from({ length: head }, (_, index) => `0x${(index + 1).toString(16)}`)
  expected = await Promise.all(
    heights.map(async (height) => ({
      block: await anvil.rpc<RpcBlock>('eth_getBlockByNumber', height, true),
      receipts: await anvil.rpc<RpcReceipt[]>('eth_getBlockReceipts', height),
    })),
  )
})

after(() => anvil.close())

/** Fills an empty store through the proxy. */
async function fill(t: TestContext, proxy: FaultProxy): Promise<void> {
  const store = await openTestStore(t)
  const upstream = { rpcUrls: [proxy.url], wsUrl: proxy.wsUrl, timeoutMs: 150, maxSilenceMs: 20 }
  const running = runIngestOn(store, { ...upstream, backoff }, { backoff })
  await running.sealed(expected.at(-1)?.block.hash ?? '')
  await running.stop()
  assertStored(store, expected)
}

/** Fills one store after the other until each of these was shown often enough. */
async function fillUntilShown(
  t: TestContext,
  shown: readonly Fault[],
  oneIn: number,
): Promise<void> {
  const settings = { target: anvil.url, seed: 'ingest', faults: shown, oneIn, absenceMs }
  const proxy = await startFaultProxy(settings)
  t.after(() => proxy.close())
  while (shown.some((fault) => proxy.shown[fault] < times)) await fill(t, proxy)
}

/**
 * By the requests that they fit. A node that refuses batches is not sent any more of them, so that
 * fault stands alone: it would hide the others of batches.
 */
const groups = {
  'of any answer': ['timeout', 'http-error', 'rpc-error', 'truncated', 'head-back', 'absence'],
  'of batches and receipts': [
    'batch-short',
    'batch-shuffled',
    'null-receipt',
    'receipt-without-logs',
    'receipt-of-another',
  ],
  'of batches that are refused': ['batch-refused'],
} as const satisfies Readonly<Record<string, readonly Fault[]>>

test('the groups are all the faults there are', () => {
  assert.deepEqual(Object.values(groups).flat().toSorted(), faults.toSorted())
})

for (const [name, shown] of Object.entries(groups))
  test(`faults ${name}, each ${times} times, change nothing in the store and seal nothing twice`, async (t) => {
    await fillUntilShown(t, shown, shown.length === 1 ? 1 : 2)
  })
