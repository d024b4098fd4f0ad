/** Whatever JSON a node answers in whatever place, it is read or refused with a code; nothing else is thrown. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { Registry } from 'prom-client'
import { createBlockReader } from '../../src/chain/block-reader.ts'
import { type Endpoint, openEndpoint } from '../../src/chain/endpoint.ts'
import { createChainMetrics } from '../../src/chain/metrics.ts'
import { ServiceError } from '../../src/errors.ts'
import { encodeBlock } from '../../src/generator/read/encode-block.ts'
import { captureLog } from '../support/captured-log.ts'
import { createChain } from '../support/chain/block-factory.ts'

const [chainBlock] = createChain({ count: 1 })
if (chainBlock === undefined) throw new Error('a chain of one block has one')
const { block, receipts, number } = chainBlock
const never = new AbortController().signal
const metrics = createChainMetrics(new Registry())

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}
/** What a test makes of a right answer to a call of this method. */
type Change = (method: string, answer: unknown) => unknown

let change: Change = (_, answer) => answer
let endpoint: Endpoint

/** Deeper than `JSON.stringify` goes, in the place of the text `deep`. */
const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[]
    const answer = Array.isArray(body) ? body.map(reply) : reply(body)
    const method = [body].flat()[0]?.method ?? ''
    response.end(JSON.stringify(change(method, answer)).replace('"deep"', deep))
  })
})

function reply({ id, method, params }: Call): object {
  const results: Readonly<Record<string, unknown>> = {
    eth_chainId: '0x1',
    eth_getBlockByNumber: block,
    eth_getBlockReceipts: receipts,
    eth_getTransactionReceipt: receipts.find((one) => one.transactionHash === params[0]),
  }
  return { jsonrpc: '2.0', id, result: results[method] }
}

before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const bounds = { timeoutMs: 5_000, maxResponseBytes: 1_000_000, maxBatch: 100 }
  endpoint = openEndpoint({ url, headers: {}, ...bounds }, { metrics })
})

after(async () => {
  await endpoint.close()
  server.close()
})

type Reader = ReturnType<typeof createBlockReader>

function openReader(
  receiptsFrom: 'per-transaction' | 'per-block',
  verify: 'headers' | 'off' = 'headers',
): Reader {
  const backoff = { minMs: 0, maxMs: 0 }
  const options = { verify, receipts: receiptsFrom, backoff }
  return createBlockReader(options, { log: captureLog().log, metrics })
}

/** An object that becomes neither a text nor a number. */
const unconvertible = { toString: 1, valueOf: 1 }

/** All places in a value, as the keys that lead there; the value itself has none. */
function placesIn(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return [[]]
  const inside = Object.entries(value).flatMap(([key, item]) =>
    placesIn(item).map((place) => [key, ...place]),
  )
  return [[], ...inside]
}

function putAt(value: unknown, place: readonly string[], put: unknown): unknown {
  const [key, ...rest] = place
  if (key === undefined) return put
  const inner = (value as Readonly<Record<string, unknown>>)[key]
  const changed = putAt(inner, rest, put)
  if (Array.isArray(value)) return value.with(Number(key), changed)
  return { ...(value as object), [key]: changed }
}

/** Reads everything there is; returns whether a ServiceError ended it. Rejects with other errors. */
async function isRefused(reader: Reader): Promise<boolean> {
  try {
    await reader.chainId(endpoint, never)
    await reader.head(endpoint, number, never)
    encodeBlock('Ethereum__Mainnet', await reader.block(endpoint, number, never))
    return false
  } catch (error) {
    if (error instanceof ServiceError) return true
    throw error
  }
}

test('the right answers are read', async () => {
  change = (_, answer) => answer
  for (const from of ['per-transaction', 'per-block'] as const)
    assert.equal(await isRefused(openReader(from)), false)
})

const errorOf =
  (error: unknown): Change =>
  (_, answer) =>
    Array.isArray(answer)
      ? answer.map((one) => ({ ...one, error }))
      : { ...(answer as object), error }

for (const [name, error] of [
  ['code', { code: unconvertible, message: 'no' }],
  ['message', { code: 1, message: unconvertible }],
] as const)
  test(`an error whose ${name} is an object is refused with a code`, async () => {
    change = errorOf(error)
    await assert.rejects(endpoint.call({ method: 'x', params: [] }, never), {
      code: 'CHAIN_RPC_ERROR',
    })
    change = (method, answer) =>
      method === 'eth_getTransactionReceipt' ? errorOf(error)(method, answer) : answer
    await assert.rejects(openReader('per-transaction').block(endpoint, number, never), {
      code: 'CHAIN_BLOCK_INCOMPLETE',
    })
  })

test('an id that is an object belongs to no call', async () => {
  change = (_, answer) =>
    Array.isArray(answer) ? answer.map((one) => ({ ...one, id: unconvertible })) : answer
  await assert.rejects(openReader('per-transaction').block(endpoint, number, never), {
    code: 'CHAIN_BLOCK_INCOMPLETE',
    message: /is missing in the response/,
  })
})

test('a chain ID that is an object is refused with a code', async () => {
  change = (_, answer) => ({ ...(answer as object), result: unconvertible })
  await assert.rejects(openReader('per-block').chainId(endpoint, never), {
    code: 'CHAIN_ANSWER_MALFORMED',
    facts: { starts: 'object' },
  })
})

test('a value that is nested deeper than can be shown is refused with a code', async () => {
  change = (method, answer) =>
    method === 'eth_getBlockByNumber' ? putAt(answer, ['result', 'miner'], 'deep') : answer
  assert.equal(await isRefused(openReader('per-block', 'off')), true)
})

const methods = [
  'eth_chainId',
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getTransactionReceipt',
] as const

const hex = fc.string({
  unit: fc.constantFrom(...'0123456789abcdefX '),
  maxLength: 70,
  size: 'max',
})
const json = fc.oneof(
  fc.jsonValue(),
  hex.map((digits) => `0x${digits}`),
)

for (const method of methods) {
  const from = method === 'eth_getTransactionReceipt' ? 'per-transaction' : 'per-block'
  const putInto = (place: (count: number) => number, put: unknown): void => {
    change = (asked, answer) => {
      if (asked !== method) return answer
      const places = placesIn(answer)
      return putAt(answer, places[place(places.length)] ?? [], put)
    }
  }

  test(`an object in any place of an answer to ${method} is read or refused`, async () => {
    const readers = [openReader(from), openReader(from, 'off')]
    let places = 1
    for (let place = 0; place < places; place++) {
      putInto((count) => {
        places = count
        return place
      }, unconvertible)
      for (const reader of readers) await isRefused(reader)
    }
    assert.ok(places > 1)
  })

  test(`any JSON in any place of an answer to ${method} is read or refused`, async () => {
    const readers = [openReader(from), openReader(from, 'off')]
    await fc.assert(
      fc.asyncProperty(fc.nat(), json, async (place, put) => {
        putInto((count) => place % count, put)
        for (const reader of readers) await isRefused(reader)
      }),
    )
  })
}
