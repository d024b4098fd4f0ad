/**
 * Reads one complete block: `eth_getBlockByNumber` with transactions, then `eth_getTransactionReceipt`
 * for each of them, in batches. Receipts that are missing or wrong are requested again; a block is
 * returned complete and checked, or not at all.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type ErrorCode, ServiceError } from '../errors.ts'
import { onOneLine } from '../one-line.ts'
import { type Backoff, backoffMs } from '../primitives/backoff.ts'
import type { RpcBlock, RpcReceipt } from '../primitives/rpc-block.ts'
import {
  type CheckedBlock,
  checkBlock,
  checkHeader,
  checkReceipts,
  incomplete,
  receiptProblem,
  toInteger,
} from './block-check.ts'
import { type Endpoint, methodMissing } from './endpoint.ts'
import { checkHeaderHash } from './header-hash.ts'
import { methodNotFound, type RpcOutcome } from './json-rpc.ts'
import type { ChainMetrics } from './metrics.ts'

interface BlockReaderOptions {
  /** `headers` recomputes the hash of every block from its header. */
  readonly verify: 'headers' | 'off'
  /** `per-block` calls `eth_getBlockReceipts` once instead of one call per transaction. */
  readonly receipts: 'per-transaction' | 'per-block'
  readonly backoff: Backoff
}

/** A block and the receipt of each of its transactions, in their order. */
export interface WholeBlock {
  readonly block: RpcBlock
  readonly receipts: readonly RpcReceipt[]
}

/** A block of the node by height, hash and parent. */
export interface ChainHead {
  readonly number: number
  /** 0x-prefixed lower-case hex, as `parentHash`. */
  readonly hash: string
  readonly parentHash: string
}

interface BlockReader {
  /** One attempt at one endpoint. Throws a ServiceError with a CHAIN_ code. */
  block(endpoint: Endpoint, number: number, signal: AbortSignal): Promise<WholeBlock>
  /** Null when the node refuses to say it, though it answers otherwise. */
  chainId(endpoint: Endpoint, signal: AbortSignal): Promise<number | null>
  /** Null when the node has no block there. */
  head(endpoint: Endpoint, at: number | 'latest', signal: AbortSignal): Promise<ChainHead | null>
}

const receiptMethod = 'eth_getTransactionReceipt'
/** How often a request may return no further receipt before the block itself is read again. */
const stallsAllowed = 2
/** Names of a header's unknown fields that are logged. */
const maxShownFields = 20

/** The state of a block reader. */
interface ReaderState {
  readonly options: BlockReaderOptions
  readonly log: Logger
  readonly metrics: ChainMetrics
  /** Whether headers that cannot be verified were reported. */
  unverifiedReported: boolean
  /** Whether `eth_getBlockReceipts` is used. */
  receiptsAtOnce: boolean
}

export function createBlockReader(
  options: BlockReaderOptions,
  parts: { readonly log: Logger; readonly metrics: ChainMetrics },
): BlockReader {
  const receiptsAtOnce = options.receipts === 'per-block'
  const state: ReaderState = { options, ...parts, unverifiedReported: false, receiptsAtOnce }
  return {
    block: (endpoint, number, signal) => readBlock(state, endpoint, number, signal),
    chainId: readChainId,
    head: readHead,
  }
}

/** Failures with which a node may answer a method that it does not want to be asked. */
const refusals: ReadonlySet<ErrorCode> = new Set([
  'CHAIN_METHOD_MISSING',
  'CHAIN_RPC_ERROR',
  'CHAIN_UNAUTHORIZED',
  'CHAIN_HTTP_STATUS',
])

async function readChainId(endpoint: Endpoint, signal: AbortSignal): Promise<number | null> {
  try {
    const response = await endpoint.call({ method: 'eth_chainId', params: [] }, signal)
    return response === null ? null : checkChainId(response)
  } catch (error) {
    if (!(error instanceof ServiceError) || !refusals.has(error.code)) throw error
    await endpoint.call(blockCall('latest', false), signal)
    return null
  }
}

function checkChainId(response: unknown): number {
  const id = toInteger(response)
  if (id > 0) return id
  throw new ServiceError('CHAIN_ANSWER_MALFORMED', 'the node’s response is not a chain ID', {
    facts: { starts: typeof response === 'string' ? onOneLine(response, 40) : typeof response },
    remedy: 'Check that the URL is the JSON-RPC address of an execution node.',
  })
}

async function readBlock(
  state: ReaderState,
  endpoint: Endpoint,
  number: number,
  signal: AbortSignal,
): Promise<WholeBlock> {
  const stop = state.metrics.blockSeconds.startTimer()
  const response = await endpoint.call(blockCall(number, true), signal)
  if (response === null) throw unavailable(number, endpoint)
  const block = checkBlock(response, number)
  if (state.options.verify === 'headers') verifyHeader(state, block, number)
  const read = state.receiptsAtOnce ? receiptsPerBlock : receiptsPerTransaction
  const receipts = block.transactions.length === 0 ? [] : await read(state, endpoint, block, signal)
  checkReceipts(block, receipts)
  stop()
  return { block, receipts }
}

async function readHead(
  endpoint: Endpoint,
  at: number | 'latest',
  signal: AbortSignal,
): Promise<ChainHead | null> {
  const response = await endpoint.call(blockCall(at, false), signal)
  if (response === null) return null
  const { number, hash, parentHash } = checkHeader(response, at)
  return {
    number: Number(number),
    hash: hash.toLowerCase(),
    parentHash: parentHash.toLowerCase(),
  }
}

function verifyHeader(state: ReaderState, block: CheckedBlock, number: number): void {
  const verdict = checkHeaderHash(block)
  if (verdict.kind === 'differs') throw headerMismatch(block, number, verdict.computed)
  if (verdict.kind === 'matches') return
  state.metrics.unverifiedHeaders.inc()
  if (state.unverifiedReported) return
  state.unverifiedReported = true
  const fields = verdict.fields.slice(0, maxShownFields).map((name) => onOneLine(name, 40))
  state.log.warn(
    { height: number, fields },
    'headers have unknown fields: block hashes are taken from the node without verification',
  )
}

async function receiptsPerTransaction(
  { options }: ReaderState,
  endpoint: Endpoint,
  block: CheckedBlock,
  signal: AbortSignal,
): Promise<RpcReceipt[]> {
  const receipts: RpcReceipt[] = []
  let wanted = block.transactions.map((_, index) => index)
  for (let stalls = 0; ; ) {
    const calls = wanted.map((index) => receiptCall(block, index))
    const outcomes = await endpoint.calls(calls, signal)
    const lacksMethod = outcomes.some((one) => one.kind === 'error' && one.code === methodNotFound)
    if (lacksMethod) throw methodMissing(endpoint.label, receiptMethod)
    let problem = ''
    const still = wanted.filter((index, place) => {
      const found = receiptOf(outcomes[place], block, index)
      if (typeof found !== 'string') receipts[index] = found
      else problem = `receipt ${index} ${found}`
      return typeof found === 'string'
    })
    if (still.length === 0) break
    stalls = still.length < wanted.length ? 0 : stalls + 1
    if (stalls > stallsAllowed) throw incomplete(block, problem)
    wanted = still
    const waitMs = backoffMs(options.backoff, Math.max(1, stalls), Math.random())
    await pause(waitMs, undefined, { signal })
  }
  return receipts
}

async function receiptsPerBlock(
  state: ReaderState,
  endpoint: Endpoint,
  block: CheckedBlock,
  signal: AbortSignal,
): Promise<RpcReceipt[]> {
  const response = await requestBlockReceipts(state, endpoint, block, signal)
  if (response === null) return await receiptsPerTransaction(state, endpoint, block, signal)
  if (!Array.isArray(response) || response.length !== block.transactions.length)
    throw incomplete(block, 'the list of its receipts has another length')
  response.forEach((receipt: unknown, index) => {
    const problem = receiptProblem(receipt, block, index)
    if (problem !== null) throw incomplete(block, `receipt ${index} ${problem}`)
  })
  return response as RpcReceipt[]
}

/** Null when the node does not know the method, which is not called again then. */
async function requestBlockReceipts(
  state: ReaderState,
  endpoint: Endpoint,
  block: CheckedBlock,
  signal: AbortSignal,
): Promise<unknown> {
  const call = { method: 'eth_getBlockReceipts', params: [block.number] }
  const [outcome] = await endpoint.calls([call], signal)
  if (outcome?.kind === 'result') return outcome.value ?? []
  if (outcome?.kind !== 'error') throw incomplete(block, 'no response for its receipts')
  if (outcome.code !== methodNotFound) throw incomplete(block, outcome.message)
  state.receiptsAtOnce = false
  state.log.warn(
    { endpoint: endpoint.label },
    'node has no eth_getBlockReceipts, requests receipts one by one',
  )
  return null
}

function blockCall(at: number | 'latest', whole: boolean): { method: string; params: unknown[] } {
  const position = at === 'latest' ? at : `0x${at.toString(16)}`
  return { method: 'eth_getBlockByNumber', params: [position, whole] }
}

function receiptCall(block: CheckedBlock, index: number): { method: string; params: unknown[] } {
  return { method: receiptMethod, params: [block.transactions[index]?.hash] }
}

/** The receipt, or what is wrong with it. */
function receiptOf(
  outcome: RpcOutcome | undefined,
  block: CheckedBlock,
  index: number,
): RpcReceipt | string {
  if (outcome?.kind === 'error') return `was answered with an error: ${outcome.message}`
  if (outcome?.kind !== 'result') return 'is missing in the response'
  return receiptProblem(outcome.value, block, index) ?? (outcome.value as RpcReceipt)
}

function unavailable(number: number, endpoint: Endpoint): ServiceError {
  return new ServiceError('CHAIN_BLOCK_UNAVAILABLE', `${endpoint.label} has no block ${number}`, {
    facts: { height: number, endpoint: endpoint.label },
  })
}

function headerMismatch(block: CheckedBlock, number: number, computed: string): ServiceError {
  return new ServiceError(
    'CHAIN_HEADER_MISMATCH',
    `the header of block ${number} hashes to ${computed}, the node says ${block.hash}`,
    {
      facts: { height: number, computed, answered: block.hash },
      remedy:
        'Check the execution node; for a chain that hashes its headers in another way set GENERATOR_VERIFY=off.',
    },
  )
}
