/** A node that goes wrong in every way leaves the same store behind as one that never does. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RpcBlock, RpcReceipt } from '../../src/primitives/rpc-block.ts'
import { deployEmitter, mineBusyBlocks, startAnvil } from '../support/anvil.ts'
import { faults, startFaultProxy } from '../support/fault-proxy.ts'
import { assertStored, runIngestOn } from '../support/running-ingest.ts'
import { openTestStore } from '../support/test-store.ts'

const blocks = 40
/** Without refused batches, after which there are no more batches to go wrong. */
const shown = faults.filter((fault) => fault !== 'batch-refused')

test('the store is the same after every fault of the node, and seals nothing twice', async (t) => {
  const anvil = await startAnvil()
  await mineBusyBlocks(anvil, await deployEmitter(anvil), blocks - 1)
  const heights = Array.from({ length: blocks }, (_, index) => `0x${(index + 1).toString(16)}`)
  const expected = await Promise.all(
    heights.map(async (height) => ({
      block: await anvil.rpc<RpcBlock>('eth_getBlockByNumber', height, true),
      receipts: await anvil.rpc<RpcReceipt[]>('eth_getBlockReceipts', height),
    })),
  )
  const settings = { target: anvil.url, seed: 'ingest', faults: shown, oneIn: 3, absenceMs: 5 }
  const proxy = await startFaultProxy(settings)
  const store = await openTestStore(t)
  const running = runIngestOn(store, {
    rpcUrls: [proxy.url],
    wsUrl: proxy.wsUrl,
    timeoutMs: 250,
    maxSilenceMs: 20,
  })
  t.after(async () => {
    await running.stop()
    await proxy.close()
    await anvil.close()
  })
  await running.sealed(expected.at(-1)?.block.hash ?? '')
  assertStored(store, expected)
  const total = shown.reduce((sum, fault) => sum + proxy.shown[fault], 0)
  assert.ok(total >= 20, JSON.stringify(proxy.shown))
})
