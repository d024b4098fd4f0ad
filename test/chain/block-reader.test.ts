/** How often receipts are asked for that a node does not give, and what a node may refuse to say. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { createBlockReader } from '../../src/chain/block-reader.ts'
import type { Endpoint } from '../../src/chain/endpoint.ts'
import { missing, type RpcCall, type RpcOutcome } from '../../src/chain/json-rpc.ts'
import { createChainMetrics } from '../../src/chain/metrics.ts'
import { type ErrorCode, ServiceError } from '../../src/errors.ts'
import { captureLog } from '../support/captured-log.ts'
import { createChain } from '../support/chain/block-factory.ts'
import { recordWaits } from '../support/chain/recorded-waits.ts'
import { metricValue } from '../support/metric-value.ts'

const never = new AbortController().signal
const { block, receipts, number } =
  createChain({ from: 26, count: 1 })[0] ?? assert.fail('one block')
const hashes = receipts.map(({ transactionHash }) => transactionHash)
const result = (value: unknown): RpcOutcome => ({ kind: 'result', value })

function readerOf(kind: 'per-transaction' | 'per-block', backoff = { minMs: 0, maxMs: 0 }) {
  const { log, messages } = captureLog()
  const registry = new Registry()
  const metrics = createChainMetrics(registry)
  const reader = createBlockReader({ verify: 'off', receipts: kind, backoff }, { log, metrics })
  const reads = () => metricValue(registry, 'viewmesh_chain_block_read_seconds_count')
  return { reader, messages, reads }
}

/** A node that has the block; `answer` says what it answers to the calls of each batch, from 1. */
function endpointOf(
  answer: (calls: readonly RpcCall[], request: number) => RpcOutcome[],
): Endpoint {
  let request = 0
  return {
    label: 'node',
    call: async () => block,
    calls: async (calls) => answer(calls, ++request),
    close: async () => undefined,
  }
}

/** The receipts that are asked for; those that are not given are missing. */
const given = (calls: readonly RpcCall[], isGiven: (index: number) => boolean): RpcOutcome[] =>
  calls.map(({ params: [hash] }) => {
    const index = hashes.indexOf(hash as string)
    return isGiven(index) ? result(receipts[index]) : missing
  })

test('a block is asked for with its transactions, and a head without them', async () => {
  const { reader } = readerOf('per-transaction')
  const asked: RpcCall[] = []
  const call = async (one: RpcCall): Promise<unknown> => {
    asked.push(one)
    return block
  }
  const endpoint = { ...endpointOf((calls) => given(calls, () => true)), call }
  assert.deepEqual(await reader.block(endpoint, number, never), { block, receipts })
  const { hash, parentHash } = block
  for (const at of [number, 'latest'] as const)
    assert.deepEqual(await reader.head(endpoint, at, never), { number, hash, parentHash })
  const method = 'eth_getBlockByNumber'
  assert.deepEqual(asked, [
    { method, params: ['0x1a', true] },
    { method, params: ['0x1a', false] },
    { method, params: ['latest', false] },
  ])
})

test('of a block with no transaction or one as many receipts are asked for', async () => {
  const [transaction] = block.transactions ?? []
  const [receipt] = receipts
  const none = { ...block, transactions: [], logsBloom: `0x${'00'.repeat(256)}` }
  const one = { ...block, transactions: [transaction], logsBloom: receipt?.logsBloom }
  for (const kind of ['per-transaction', 'per-block'] as const) {
    const { reader } = readerOf(kind)
    const answer = (): RpcOutcome[] => [result(kind === 'per-block' ? [receipt] : receipt)]
    const withOne = { ...endpointOf(answer), call: async () => one }
    assert.deepEqual((await reader.block(withOne, number, never)).receipts, [receipt])
    const calls = (): never => assert.fail('a receipt was asked for')
    const withNone = { ...endpointOf(calls), call: async () => none }
    assert.deepEqual((await reader.block(withNone, number, never)).receipts, [])
  }
})

test('receipts that do not add up to the filter of their block are none of it', async () => {
  const call = async (): Promise<unknown> => ({ ...block, logsBloom: `0x${'ff'.repeat(256)}` })
  const endpoint = { ...endpointOf((calls) => given(calls, () => true)), call }
  await assert.rejects(readerOf('per-transaction').reader.block(endpoint, number, never), {
    code: 'CHAIN_BLOCK_INCOMPLETE',
    message: `block ${number}: the filters of its receipts do not add up to its own`,
  })
})

test('a receipt method that a node lacks is no receipt that is missing', async () => {
  const endpoint = endpointOf((calls) => [
    ...given(calls.slice(1), () => true),
    { kind: 'error', code: -32601, message: 'no' },
  ])
  await assert.rejects(readerOf('per-transaction').reader.block(endpoint, number, never), {
    code: 'CHAIN_METHOD_MISSING',
    message: 'node does not have eth_getTransactionReceipt',
  })
})

test('receipts of which none comes are asked for three times', async () => {
  const asked: number[] = []
  const endpoint = endpointOf((calls) => {
    asked.push(calls.length)
    return given(calls, (index) => index !== 1)
  })
  await assert.rejects(readerOf('per-transaction').reader.block(endpoint, number, never), {
    code: 'CHAIN_BLOCK_INCOMPLETE',
    message: `block ${number}: receipt 1 is missing in the response`,
  })
  assert.deepEqual(asked, [receipts.length, 1, 1, 1])
})

test('receipts are asked for as long as a further one comes in three requests', async () => {
  let requests = 0
  const endpoint = endpointOf((calls, request) => {
    requests = request
    return given(calls, (index) => request % 3 === 0 && index < request / 3)
  })
  const whole = await readerOf('per-transaction').reader.block(endpoint, number, never)
  assert.deepEqual(whole.receipts, receipts)
  assert.equal(requests, 3 * receipts.length)
})

test('a receipt that is answered with an error is asked for again, and the error is said', async () => {
  const failed: RpcOutcome = { kind: 'error', code: -32000, message: 'pruned' }
  const answer = (last: number) => (calls: readonly RpcCall[], request: number) =>
    request > last ? given(calls, () => true) : calls.map(() => failed)
  const { reader, reads } = readerOf('per-transaction')
  const read = await reader.block(endpointOf(answer(2)), number, never)
  assert.deepEqual(read.receipts, receipts)
  await assert.rejects(reader.block(endpointOf(answer(3)), number, never), {
    code: 'CHAIN_BLOCK_INCOMPLETE',
    message: `block ${number}: receipt ${receipts.length - 1} was answered with an error: pruned`,
  })
  assert.equal(await reads(), 1, 'what fails is no reading')
})

test('receipts are waited for longer each time that none comes', async (t) => {
  const waits = recordWaits(t)
  const endpoint = endpointOf((calls, request) =>
    given(calls, (index) => index === 0 || request === 4),
  )
  const { reader } = readerOf('per-transaction', { minMs: 10, maxMs: 100 })
  assert.deepEqual((await reader.block(endpoint, number, never)).receipts, receipts)
  assert.deepEqual(waits, [5, 5, 10])
})

test('a read that is aborted while it waits for receipts ends without asking again', async () => {
  const aborting = new AbortController()
  let requests = 0
  const endpoint = endpointOf((calls, request) => {
    requests = request
    if (request === 2) aborting.abort()
    return given(calls, () => false)
  })
  const { reader } = readerOf('per-transaction')
  await assert.rejects(reader.block(endpoint, number, aborting.signal), { name: 'AbortError' })
  assert.equal(requests, 2)
})

const wrongLists: readonly [string, RpcOutcome, string][] = [
  ['one receipt too few', result(receipts.slice(1)), 'the list of its receipts has another length'],
  ['nothing', result(null), 'the list of its receipts has another length'],
  ['an object', result({ length: receipts.length }), 'the list of its receipts has another length'],
  ['no answer', missing, 'no response for its receipts'],
  ['an error', { kind: 'error', code: -32000, message: 'pruned' }, 'pruned'],
  ['others in their places', result(receipts.toReversed()), 'receipt 0 is of another transaction'],
]
for (const [name, outcome, problem] of wrongLists)
  test(`${name} instead of a list of receipts is an incomplete block`, async () => {
    const { reader } = readerOf('per-block')
    const endpoint = endpointOf(() => [outcome])
    await assert.rejects(reader.block(endpoint, number, never), {
      code: 'CHAIN_BLOCK_INCOMPLETE',
      message: `block ${number}: ${problem}`,
    })
  })

test('a node that has no list of receipts is asked for it once, and says so once', async () => {
  const { reader, messages } = readerOf('per-block')
  const methods: (string | undefined)[] = []
  const endpoint = endpointOf((calls) => {
    methods.push(calls[0]?.method)
    if (calls[0]?.method !== 'eth_getBlockReceipts') return given(calls, () => true)
    return [{ kind: 'error', code: -32601, message: 'no' }]
  })
  for (let read = 0; read < 2; read++)
    assert.deepEqual((await reader.block(endpoint, number, never)).receipts, receipts)
  const each = 'eth_getTransactionReceipt'
  assert.deepEqual(methods, ['eth_getBlockReceipts', each, each])
  assert.deepEqual(messages('warn'), [
    'node has no eth_getBlockReceipts, requests receipts one by one',
  ])
})

/** A node that fails `eth_chainId` with a code, and answers other calls, unless all fail. */
function withoutChainId(code: ErrorCode, asked: string[], isAll = false): Endpoint {
  const call = async ({ method, params }: RpcCall): Promise<unknown> => {
    asked.push(`${method} ${params.join(' ')}`.trim())
    if (isAll || method === 'eth_chainId') throw new ServiceError(code, 'no')
    return block
  }
  return { ...endpointOf(() => []), call }
}

test('a node that refuses its chain ID and answers otherwise has none', async () => {
  const { reader } = readerOf('per-block')
  for (const code of [
    'CHAIN_METHOD_MISSING',
    'CHAIN_RPC_ERROR',
    'CHAIN_UNAUTHORIZED',
    'CHAIN_HTTP_STATUS',
  ] as const) {
    const asked: string[] = []
    assert.equal(await reader.chainId(withoutChainId(code, asked), never), null)
    assert.deepEqual(asked, ['eth_chainId', 'eth_getBlockByNumber latest false'])
    await assert.rejects(reader.chainId(withoutChainId(code, [], true), never), { code })
  }
  const asked: string[] = []
  const code = 'CHAIN_TIMEOUT'
  await assert.rejects(reader.chainId(withoutChainId(code, asked), never), { code })
  assert.deepEqual(asked, ['eth_chainId'])
})

test('a chain ID is a quantity above zero', async () => {
  const { reader } = readerOf('per-block')
  const answered = (value: unknown): Promise<number | null> =>
    reader.chainId({ ...endpointOf(() => []), call: async () => value }, never)
  assert.equal(await answered('0x1'), 1)
  assert.equal(await answered(null), null)
  for (const value of ['0x0', '0x', '1', 1, 'geth'])
    await assert.rejects(answered(value), {
      code: 'CHAIN_ANSWER_MALFORMED',
      message: 'the node’s response is not a chain ID',
    })
  for (const [value, starts] of [
    ['x'.repeat(41), `${'x'.repeat(40)}…`],
    [{ id: 1 }, 'object'],
  ])
    await assert.rejects(answered(value), { facts: { starts } })
})
