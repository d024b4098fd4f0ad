/**
 * One WebSocket that reports new heads (`eth_subscribe`, https://geth.ethereum.org/docs/interacting-with-geth/rpc/pubsub).
 * It lives once: who wants another after it has closed opens another.
 */
import { Agent, WebSocket } from 'undici'
import { ServiceError } from '../errors.ts'
import { checkHeader } from './block-check.ts'
import type { Head } from './block-reader.ts'

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
const subscribeId = 1

/**
 * Connects and subscribes. Throws CHAIN_UNREACHABLE or CHAIN_TIMEOUT when it does not get that far,
 * and the signal's reason when it is aborted meanwhile.
 */
export async function openHeadSocket(
  options: HeadSocketOptions,
  onHead: (head: Head) => void,
  signal: AbortSignal,
): Promise<HeadSocket> {
  signal.throwIfAborted()
  const label = new URL(options.url).host
  const dispatcher = new Agent({
    connect: { timeout: options.timeoutMs },
    webSocket: { maxPayloadSize: maxMessageBytes },
  })
  const socket = new WebSocket(options.url, { headers: { ...options.headers }, dispatcher })
  const subscribed = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<string>()
  let reason = 'closed by the node'
  let subscription: string | null = null

  /** Does not wait for the other side, which may be gone. */
  const close = (): void => {
    socket.close()
    closed.resolve(reason)
  }
  const onAbort = (): void => {
    subscribed.reject(signal.reason)
    close()
  }
  const timer = setTimeout(() => {
    subscribed.reject(timedOut(label, options.timeoutMs))
    close()
  }, options.timeoutMs)

  const onAnswer = (message: SocketMessage): void => {
    if (message.method === 'eth_subscription') {
      if (subscription !== null && message.params?.subscription === subscription)
        onHead(toHead(message.params.result))
    } else if (message.id === subscribeId) {
      if (typeof message.result !== 'string') throw new Error(message.error?.message ?? 'refused')
      subscription = message.result
      subscribed.resolve()
    }
  }

  socket.addEventListener('open', () =>
    socket.send(
      JSON.stringify({
        jsonrpc: '2.0',
        id: subscribeId,
        method: 'eth_subscribe',
        params: ['newHeads'],
      }),
    ),
  )
  socket.addEventListener('message', ({ data }) => {
    try {
      onAnswer(JSON.parse(String(data)))
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error)
      close()
    }
  })
  socket.addEventListener('error', ({ error, message }) => {
    reason = error instanceof Error ? error.message : message || 'connection failed'
  })
  socket.addEventListener('close', () => {
    subscribed.reject(unreachable(label, reason))
    closed.resolve(reason)
    void dispatcher.destroy()
  })
  signal.addEventListener('abort', onAbort, { once: true })
  void closed.promise.then(() => signal.removeEventListener('abort', onAbort))

  try {
    await subscribed.promise
  } finally {
    clearTimeout(timer)
  }
  return { closed: closed.promise, close }
}

interface SocketMessage {
  readonly id?: unknown
  readonly method?: unknown
  readonly result?: unknown
  readonly error?: { readonly message?: string }
  readonly params?: { readonly subscription?: unknown; readonly result?: unknown }
}

function toHead(result: unknown): Head {
  const { number, hash, parentHash } = checkHeader(result, 'latest')
  return { number: Number(number), hash: hash.toLowerCase(), parentHash: parentHash.toLowerCase() }
}

function unreachable(endpoint: string, reason: string): ServiceError {
  return new ServiceError('CHAIN_UNREACHABLE', `no WebSocket at ${endpoint}: ${reason}`, {
    facts: { endpoint },
    remedy: 'Check NODE_WS_URL and that the execution node serves WebSockets there.',
  })
}

function timedOut(endpoint: string, timeoutMs: number): ServiceError {
  return new ServiceError(
    'CHAIN_TIMEOUT',
    `${endpoint} did not open a WebSocket within ${timeoutMs} ms`,
    {
      facts: { endpoint, timeoutMs },
    },
  )
}
