/** Every fault of `support/fault-proxy.ts`, shown often, changes nothing in what is read. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Registry } from 'prom-client'
import { type NodeClient, openNodeClient } from '../../src/chain/node-client.ts'
import type { RpcBlock, RpcReceipt } from '../../src/primitives/rpc-block.ts'
import { captureLog } from '../support/captured-log.ts'
import { type Anvil, deployEmitter, mineBusyBlocks, startAnvil } from '../support/chain/anvil.ts'
import {
  type Fault,
  type FaultProxy,
  faults,
  startFaultProxy,
} from '../support/chain/fault-proxy.ts'

const never = new AbortController().signal
const blocks = 8
const times = 20

let anvil: Anvil
let expected: unknown[]

before(async () => {
  anvil = await startAnvil()
  await mineBusyBlocks(anvil, await deployEmitter(anvil), blocks - 2) // block 0, the emitter’s, these
  expected = await Promise.all(
    Array.from({ length: blocks }, async (_, height) => {
      const number = `0x${height.toString(16)}`
      const block = await anvil.rpc<RpcBlock>('eth_getBlockByNumber', number, true)
      const receipts = await anvil.rpc<RpcReceipt[]>('eth_getBlockReceipts', number)
      return { block, receipts }
    }),
  )
})

after(() => anvil.close())

function openThrough(proxy: FaultProxy): NodeClient {
  return openNodeClient(
    {
      rpcUrls: [proxy.url],
      wsUrl: proxy.wsUrl,
      backoff: { minMs: 1, maxMs: 8 },
      timeoutMs: 250,
      pollIntervalMs: 5,
      maxSilenceMs: 10,
    },
    { log: captureLog().log, registry: new Registry() },
  )
}

/** Reads everything there is, three blocks at a time, while heads are followed beside it. */
async function readAll(chain: NodeClient): Promise<unknown[]> {
  const stop = new AbortController()
  const following = followToEnd(chain, stop.signal)
  const read = new Map<number, unknown>()
  let next = 0
  const lane = async (): Promise<void> => {
    for (let height = next++; height < blocks; height = next++)
      read.set(height, await chain.block(height, never))
  }
  await Promise.all([lane(), lane(), lane()])
  stop.abort()
  await following
  return Array.from({ length: blocks }, (_, height) => read.get(height))
}

async function followToEnd(chain: NodeClient, signal: AbortSignal): Promise<void> {
  for await (const head of chain.heads(signal)) assert.ok(head.number < blocks)
}

async function readUntilShown(
  proxy: FaultProxy,
  shown: readonly Fault[],
  count: number,
): Promise<void> {
  while (shown.some((fault) => proxy.shown[fault] < count)) {
    const chain = openThrough(proxy)
    assert.deepEqual(await readAll(chain), expected)
    await chain.close()
  }
}

for (const fault of faults)
  test(`${fault}, ${times} times, changes nothing in what is read`, async (t) => {
    const settings = { target: anvil.url, seed: fault, faults: [fault], oneIn: 2, absenceMs: 5 }
    const proxy = await startFaultProxy(settings)
    t.after(() => proxy.close())
    await readUntilShown(proxy, [fault], times)
  })

test('all faults together change nothing in what is read', async (t) => {
  // A node that refuses batches is not sent any more of them: that fault hides three others.
  const together = faults.filter((fault) => fault !== 'batch-refused')
  const settings = { target: anvil.url, seed: 'all', faults: together, oneIn: 4, absenceMs: 5 }
  const proxy = await startFaultProxy(settings)
  t.after(() => proxy.close())
  await readUntilShown(proxy, together, 2)
})
