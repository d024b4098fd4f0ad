import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Registry } from 'prom-client'
import {
  type NodeClient,
  type NodeClientOptions,
  openNodeClient,
} from '../../src/chain/node-client.ts'
import { type CapturedLog, captureLog } from '../support/captured-log.ts'
import { createChain } from '../support/chain/block-factory.ts'
import { type GeneratedNode, startGeneratedNode } from '../support/chain/generated-node.ts'
import { metricValue } from '../support/metric-value.ts'

const never = new AbortController().signal

const blocks = createChain({ count: 3 })

/** A chain before a node whose blocks have `changes`. */
async function openBefore(
  t: TestContext,
  changes: object,
  options: Partial<NodeClientOptions> = {},
): Promise<{
  chain: NodeClient
  log: CapturedLog
  asked: readonly string[]
  change: GeneratedNode['change']
  unverified(): Promise<number>
}> {
  const node = await startGeneratedNode(
    blocks.map((block) => ({ ...block, block: { ...block.block, ...changes } })),
  )
  const log = captureLog()
  const backoff = { minMs: 2, maxMs: 4 }
  const registry = new Registry()
  const parts = { log: log.log, registry }
  const chain = openNodeClient({ rpcUrls: [node.url], backoff, ...options }, parts)
  t.after(async () => {
    await chain.close()
    await node.close()
  })
  const unverified = () => metricValue(registry, 'viewmesh_chain_unverified_headers_total')
  return { chain, log, asked: node.asked, change: node.change, unverified }
}

const read = async (chain: NodeClient): Promise<number[]> => {
  const heights: number[] = []
  for (const height of [1, 2, 3])
    heights.push(Number((await chain.block(height, never)).block.number))
  return heights
}

test('blocks whose hash is the hash of their header are taken silently', async (t) => {
  const { chain, log, unverified } = await openBefore(t, {})
  assert.deepEqual(await read(chain), [1, 2, 3])
  assert.equal(await unverified(), 0)
  assert.deepEqual(log.lines, [])
})

test('a header that does not hash to the block’s hash is never taken', async (t) => {
  const { chain, log } = await openBefore(t, { gasUsed: '0x7' })
  const stop = new AbortController()
  const block = chain.block(1, stop.signal)
  const line = await log.line('execution node fails, will try again until it answers')
  assert.equal(line['code'], 'CHAIN_HEADER_MISMATCH')
  assert.match(String(line['remedy']), /GENERATOR_VERIFY=off/)
  stop.abort()
  await assert.rejects(block)
})

test('headers with fields of a fork not known here are taken, counted, and reported once', async (t) => {
  const { chain, log, unverified } = await openBefore(t, { gasUsed: '0x7', slotNumber: '0x1' })
  assert.deepEqual(await read(chain), [1, 2, 3])
  assert.equal(await unverified(), 3)
  assert.deepEqual(
    log.lines.map(({ level, msg, fields }) => [level, msg, fields]),
    [
      [
        'warn',
        'headers have unknown fields: block hashes are taken from the node without verification',
        ['slotNumber'],
      ],
    ],
  )
})

test('of many long names of unknown fields some are logged, each cut', async (t) => {
  const names = Array.from({ length: 1_000 }, (_, index) => `field${index}${'x'.repeat(1_000)}`)
  const unknown = Object.fromEntries(names.map((name) => [name, '0x1']))
  const { chain, log } = await openBefore(t, { gasUsed: '0x7', ...unknown })
  await read(chain)
  const shown = names.slice(0, 20).map((name) => `${name.slice(0, 40)}…`)
  assert.deepEqual(
    log.lines.map(({ fields }) => fields),
    [shown],
  )
})

test('a long message of an error reaches neither log nor failure whole', async (t) => {
  for (const method of ['eth_getBlockByNumber', 'eth_getTransactionReceipt']) {
    const { chain, log, change } = await openBefore(t, {})
    const error = { code: -32000, message: `no${'!'.repeat(1_000_000)}` }
    change((asked) => (asked === method ? { error } : undefined))
    const stop = new AbortController()
    t.after(() => stop.abort())
    const ended = assert.rejects(chain.block(1, stop.signal), { name: 'AbortError' })
    const line = await log.line('execution node fails, will try again until it answers')
    const failure = chain.failure() ?? assert.fail()
    assert.equal(line['reason'], failure.message)
    assert.match(failure.message, /[^!]no!{298}…/)
    assert.ok(JSON.stringify(log.lines).length < 10_000)
    stop.abort()
    await ended
  }
})

test('with verify off any header is taken', async (t) => {
  const { chain, log } = await openBefore(t, { gasUsed: '0x7' }, { verify: 'off' })
  assert.deepEqual(await read(chain), [1, 2, 3])
  assert.deepEqual(log.lines, [])
})

test('a node without eth_getBlockReceipts gets a request for each receipt', async (t) => {
  const { chain, log, asked } = await openBefore(t, {}, { receipts: 'per-block' })
  assert.deepEqual(await read(chain), [1, 2, 3])
  assert.equal(asked.filter((method) => method === 'eth_getBlockReceipts').length, 1)
  assert.equal(log.messages('warn').length, 1)
})

test('a node without eth_getTransactionReceipt is said to lack it, and read as soon as it has it', async (t) => {
  const { chain, log, change } = await openBefore(t, {})
  change((method) =>
    method === 'eth_getTransactionReceipt'
      ? {
          error: { code: -32601, message: 'the method eth_getTransactionReceipt is not available' },
        }
      : undefined,
  )
  const reading = read(chain)
  const line = await log.line('execution node fails, will try again until it answers')
  assert.equal(line['code'], 'CHAIN_METHOD_MISSING')
  assert.match(String(line['reason']), /^127\.0\.0\.1:\d+ does not have eth_getTransactionReceipt$/)
  change(() => undefined)
  assert.deepEqual(await reading, [1, 2, 3])
})
