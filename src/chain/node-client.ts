/**
 * The client of an execution node: new heads as they arrive, and complete, checked blocks. Which URL
 * responds, how many attempts that takes and over which transport is hidden from its callers.
 */
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { type ErrorCode, ServiceError } from '../errors.ts'
import type { Backoff } from '../primitives/backoff.ts'
import { type ChainHead, createBlockReader, type WholeBlock } from './block-reader.ts'
import { openEndpoint } from './endpoint.ts'
import { followHeads, type HeadsOptions } from './heads.ts'
import { createChainMetrics } from './metrics.ts'
import { openUpstream, type UpstreamFailure } from './upstream.ts'

export interface NodeClientOptions {
  /** HTTP addresses of one chain's nodes, the preferred one first. */
  readonly rpcUrls: readonly string[]
  /** Absent: heads are polled over HTTP. */
  readonly wsUrl?: string
  readonly apiKey?: string
  /** Name of the header that carries the key. Default `Authorization`. */
  readonly apiKeyHeader?: string
  /** Default `headers`: every block's hash is recomputed from its header. */
  readonly verify?: 'headers' | 'off'
  /** Default `per-transaction`; `per-block` calls `eth_getBlockReceipts`. */
  readonly receipts?: 'per-transaction' | 'per-block'
  /** From a request to the last byte of its response. Default 30,000. */
  readonly timeoutMs?: number
  /**
   * After which a request for a head or a header counts as a failure, though it is awaited for `timeoutMs`: a node that
   * hangs is to be known soon. Default 10,000.
   */
  readonly lateMs?: number
  /** Poll interval for the head without a WebSocket. Default 1,000. */
  readonly pollIntervalMs?: number
  /** Silence of the WebSocket after which the head is polled over HTTP. Default 15,000. */
  readonly maxSilenceMs?: number
  /** Largest response to one request. Default 64 MiB. */
  readonly maxResponseBytes?: number
  /** Most calls in one batch request; fewer where a node accepts fewer. Default 100. */
  readonly maxBatch?: number
  /** Between attempts. Default 100 to 10,000 ms. */
  readonly backoff?: Backoff
}

export interface NodeClient {
  /**
   * The chain ID; null where the node answers other requests and refuses this one, as proxies with a list of
   * allowed methods do. Waits as `genesis`.
   */
  chainId(signal: AbortSignal): Promise<number | null>
  /** Block 0. Waits for the node as long as it takes; throws what `signal` says when aborted. */
  genesis(signal: AbortSignal): Promise<ChainHead>
  /** The newest head, read over HTTP. Waits as `genesis`. */
  head(signal: AbortSignal): Promise<ChainHead>
  /** The block at a height without its contents, null when the node has none there. Waits as `genesis`. */
  header(number: number, signal: AbortSignal): Promise<ChainHead | null>
  /**
   * The newest head whenever it changes, also to a lower or different one; heads that pass while
   * the consumer is busy are skipped. Ends when `signal` is aborted.
   */
  heads(signal: AbortSignal): AsyncIterable<ChainHead>
  /**
   * A complete, checked block with the receipt of each transaction. Waits for a height the node does
   * not have yet, and retries after every failure, until `signal` is aborted.
   */
  block(number: number, signal: AbortSignal): Promise<WholeBlock>
  /** How heads arrive; `offline` while the node does not respond. */
  mode(): 'websocket' | 'http' | 'offline'
  /** What is wrong with the node now, null when nothing is. */
  failure(): UpstreamFailure | null
  close(): Promise<void>
}

const defaults = {
  apiKeyHeader: 'Authorization',
  verify: 'headers',
  receipts: 'per-transaction',
  timeoutMs: 30_000,
  lateMs: 10_000,
  pollIntervalMs: 1_000,
  maxSilenceMs: 15_000,
  maxResponseBytes: 64 * 1024 * 1024,
  maxBatch: 100,
  backoff: { minMs: 100, maxMs: 10_000 },
} as const

/** Connects lazily: a node that is not up yet delays the first result, not the start. */
export function openNodeClient(
  options: NodeClientOptions,
  parts: { readonly log: Logger; readonly registry: Registry },
): NodeClient {
  const settings: Settings = { ...defaults, ...options }
  const { log } = parts
  const { lateMs } = settings
  const metrics = createChainMetrics(parts.registry)
  const headers = apiKeyHeaders(settings)
  const endpoints = settings.rpcUrls.map((url) =>
    openEndpoint({ ...settings, url, headers }, { metrics }),
  )
  const upstream = openUpstream(endpoints, settings, { log, metrics })
  const reader = createBlockReader(settings, { log, metrics })
  let mode: 'websocket' | 'http' = 'http'

  const onMode = (now: 'websocket' | 'http'): void => {
    mode = now
    metrics.websocket.set(now === 'websocket' ? 1 : 0)
  }

  const headAt = (at: number | 'latest', signal: AbortSignal): Promise<ChainHead> =>
    upstream.persist(
      `head ${at}`,
      async (endpoint) => (await reader.head(endpoint, at, signal)) ?? noBlock(at),
      signal,
      lateMs,
    )

  async function* heads(signal: AbortSignal): AsyncGenerator<ChainHead, void, undefined> {
    const poll = (stop: AbortSignal): Promise<ChainHead> => headAt('latest', stop)
    for await (const head of followHeads(headsOptions(settings), { log, poll, onMode }, signal)) {
      metrics.headHeight.set(head.number)
      yield head
    }
  }

  return {
    chainId: (signal) =>
      upstream.persist('chain ID', (endpoint) => reader.chainId(endpoint, signal), signal, lateMs),
    genesis: (signal) => headAt(0, signal),
    head: (signal) => headAt('latest', signal),
    header: (number, signal) =>
      upstream.persist(
        `header ${number}`,
        (endpoint) => reader.head(endpoint, number, signal),
        signal,
        lateMs,
      ),
    heads,
    block: (number, signal) =>
      upstream.persist(
        `block ${number}`,
        (endpoint) => reader.block(endpoint, number, signal),
        signal,
      ),
    mode: () => (upstream.failure() === null ? mode : 'offline'),
    failure: () => upstream.failure(),
    close: () => upstream.close(),
  }
}

type Settings = NodeClientOptions & Required<Pick<NodeClientOptions, keyof typeof defaults>>

/** The header that carries the key, as `<name>: <key>`, with no scheme added. */
function apiKeyHeaders({ apiKey, apiKeyHeader }: Settings): Readonly<Record<string, string>> {
  return apiKey === undefined ? {} : { [apiKeyHeader.toLowerCase()]: apiKey }
}

function headsOptions(settings: Settings): HeadsOptions {
  const { wsUrl, timeoutMs, pollIntervalMs, maxSilenceMs, backoff } = settings
  const timing = { pollIntervalMs, maxSilenceMs, backoff }
  if (wsUrl === undefined) return timing
  return { ...timing, socket: { ...socketTarget(settings, wsUrl), timeoutMs } }
}

/**
 * Google's nodes accept no header on a WebSocket: a key whose header name contains `goog` goes into the
 * URL, as existing configurations expect.
 */
function socketTarget(
  settings: Settings,
  wsUrl: string,
): { url: string; headers: Readonly<Record<string, string>> } {
  const { apiKey, apiKeyHeader } = settings
  if (apiKey === undefined || !apiKeyHeader.toLowerCase().includes('goog'))
    return { url: wsUrl, headers: apiKeyHeaders(settings) }
  const url = new URL(wsUrl)
  url.searchParams.set('key', apiKey)
  return { url: url.href, headers: {} }
}

function noBlock(at: number | 'latest'): never {
  const code: ErrorCode = 'CHAIN_BLOCK_UNAVAILABLE'
  throw new ServiceError(code, `the node has no block ${at}`, { facts: { height: at } })
}
