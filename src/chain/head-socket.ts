/**
 * One WebSocket that reports new heads (`eth_subscribe`, https://geth.ethereum.org/docs/interacting-with-geth/rpc/pubsub).
 * It is single-use: after it has closed, the caller opens another.
 */
import { Agent, WebSocket } from 'undici'
import { messageOf, ServiceError } from '../errors.ts'
import { onOneLine } from '../one-line.ts'
import { checkHeader } from './block-check.ts'
import type { ChainHead } from './block-reader.ts'

export interface HeadSocketOptions {
  readonly url: string
  /** Sent with the opening handshake. */
  readonly headers: Readonly<Record<string, string>>
  /** For connecting and subscribing together. */
  readonly timeoutMs: number
}

export interface HeadSocket {
  /** Why it ended; never rejects. */
  readonly closed: Promise<string>
  close(): void
}

/** A head is a header of under 2 kB; some nodes add fields. */
const maxMessageBytes = 256 * 1024
/** Characters of why a socket ended: a node may say it. */
const maxReason = 300
const subscribeId = 1
const subscribeCall = JSON.stringify({
  jsonrpc: '2.0',
  id: subscribeId,
  method: 'eth_subscribe',
  params: ['newHeads'],
})

/**
 * Connects and subscribes. Throws CHAIN_UNREACHABLE or CHAIN_TIMEOUT when that fails, and the signal's
 * reason when it is aborted meanwhile.
 */
export async function openHeadSocket(
  options: HeadSocketOptions,
  onHead: (head: ChainHead) => void,
  signal: AbortSignal,
): Promise<HeadSocket> {
  signal.throwIfAborted()
  const { subscribed, closed, close } = startSocket(options, onHead)
  const abandon = (reason: unknown): void => {
    subscribed.reject(reason)
    close()
  }
  const onAbort = (): void => abandon(signal.reason)
  const timer = setTimeout(() => abandon(timedOut(options)), options.timeoutMs)
  signal.addEventListener('abort', onAbort)
  void closed.promise.then(() => signal.removeEventListener('abort', onAbort))
  try {
    await subscribed.promise
  } finally {
    clearTimeout(timer)
  }
  return { closed: closed.promise, close }
}

/** A connecting socket; `subscribed` rejects when it closes before the subscription. */
interface StartedSocket {
  readonly subscribed: PromiseWithResolvers<void>
  readonly closed: PromiseWithResolvers<string>
  close(): void
}

function startSocket(options: HeadSocketOptions, onHead: (head: ChainHead) => void): StartedSocket {
  const { url, headers, timeoutMs } = options
  const dispatcher = new Agent({
    connect: { timeout: timeoutMs },
    webSocket: { maxPayloadSize: maxMessageBytes },
  })
  const socket = new WebSocket(url, { headers: { ...headers }, dispatcher })
  const subscribed = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<string>()
  const read = createMessageReader(onHead, subscribed.resolve)
  let reason = 'closed by the node'
  /** Does not wait for the peer, which may be gone. */
  const close = (): void => {
    socket.close()
    end()
  }
  const end = (): void => {
    subscribed.reject(unreachable(url, reason))
    closed.resolve(reason)
  }
  socket.addEventListener('open', () => socket.send(subscribeCall))
  socket.addEventListener('message', ({ data }) => {
    try {
      read(JSON.parse(String(data)))
    } catch (error) {
      reason = onOneLine(messageOf(error), maxReason)
      close()
    }
  })
  // The event says nothing of why.
  socket.addEventListener('error', () => {
    reason = 'the connection failed, or a message was too long'
  })
  socket.addEventListener('close', () => {
    end()
    void dispatcher.destroy()
  })
  return { subscribed, closed, close }
}

/** Throws where the node refuses the subscription or sends a malformed head. */
function createMessageReader(
  onHead: (head: ChainHead) => void,
  onSubscribed: () => void,
): (message: SocketMessage) => void {
  let subscription: string | null = null
  return ({ id, method, params, result, error }) => {
    if (method === 'eth_subscription') {
      if (subscription !== null && params?.subscription === subscription)
        onHead(toHead(params.result))
    } else if (id === subscribeId) {
      if (typeof result !== 'string') throw new Error(refusalOf(error))
      subscription = result
      onSubscribed()
    }
  }
}

interface SocketMessage {
  readonly id?: unknown
  readonly method?: unknown
  readonly result?: unknown
  readonly error?: { readonly message?: unknown } | null
  readonly params?: { readonly subscription?: unknown; readonly result?: unknown }
}

function refusalOf(error: SocketMessage['error']): string {
  return typeof error?.message === 'string' ? error.message : 'subscription refused'
}

function toHead(result: unknown): ChainHead {
  const { number, hash, parentHash } = checkHeader(result, 'latest')
  return { number: Number(number), hash: hash.toLowerCase(), parentHash: parentHash.toLowerCase() }
}

function unreachable(url: string, reason: string): ServiceError {
  const endpoint = new URL(url).host
  return new ServiceError('CHAIN_UNREACHABLE', `no WebSocket at ${endpoint}: ${reason}`, {
    facts: { endpoint },
    remedy: 'Check NODE_WS_URL and that the execution node serves WebSockets there.',
  })
}

function timedOut({ url, timeoutMs }: HeadSocketOptions): ServiceError {
  const endpoint = new URL(url).host
  const message = `${endpoint} did not open a WebSocket within ${timeoutMs} ms`
  return new ServiceError('CHAIN_TIMEOUT', message, { facts: { endpoint, timeoutMs } })
}
