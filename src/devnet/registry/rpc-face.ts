/**
 * The JSON-RPC interface of the stand-in of the registry chain: anvil behind a proxy, which imitates what a contract cannot: gas
 * and failures of the registry, code that is not there, heights of logs in receipts, and no way to be somebody else.
 */
import type { Hex } from 'viem'
import { registryAddress } from '../../registry/precompile/abi.ts'
import { amplyGas, type EvmNode, type RpcAnswer } from './evm-node.ts'
import { type FaceResponse, type HttpFace, openHttpFace } from './http-face.ts'
import { hiddenTopic, type RegistryChain } from './registry-chain.ts'
import { intrinsicGas, type SentTransaction } from './sent-transaction.ts'

interface RpcParts {
  readonly node: EvmNode
  readonly chain: RegistryChain
  /** What `eth_chainId` answers; signatures may need another one. */
  readonly chainId: number
}

interface RpcRequest {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** Opens the face; port 0 takes any free one. */
export async function openRpcFace(port: number, parts: RpcParts): Promise<HttpFace> {
  return await openHttpFace(port, (_, __, body) => respond(body, parts))
}

const maxBatch = 1_000

async function respond(body: string, parts: RpcParts): Promise<FaceResponse> {
  const parsed = parse(body)
  if (Array.isArray(parsed)) {
    if (parsed.length > maxBatch) return { status: 413, json: { error: 'the batch is too large' } }
    const answers: unknown[] = []
    for (const request of parsed) answers.push(await answerTo(request, parts))
    return { status: 200, json: answers }
  }
  return { status: 200, json: await answerTo(parsed, parts) }
}

async function answerTo(value: unknown, parts: RpcParts): Promise<unknown> {
  const request = readRequest(value)
  if (request === null) {
    const error = { code: -32600, message: 'invalid request' }
    return { jsonrpc: '2.0', id: null, error }
  }
  return { jsonrpc: '2.0', id: request.id, ...(await call(request, parts)) }
}

/** Methods with which anvil lets anybody change the chain, or keeps keys. */
const ownMethods =
  /^(?:anvil|evm|hardhat|personal|engine|ots|erigon)_|^eth_(?:send(?:Unsigned)?Transaction|sign)/
const lowestPrice = '0x3b9aca00'

async function call({ method, params }: RpcRequest, parts: RpcParts): Promise<RpcAnswer> {
  if (ownMethods.test(method)) return noMethod(method)
  switch (method) {
    case 'eth_chainId':
      return { result: `0x${parts.chainId.toString(16)}` }
    case 'net_version':
      return { result: String(parts.chainId) }
    case 'eth_gasPrice':
    case 'eth_maxPriorityFeePerGas':
      return { result: lowestPrice }
    case 'eth_getCode':
      return isRegistry(params[0]) ? { result: '0x' } : await parts.node.ask(method, params)
    case 'eth_call':
    case 'eth_estimateGas':
      return isRegistry(callOf(params).to)
        ? await simulate(method, params, parts.node)
        : await parts.node.ask(method, params)
    case 'eth_sendRawTransaction':
      return await send(params, parts)
    default:
      return await forward(method, params, parts)
  }
}

interface CallRequest {
  readonly to?: unknown
  readonly data?: unknown
  readonly input?: unknown
}

function callOf(params: readonly unknown[]): CallRequest {
  return typeof params[0] === 'object' && params[0] !== null ? params[0] : {}
}

function isRegistry(address: unknown): boolean {
  return typeof address === 'string' && address.toLowerCase() === registryAddress
}

/** Runs a call of the registry with all the gas there is; its failures have no revert data. */
async function simulate(
  method: string,
  params: readonly unknown[],
  node: EvmNode,
): Promise<RpcAnswer> {
  const request = callOf(params)
  const ample = { ...request, gas: amplyGas, gasPrice: '0x0' }
  const {
    maxFeePerGas: _,
    maxPriorityFeePerGas: __,
    ...free
  } = {
    ...{ maxFeePerGas: null, maxPriorityFeePerGas: null },
    ...ample,
  }
  const answer = await node.ask('eth_call', [free, params[1] ?? 'latest'])
  if ('error' in answer) {
    const code = method === 'eth_call' ? 'Internal' : 'Unknown'
    const reason = answer.error.message.replace(/^execution reverted(?:: )?/, '')
    return { error: { code: -32000, message: `rpc error: code = ${code} desc = ${reason}` } }
  }
  if (method === 'eth_call') return answer
  const data = String(request.data ?? request.input ?? '0x') as Hex
  return { result: `0x${intrinsicGas(data).toString(16)}` }
}

/** A transaction to another contract may register a View as well. */
async function send(params: readonly unknown[], { node, chain }: RpcParts): Promise<RpcAnswer> {
  const own = await chain.execute(String(params[0]))
  if (own !== null) return own
  const answer = await node.ask('eth_sendRawTransaction', params)
  await chain.collect()
  return answer
}

async function forward(
  method: string,
  params: readonly unknown[],
  { node, chain }: RpcParts,
): Promise<RpcAnswer> {
  await chain.collect()
  const hash = /0x[0-9a-f]{64}/g
  const asked = JSON.stringify(params).replaceAll(hash, (text) => chain.sent(text)?.inner ?? text)
  const answer = await node.ask(method, JSON.parse(asked))
  if ('error' in answer) return { error: { ...answer.error } }
  const shown = imitate(method, answer.result, (inner) => chain.sent(inner))
  const text = JSON.stringify(shown ?? null)
  return { result: JSON.parse(text.replaceAll(hash, (text) => chain.sent(text)?.hash ?? text)) }
}

type Fields = Readonly<Record<string, unknown>>
type FindSent = (hash: string) => SentTransaction | undefined

function imitate(method: string, result: unknown, find: FindSent): unknown {
  switch (method) {
    case 'eth_getTransactionReceipt':
      return isFields(result) ? toReceipt(result, find) : result
    case 'eth_getBlockReceipts':
      return Array.isArray(result) ? result.map((receipt) => toReceipt(receipt, find)) : result
    case 'eth_getTransactionByHash':
      return isFields(result) ? { ...result, ...find(String(result['hash']))?.fields } : result
    case 'eth_getLogs':
    case 'eth_getFilterLogs':
    case 'eth_getFilterChanges':
      return Array.isArray(result) ? result.filter(isShown) : result
    default:
      return result
  }
}

/** The real chain has height 0 in the logs of a receipt, and the right one elsewhere. */
function toReceipt(receipt: Fields, find: FindSent): Fields {
  const sent = find(String(receipt['transactionHash']))
  const logs = Array.isArray(receipt['logs']) ? receipt['logs'] : []
  const shown = logs.filter(isShown).map((log: Fields, index) => ({
    ...log,
    blockNumber: '0x0',
    logIndex: `0x${index.toString(16)}`,
  }))
  if (sent === undefined) return { ...receipt, logs: shown }
  const { gasUsed, gasPrice } = sent
  const cost = { gasUsed, cumulativeGasUsed: gasUsed, effectiveGasPrice: gasPrice }
  return { ...receipt, ...cost, type: sent.fields['type'], logs: shown }
}

function isShown(log: unknown): boolean {
  const topics = isFields(log) ? log['topics'] : null
  return !(Array.isArray(topics) && topics[0] === hiddenTopic)
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

function noMethod(method: string): RpcAnswer {
  return {
    error: { code: -32601, message: `the method ${method} does not exist/is not available` },
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}

function readRequest(value: unknown): RpcRequest | null {
  if (!isFields(value) || typeof value['method'] !== 'string') return null
  const { method, params } = value
  return { id: value['id'] ?? null, method, params: Array.isArray(params) ? params : [] }
}
