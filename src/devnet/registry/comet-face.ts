/**
 * The interface of CometBFT of the stand-in of the registry chain: JSON-RPC over HTTP and WebSocket, with subscriptions to
 * transactions, their limit for each client, and `tx_search`.
 */
import { type WebSocket, WebSocketServer } from 'ws'
import { membersOf } from '../../json-object.ts'
import { txBytes, txHash, txResult, valuesOf } from './comet-events.ts'
import { type CometQuery, parseCometQuery } from './comet-query.ts'
import { type FaceResponse, type HttpFace, openHttpFace } from './http-face.ts'
import type { Ledger, LedgerTransaction } from './ledger.ts'

interface CometParts {
  readonly ledger: Ledger
  /** Cosmos chain ID. */
  readonly chainId: number
  /** The newest height. */
  readonly height: () => Promise<number>
}

interface RpcRequest {
  readonly id: unknown
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

/** Result or error of a call. */
type Answer = { readonly result: unknown } | { readonly error: RpcError }

interface RpcError {
  readonly code: number
  readonly message: string
  readonly data: string
}

interface Subscription {
  /** Of the request that subscribed; every message repeats it. */
  readonly id: unknown
  readonly text: string
  readonly query: CometQuery
}

const maxSubscriptions = 5
const maxFrameBytes = 1024 * 1024

/** Opens the face; port 0 takes any free one. The WebSocket is at `/websocket`. */
export async function openCometFace(port: number, parts: CometParts): Promise<HttpFace> {
  const http = await openHttpFace(port, (_, url, body) => overHttp(url, body, parts))
  const sockets = new WebSocketServer({
    server: http.server,
    path: '/websocket',
    maxPayload: maxFrameBytes,
  })
  const subscriptions = new Map<WebSocket, Subscription[]>()
  sockets.on('connection', (socket: WebSocket) => {
    const own: Subscription[] = []
    subscriptions.set(socket, own)
    socket.on('error', () => socket.terminate())
    socket.on('close', () => subscriptions.delete(socket))
    // Without its node it has no answer to give.
    socket.on('message', (data: Buffer) => {
      overSocket(socket, String(data), own, parts).catch(() => socket.terminate())
    })
  })
  const stop = parts.ledger.onTransaction((transaction) => {
    for (const [socket, own] of subscriptions) publish(socket, own, transaction)
  })
  return {
    ...http,
    async close() {
      stop()
      for (const socket of sockets.clients) socket.terminate()
      sockets.close()
      await http.close()
    },
  }
}

async function overHttp(url: URL, body: string, parts: CometParts): Promise<FaceResponse> {
  const request = body === '' ? fromPath(url) : parseRequest(body)
  if (request === null) return { status: 400, json: reply(null, parseFailure) }
  return { status: 200, json: reply(request.id, await call(request, parts)) }
}

/** `GET /status` and the like; values may be quoted. */
function fromPath({ pathname, searchParams }: URL): RpcRequest {
  const unquoted = [...searchParams].map(
    ([key, value]) => [key, value.replace(/^"(.*)"$/, '$1')] as const,
  )
  return { id: -1, method: pathname.slice(1), params: Object.fromEntries(unquoted) }
}

async function overSocket(
  socket: WebSocket,
  text: string,
  own: Subscription[],
  parts: CometParts,
): Promise<void> {
  const request = parseRequest(text)
  const answer =
    request === null ? parseFailure : (change(request, own) ?? (await call(request, parts)))
  socket.send(JSON.stringify(reply(request?.id ?? null, answer)))
}

/** Changes the subscriptions of a connection; null for a call that does not. */
function change({ id, method, params }: RpcRequest, own: Subscription[]): Answer | null {
  const text = String(params['query'] ?? '')
  const at = own.findIndex((subscription) => subscription.text === text)
  switch (method) {
    case 'subscribe': {
      const query = parseCometQuery(text)
      if (own.length >= maxSubscriptions)
        return internal(`max_subscriptions_per_client ${maxSubscriptions} reached`)
      if (query === null) return internal(`failed to parse query: ${text}`)
      if (at >= 0) return internal('already subscribed')
      own.push({ id, text, query })
      return { result: {} }
    }
    case 'unsubscribe':
      if (at < 0) return internal('subscription not found')
      own.splice(at, 1)
      return { result: {} }
    case 'unsubscribe_all':
      own.length = 0
      return { result: {} }
    default:
      return null
  }
}

function publish(
  socket: WebSocket,
  own: readonly Subscription[],
  transaction: LedgerTransaction,
): void {
  const values = valuesOf(transaction)
  for (const { id, text, query } of own) {
    if (!query(values)) continue
    const value = {
      TxResult: {
        height: String(transaction.height),
        index: 0,
        tx: txBytes(transaction).toString('base64'),
        result: txResult(transaction),
      },
    }
    const data = { type: 'tendermint/event/Tx', value }
    const result = { query: text, data, events: Object.fromEntries(values) }
    socket.send(JSON.stringify(reply(id, { result })))
  }
}

async function call({ method, params }: RpcRequest, parts: CometParts): Promise<Answer> {
  switch (method) {
    case 'health':
      return { result: {} }
    case 'status':
      return { result: await status(parts) }
    case 'abci_info':
      return { result: { response: { last_block_height: String(await parts.height()) } } }
    case 'tx_search':
      return search(params, parts.ledger)
    default:
      return { error: { code: -32601, message: 'Method not found', data: '' } }
  }
}

const maxPage = 100

function search(params: Readonly<Record<string, unknown>>, ledger: Ledger): Answer {
  const text = String(params['query'])
  const query = parseCometQuery(text)
  if (query === null) return internal(`failed to parse query: ${text}`)
  const found = ledger.transactions().filter((transaction) => query(valuesOf(transaction)))
  const ordered = params['order_by'] === 'desc' ? found.toReversed() : found
  const size = Math.min(Number(params['per_page']) || 30, maxPage)
  const page = Number(params['page']) || 1
  const pages = Math.max(1, Math.ceil(found.length / size))
  if (page < 1 || page > pages)
    return internal(`page should be within [1, ${pages}] range, given ${page}`)
  const txs = ordered.slice((page - 1) * size, page * size).map((transaction) => ({
    hash: txHash(transaction),
    height: String(transaction.height),
    index: 0,
    tx_result: txResult(transaction),
    tx: txBytes(transaction).toString('base64'),
  }))
  return { result: { txs, total_count: String(found.length) } }
}

const emptyHash = '0'.repeat(64)
const genesisTime = '2026-01-01T00:00:00Z'

async function status({ chainId, height }: CometParts): Promise<unknown> {
  const latest = String(await height())
  return {
    node_info: {
      protocol_version: { p2p: '8', block: '11', app: '0' },
      id: '0'.repeat(40),
      listen_addr: 'tcp://127.0.0.1:0',
      network: String(chainId),
      version: '0.38.19',
      channels: '',
      moniker: 'stand-in',
      other: { tx_index: 'on', rpc_address: '' },
    },
    sync_info: {
      latest_block_hash: emptyHash,
      latest_app_hash: emptyHash,
      latest_block_height: latest,
      latest_block_time: new Date().toISOString(),
      earliest_block_hash: emptyHash,
      earliest_app_hash: emptyHash,
      earliest_block_height: '1',
      earliest_block_time: genesisTime,
      catching_up: false,
    },
    validator_info: {
      address: '0'.repeat(40),
      pub_key: { type: 'tendermint/PubKeyEd25519', value: Buffer.alloc(32).toString('base64') },
      voting_power: '1',
    },
  }
}

const parseFailure: Answer = {
  error: { code: -32700, message: 'Parse error. Invalid JSON', data: 'error unmarshaling request' },
}

function internal(data: string): Answer {
  return { error: { code: -32603, message: 'Internal error', data } }
}

function reply(id: unknown, answer: Answer): unknown {
  return { jsonrpc: '2.0', id, ...answer }
}

function parseRequest(text: string): RpcRequest | null {
  try {
    const { id = null, method, params } = membersOf(JSON.parse(text))
    return method === undefined ? null : { id, method: String(method), params: membersOf(params) }
  } catch {
    return null
  }
}
