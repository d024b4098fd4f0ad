/**
 * One WebSocket to the consensus RPC of the registry chain (CometBFT), subscribed to transactions. It is single-use: after
 * it has closed, whatever was registered meanwhile is in the list alone, so the caller opens another and lists. cosmjs is
 * not used here: it connects again without subscribing again and says nothing of it, and neither bounds a frame nor
 * survives one that is not JSON.
 */
import { Agent, buildConnector, WebSocket } from 'undici'
import { basicAuthorization } from '../basic-authorization.ts'
import { messageOf } from '../errors.ts'
import { membersOf } from '../json-object.ts'
import { createShareOfTime, type ShareOfTime } from '../share-of-time.ts'
import { parseAnswerJson } from './answer-json.ts'
import { placeOf, refused, unreachable } from './registry-failure.ts'

interface CometSocketOptions {
  /** http, https, ws or wss; `/websocket` is added where it is not there. */
  readonly url: string
  /** What to subscribe to. */
  readonly queries: readonly string[]
  /** For connecting and subscribing together. */
  readonly timeoutMs: number
  /** So long without a message, answers to its own questions included, the connection counts as lost. */
  readonly silentMs: number
}

export interface CometSocket {
  /** Why it ended; never rejects. */
  readonly closed: Promise<string>
  close(): void
}

/** The largest View is 1.05 MB of an acknowledgement, which may carry several; what is larger is in the list. */
const maxMessageBytes = 4 * 1024 * 1024
/** No chain registers as much: what it may send at once, and in each further second. */
const allowance = { bytes: 128 * 1024 * 1024, bytesPerSecond: 4 * 1024 * 1024 }
/** Of messages that wait to be read. */
const maxWaitingBytes = 16 * 1024 * 1024
/** What the smallest message counts as. */
const minMessageBytes = 16 * 1024
const statusId = 999

interface SocketState {
  readonly options: CometSocketOptions
  readonly onResult: (result: unknown) => void
  readonly socket: WebSocket
  readonly subscribed: PromiseWithResolvers<void>
  readonly closed: PromiseWithResolvers<string>
  /** IDs of questions whose subscriptions are not confirmed. */
  readonly unconfirmed: Set<number>
  readonly openedMs: number
  /** Messages are read one at a time, and not all the time, however many arrive at once. */
  readonly time: ShareOfTime
  bytes: number
  waitingBytes: number
  isEnded: boolean
  heardMs: number
  /** Why it ends; an error where there was no connection. */
  reason: string | Error
}

/**
 * Connects and subscribes to all queries; `onResult` gets what arrives for any of them.
 * Throws REGISTRY_UNREACHABLE or REGISTRY_REFUSED, and the signal's reason.
 */
export async function openCometSocket(
  options: CometSocketOptions,
  onResult: (result: unknown) => void,
  signal: AbortSignal,
): Promise<CometSocket> {
  signal.throwIfAborted()
  const state = startSocket(options, onResult)
  const { subscribed, closed } = state
  const abandon = (reason: string): void => endSocket(state, reason)
  const onAbort = (): void => abandon('stopped')
  const timer = setTimeout(() => abandon('no answer in time'), options.timeoutMs)
  signal.addEventListener('abort', onAbort)
  void closed.promise.then(() => signal.removeEventListener('abort', onAbort))
  try {
    await subscribed.promise
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    clearTimeout(timer)
  }
  return { closed: closed.promise, close: () => endSocket(state, 'closed') }
}

function startSocket(
  options: CometSocketOptions,
  onResult: (result: unknown) => void,
): SocketState {
  const { url, queries, timeoutMs, silentMs } = options
  const connect = buildConnector({ timeout: timeoutMs })
  const dispatcher = new Agent({
    // The events of the WebSocket say nothing of why there is no connection.
    connect: (target, callback) =>
      connect(target, (...outcome) => {
        if (outcome[0] !== null) state.reason = outcome[0]
        callback(...outcome)
      }),
    webSocket: { maxPayloadSize: maxMessageBytes },
  })
  const target = socketTarget(url)
  const state: SocketState = {
    options,
    onResult,
    socket: new WebSocket(target.url, { headers: target.headers, dispatcher }),
    subscribed: Promise.withResolvers(),
    closed: Promise.withResolvers(),
    unconfirmed: new Set(queries.map((_, index) => index + 1)),
    openedMs: performance.now(),
    time: createShareOfTime(),
    bytes: 0,
    waitingBytes: 0,
    isEnded: false,
    heardMs: performance.now(),
    reason: 'closed by the node',
  }
  const { socket } = state
  const watchdog = setInterval(() => watch(state), silentMs / 3)
  socket.addEventListener('open', () => {
    for (const [index, query] of queries.entries()) send(socket, index + 1, 'subscribe', { query })
  })
  socket.addEventListener('message', ({ data }) => receive(state, data))
  // The event says nothing of why.
  socket.addEventListener('error', () => {
    if (state.reason instanceof Error) return
    state.reason = 'the connection failed, or a message was too long'
  })
  socket.addEventListener('close', () => endSocket(state, state.reason))
  void state.closed.promise.then(() => {
    clearInterval(watchdog)
    void dispatcher.destroy()
  })
  return state
}

/** Does not wait for the peer, which may be gone. */
function endSocket(state: SocketState, reason: string | Error): void {
  const { options, socket, subscribed, closed } = state
  state.isEnded = true
  const cause = typeof reason === 'string' ? new Error(reason) : reason
  subscribed.reject(unreachable(placeOf(options.url), 'REGISTRY_RPC_URL', cause))
  closed.resolve(cause.message)
  socket.close()
}

function watch(state: SocketState): void {
  if (performance.now() - state.heardMs > state.options.silentMs) endSocket(state, 'it is silent')
  else if (state.socket.readyState === WebSocket.OPEN) send(state.socket, statusId, 'status', {})
}

function receive(state: SocketState, data: unknown): void {
  if (state.isEnded) return
  state.heardMs = performance.now()
  if (typeof data !== 'string') {
    endSocket(state, 'a message is not text')
    return
  }
  const bytes = Math.max(data.length, minMessageBytes)
  state.bytes += bytes
  state.waitingBytes += bytes
  const seconds = (state.heardMs - state.openedMs) / 1_000
  const isAllowed = state.bytes <= allowance.bytes + allowance.bytesPerSecond * seconds
  if (!isAllowed || state.waitingBytes > maxWaitingBytes) {
    endSocket(state, 'it sends more than any chain registers')
    return
  }
  void state.time.run(() => {
    state.waitingBytes -= bytes
    if (!state.isEnded) readText(state, data)
  })
}

function readText(state: SocketState, text: string): void {
  try {
    readMessage(state, membersOf(parseAnswerJson(text)))
  } catch (error) {
    endSocket(state, messageOf(error))
  }
}

/** An error for a subscription ends the connection, whenever it comes: the node has dropped it. */
function readMessage(state: SocketState, message: Readonly<Record<string, unknown>>): void {
  const { id, error, result } = message
  if (typeof id !== 'number' || id < 1 || id > state.options.queries.length) return
  if (error !== undefined) {
    const { code } = membersOf(error)
    const facts = { rpcCode: typeof code === 'number' ? code : null }
    state.subscribed.reject(refused(placeOf(state.options.url), 'a subscription', facts))
    throw new Error('it refuses a subscription')
  }
  if (!state.unconfirmed.delete(id)) state.onResult(result)
  else if (state.unconfirmed.size === 0) state.subscribed.resolve()
}

function send(socket: WebSocket, id: number, method: string, params: object): void {
  socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
}

function socketTarget(text: string): { url: string; headers: Record<string, string> } {
  const url = new URL(text)
  const headers = basicAuthorization(url)
  url.username = ''
  url.password = ''
  url.protocol = url.protocol.replace(/^http/, 'ws')
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path.endsWith('/websocket') ? path : `${path}/websocket`
  return { url: url.href, headers }
}
