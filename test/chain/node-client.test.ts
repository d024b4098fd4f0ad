import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Registry } from 'prom-client'
import {
  type NodeClient,
  type NodeClientOptions,
  openNodeClient,
} from '../../src/chain/node-client.ts'
import type { RpcBlock, RpcReceipt } from '../../src/primitives/rpc-block.ts'
import { type CapturedLog, captureLog } from '../support/captured-log.ts'
import { type Anvil, deployEmitter, mineBusyBlocks, startAnvil } from '../support/chain/anvil.ts'
import { type FaultProxy, startFaultProxy } from '../support/chain/fault-proxy.ts'
import { metricValue } from '../support/metric-value.ts'

const never = new AbortController().signal
const backoff = { minMs: 5, maxMs: 20 }

interface Setting {
  readonly anvil: Anvil
  readonly proxy: FaultProxy
  readonly log: CapturedLog
  /** Of the chain opened last. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>
  open(options?: Partial<NodeClientOptions>): NodeClient
}

/** A node with two busy blocks above the emitter's, behind a proxy that keeps what was asked. */
async function set(t: TestContext): Promise<Setting> {
  const anvil = await startAnvil()
  const proxy = await startFaultProxy({ target: anvil.url, seed: 'chain', faults: [] })
  const log = captureLog()
  await mineBusyBlocks(anvil, await deployEmitter(anvil), 2)
  t.after(async () => {
    await proxy.close()
    await anvil.close()
  })
  let registry = new Registry()
  const open = (options: Partial<NodeClientOptions> = {}): NodeClient => {
    registry = new Registry()
    const parts = { log: log.log, registry }
    const chain = openNodeClient(
      { rpcUrls: [proxy.url], backoff, pollIntervalMs: 20, ...options },
      parts,
    )
    t.after(() => chain.close())
    return chain
  }
  const metric: Setting['metric'] = (name, labels) => metricValue(registry, name, labels)
  return { anvil, proxy, log, metric, open }
}

const methodsOf = ({ requests }: FaultProxy): string[] =>
  requests.map((calls) => `${calls.length} ${calls[0]?.method}`)

async function newest(anvil: Anvil): Promise<{ block: RpcBlock; receipts: RpcReceipt[] }> {
  const block = await anvil.rpc<RpcBlock>('eth_getBlockByNumber', 'latest', true)
  const receipts = await anvil.rpc<RpcReceipt[]>('eth_getBlockReceipts', block.number)
  return { block, receipts }
}

test('a block is read with one eth_getBlockByNumber and a batch of eth_getTransactionReceipt', async (t) => {
  const { anvil, proxy, open } = await set(t)
  const expected = await newest(anvil)
  const { block, receipts } = await open().block(Number(expected.block.number), never)
  assert.deepEqual({ block, receipts }, expected)
  assert.deepEqual(methodsOf(proxy), ['1 eth_getBlockByNumber', '5 eth_getTransactionReceipt'])
})

test('reads are counted: calls by method, bytes of responses, seconds for each block', async (t) => {
  const { anvil, metric, open } = await set(t)
  const { block, receipts } = await newest(anvil)
  const chain = open()
  await chain.block(Number(block.number), never)
  const calls = (method: string) => metric('viewmesh_chain_calls_total', { method })
  assert.equal(await calls('eth_getBlockByNumber'), 1)
  assert.equal(await calls('eth_getTransactionReceipt'), receipts.length)
  assert.equal(await metric('viewmesh_chain_block_read_seconds_count'), 1)
  assert.ok((await metric('viewmesh_chain_block_read_seconds_sum')) > 0)
  const bytes = await metric('viewmesh_chain_answer_bytes_total')
  assert.ok(bytes > JSON.stringify([block, receipts]).length, `${bytes} bytes`)
  await chain.head(never)
  assert.equal(await calls('eth_getBlockByNumber'), 2)
  assert.ok((await metric('viewmesh_chain_answer_bytes_total')) > bytes)
})

test('an empty block needs one call', async (t) => {
  const { anvil, proxy, open } = await set(t)
  await anvil.rpc('evm_mine')
  const expected = await newest(anvil)
  assert.deepEqual(await open().block(Number(expected.block.number), never), expected)
  assert.deepEqual(methodsOf(proxy), ['1 eth_getBlockByNumber'])
})

test('receipts: per-block asks eth_getBlockReceipts and gives the same', async (t) => {
  const { anvil, proxy, open } = await set(t)
  const expected = await newest(anvil)
  const chain = open({ receipts: 'per-block' })
  assert.deepEqual(await chain.block(Number(expected.block.number), never), expected)
  assert.deepEqual(methodsOf(proxy), ['1 eth_getBlockByNumber', '1 eth_getBlockReceipts'])
})

test('genesis, head and header return height, hash and parent', async (t) => {
  const { anvil, open } = await set(t)
  const chain = open()
  const { block } = await newest(anvil)
  const head = { number: Number(block.number), hash: block.hash, parentHash: block.parentHash }
  assert.deepEqual(await chain.head(never), head)
  assert.deepEqual(await chain.header(head.number, never), head)
  assert.equal(await chain.header(head.number + 1, never), null)
  assert.equal((await chain.genesis(never)).number, 0)
})

test('a height the node does not have yet is waited for, and an abort ends the wait', async (t) => {
  const { anvil, log, open } = await set(t)
  const chain = open()
  const next = (await chain.head(never)).number + 1
  const waiting = chain.block(next, never)
  await anvil.rpc('evm_mine')
  assert.equal(Number((await waiting).block.number), next)
  const stop = new AbortController()
  const endless = chain.block(next + 1, stop.signal)
  setTimeout(() => stop.abort(), 30)
  await assert.rejects(endless, { name: 'AbortError' })
  assert.deepEqual(log.messages('warn'), [])
})

test('every URL is tried, and the first that works is used', async (t) => {
  const { anvil, proxy, open } = await set(t)
  const chain = open({ rpcUrls: ['http://127.0.0.1:1', proxy.url] })
  const expected = await newest(anvil)
  assert.deepEqual(await chain.block(Number(expected.block.number), never), expected)
})

test('a node that lacks the block is passed over for one that has it', async (t) => {
  const { anvil, proxy, open } = await set(t)
  const behind = await startAnvil()
  t.after(() => behind.close())
  const chain = open({ rpcUrls: [behind.url, proxy.url] })
  const expected = await newest(anvil)
  assert.deepEqual(await chain.block(Number(expected.block.number), never), expected)
})

test('an absent node is spoken of once when it goes and once when it is back', async (t) => {
  const { proxy, log, metric, open } = await set(t)
  const chain = open()
  await chain.head(never)
  const failures = { code: 'CHAIN_UNREACHABLE' }
  assert.equal(await metric('viewmesh_chain_failures_total', failures), 0)
  const back = proxy.leave(150)
  const heads = Promise.all([chain.head(never), chain.block(1, never)])
  await log.line('execution node fails, will try again until it answers')
  assert.equal(chain.mode(), 'offline')
  assert.equal(chain.failure()?.code, 'CHAIN_UNREACHABLE')
  assert.ok((await metric('viewmesh_chain_failures_total', failures)) > 0)
  await back
  await heads
  assert.equal(chain.mode(), 'http')
  assert.equal(chain.failure(), null)
  assert.deepEqual(log.messages('warn'), ['execution node fails, will try again until it answers'])
  assert.deepEqual(log.messages('info'), ['execution node answers again'])
})

test('the key goes into the named header of every request, Authorization by default', async (t) => {
  const { proxy, open } = await set(t)
  await open({ apiKey: 'Bearer abc' }).head(never)
  await open({ apiKey: 'abc', apiKeyHeader: 'X-Goog-Api-Key' }).head(never)
  const withUser = proxy.url.replace('//', '//user:pass@')
  await open({ rpcUrls: [withUser], apiKey: 'Bearer abc' }).head(never)
  const sent = proxy.requests.map(([call]) => call?.headers)
  assert.equal(sent[0]?.authorization, 'Bearer abc')
  assert.equal(sent[1]?.['x-goog-api-key'], 'abc')
  assert.equal(sent[2]?.authorization, 'Bearer abc', 'not the user of the address')
})

test('nothing of an address beyond host and port gets into the log', async (t) => {
  const { log, open } = await set(t)
  const stop = new AbortController()
  const chain = open({ rpcUrls: ['http://user:hidden@127.0.0.1:1/v2/hidden?key=hidden'] })
  const head = chain.head(stop.signal)
  await log.line('execution node fails, will try again until it answers')
  stop.abort()
  await assert.rejects(head)
  assert.doesNotMatch(JSON.stringify(log.lines), /hidden/)
})

test('each outage is reported, also one that follows right upon another', async (t) => {
  const { log, open } = await set(t)
  const chain = open({ rpcUrls: ['http://127.0.0.1:1'] })
  for (const outages of [1, 2]) {
    const stop = new AbortController()
    const head = chain.head(stop.signal)
    while (chain.failure() === null) await setImmediate()
    stop.abort()
    await assert.rejects(head)
    assert.equal(log.messages('warn').length, outages)
  }
})

test('an abandoned request does not count as a recovery', async (t) => {
  const { log, open } = await set(t)
  const stop = new AbortController()
  const chain = open({ rpcUrls: ['http://127.0.0.1:1'] })
  const head = chain.head(stop.signal)
  await log.line('execution node fails, will try again until it answers')
  stop.abort()
  await assert.rejects(head)
  assert.deepEqual(log.messages('info'), [])
  assert.equal(chain.failure(), null)
})
