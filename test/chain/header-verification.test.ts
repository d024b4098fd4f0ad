import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Registry } from 'prom-client'
import { type Chain, type ChainOptions, openChain } from '../../src/chain/chain.ts'
import { createChain } from '../support/block-factory.ts'
import { type CapturedLog, captureLog } from '../support/captured-log.ts'

const never = new AbortController().signal

type Answer = (method: string, param: string) => object

interface Opened {
  readonly chain: Chain
  readonly log: CapturedLog
  /** The methods of all calls, in order. */
  readonly asked: readonly string[]
}

/** A chain before a node that answers as the test says. */
async function openBefore(
  t: TestContext,
  answer: Answer,
  options: Partial<ChainOptions> = {},
): Promise<Opened> {
  const asked: string[] = []
  const reply = ({ id, method, params }: { id: number; method: string; params: string[] }) => {
    asked.push(method)
    return { id, ...answer(method, params[0] ?? '') }
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString())
      response.end(JSON.stringify(Array.isArray(body) ? body.map(reply) : reply(body)))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const log = captureLog()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const backoff = { minMs: 2, maxMs: 4 }
  const parts = { log: log.log, registry: new Registry() }
  const chain = openChain({ rpcUrls: [url], backoff, ...options }, parts)
  t.after(async () => {
    await chain.close()
    server.closeAllConnections()
    server.close()
  })
  return { chain, log, asked }
}

const blocks = createChain({ count: 3 })

/** A generated chain, its blocks with `changes`. */
function changed(changes: object): Answer {
  return (method, param) => {
    if (method === 'eth_getBlockByNumber') {
      const found = blocks.find(({ number }) => number === Number(param))
      return { result: { ...found?.block, ...changes } }
    }
    if (method !== 'eth_getTransactionReceipt')
      return { error: { code: -32601, message: 'the method does not exist' } }
    const receipts = blocks.flatMap((block) => block.receipts)
    return { result: receipts.find(({ transactionHash }) => transactionHash === param) }
  }
}

const read = async (chain: Chain): Promise<number[]> => {
  const heights: number[] = []
  for (const height of [1, 2, 3])
    heights.push(Number((await chain.block(height, never)).block.number))
  return heights
}

test('blocks whose hash is the hash of their header are taken without a word', async (t) => {
  const { chain, log } = await openBefore(t, changed({}))
  assert.deepEqual(await read(chain), [1, 2, 3])
  assert.deepEqual(log.lines, [])
})

test('a header that does not hash to the block’s hash is never taken', async (t) => {
  const { chain, log } = await openBefore(t, changed({ gasUsed: '0x7' }))
  const stop = new AbortController()
  const block = chain.block(1, stop.signal)
  const line = await log.line('execution node fails, will try again until it answers')
  assert.equal(line['code'], 'CHAIN_HEADER_MISMATCH')
  assert.match(String(line['remedy']), /GENERATOR_VERIFY=off/)
  stop.abort()
  await assert.rejects(block)
})

test('headers with fields of a fork not known here are taken, and reported once', async (t) => {
  const { chain, log } = await openBefore(t, changed({ gasUsed: '0x7', slotNumber: '0x1' }))
  assert.deepEqual(await read(chain), [1, 2, 3])
  assert.deepEqual(
    log.lines.map(({ level, msg, fields }) => [level, msg, fields]),
    [
      [
        'warn',
        'headers have fields unknown here: block hashes are taken as the node gives them',
        ['slotNumber'],
      ],
    ],
  )
})

test('with verify off any header is taken', async (t) => {
  const { chain, log } = await openBefore(t, changed({ gasUsed: '0x7' }), { verify: 'off' })
  assert.deepEqual(await read(chain), [1, 2, 3])
  assert.deepEqual(log.lines, [])
})

test('a node without eth_getBlockReceipts is asked for receipts one by one', async (t) => {
  const { chain, log, asked } = await openBefore(t, changed({}), { receipts: 'per-block' })
  assert.deepEqual(await read(chain), [1, 2, 3])
  assert.equal(asked.filter((method) => method === 'eth_getBlockReceipts').length, 1)
  assert.equal(log.messages('warn').length, 1)
})
