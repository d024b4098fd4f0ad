/**
 * Stands between a client and an execution node and goes wrong on purpose: every fault a node or the
 * way to it can show, in an order that a seed repeats, with a count of how often each was shown.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { createSeededRandom, type SeededRandom } from '../seeded-random.ts'

/** What can go wrong, and for which requests. */
export const faults = [
  'timeout',
  'http-error',
  'rpc-error',
  'batch-refused',
  'batch-short',
  'batch-shuffled',
  'null-receipt',
  'receipt-without-logs',
  'receipt-of-another',
  'truncated',
  'head-back',
  'absence',
] as const

export type Fault = (typeof faults)[number]

interface FaultProxyOptions {
  /** HTTP address of the node; its WebSocket is expected at the same port. */
  readonly target: string
  readonly seed: string
  /** Faults to show. Default: all. */
  readonly faults?: readonly Fault[]
  /** One request in this many goes wrong where a fault fits it. Default 3. */
  readonly oneIn?: number
  /** How long an absence lasts. Default 50. */
  readonly absenceMs?: number
}

export interface FaultProxy {
  readonly url: string
  readonly wsUrl: string
  /** How often each fault was shown. */
  readonly shown: Readonly<Record<Fault, number>>
  /** The bodies of all requests as they came. */
  readonly requests: readonly RpcRequest[][]
  /** Shows no more faults. */
  calm(): void
  /** Goes away and comes back after `ms`. */
  leave(ms: number): Promise<void>
  /** Ends all open WebSockets; `refuse` also turns away new ones until it is called with false. */
  dropSockets(refuse?: boolean): void
  /** WebSockets stay open, but nothing comes out of those that are open now. */
  muteSockets(): void
  close(): Promise<void>
}

interface RpcRequest {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
  readonly headers: IncomingMessage['headers']
}

interface Reply {
  id: unknown
  result?: unknown
  error?: { code: number; message: string }
}

interface Receipt {
  readonly transactionHash: string
  readonly logs: readonly unknown[]
}

/** Starts the proxy on a free port. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const { target, absenceMs = 50 } = options
  const random = createSeededRandom(options.seed)
  const shown = Object.fromEntries(faults.map((fault) => [fault, 0])) as Record<Fault, number>
  const requests: RpcRequest[][] = []
  const enabled = new Set(options.faults ?? faults)
  const sockets = new Set<{ readonly client: Socket; readonly node: Socket; muted: boolean }>()
  let refusesSockets = false
  let port = 0
  let back: Promise<void> = Promise.resolve()

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  server.on('upgrade', (request: IncomingMessage, client: Socket, head: Buffer) => {
    if (refusesSockets) return void client.destroy()
    const node = connect(Number(new URL(target).port), new URL(target).hostname)
    const pair = { client, node, muted: false }
    sockets.add(pair)
    const lines = request.rawHeaders.flatMap((value, index, all) =>
      index % 2 === 0 ? [`${value}: ${all[index + 1]}`] : [],
    )
    node.write(`GET ${request.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    node.write(head)
    node.on('data', (data) => pair.muted || client.write(data))
    client.on('data', (data) => pair.muted || node.write(data))
    const end = (): void => {
      client.destroy()
      node.destroy()
      sockets.delete(pair)
    }
    for (const socket of [client, node]) socket.on('close', end).on('error', end)
  })

  const leave = async (ms: number): Promise<void> => {
    if (!server.listening) return await back
    for (const { client } of sockets) client.destroy()
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
    await new Promise((resolve) => setTimeout(resolve, ms))
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const body = JSON.parse(text) as RpcRequest | RpcRequest[]
    const calls = [body].flat().map((call) => ({ ...call, headers: request.headers }))
    requests.push(calls)
    const replies = await askNode(target, text)
    const list = [replies].flat()
    const receipts = receiptsIn(calls, list)
    const exchange: Exchange = { calls, replies: list, receipts, random, target }
    const fault = pickFault(exchange)
    if (fault !== null) shown[fault]++
    await deliver(fault, exchange, replies, response)
  }

  async function deliver(
    fault: Fault | null,
    exchange: Exchange,
    replies: unknown,
    response: ServerResponse,
  ): Promise<void> {
    if (fault === 'timeout') return
    if (fault === 'http-error') return send(response, random.pick([500, 502, 503, 429]), 'no')
    if (fault === 'absence') {
      back = leave(absenceMs)
      return
    }
    const changed = fault === null ? undefined : await faultTable[fault].spoil?.(exchange)
    const answer = JSON.stringify(changed ?? replies)
    if (fault === 'truncated') cutShort(response, answer, random)
    else send(response, 200, answer)
  }

  function pickFault(exchange: Exchange): Fault | null {
    const fitting = [...enabled].filter((fault) => faultTable[fault].fits(exchange))
    if (fitting.length === 0 || random.int(options.oneIn ?? 3) !== 0) return null
    const least = Math.min(...fitting.map((fault) => shown[fault]))
    return random.pick(fitting.filter((fault) => shown[fault] === least))
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
  return {
    url: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    shown,
    requests,
    calm: () => enabled.clear(),
    leave,
    dropSockets(refuse = false) {
      refusesSockets = refuse
      for (const { client } of sockets) client.destroy()
    },
    muteSockets() {
      for (const pair of sockets) pair.muted = true
    },
    async close() {
      await back
      for (const { client } of sockets) client.destroy()
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

interface Exchange {
  readonly calls: readonly RpcRequest[]
  /** What the node answered; may be changed. */
  readonly replies: readonly Reply[]
  /** Those of the replies that hold a receipt. */
  readonly receipts: readonly Reply[]
  readonly random: SeededRandom
  readonly target: string
}

interface FaultRule {
  /** Whether this exchange can show the fault. */
  readonly fits: (exchange: Exchange) => boolean
  /** Changes the replies, or answers what is sent in their place. */
  readonly spoil?: (exchange: Exchange) => unknown
}

const always = (): boolean => true
const isBatch = ({ calls }: Exchange): boolean => calls.length > 1
const refusal = { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no batches here' } }
const busy = { error: { code: -32000, message: 'busy' } }

const faultTable: { readonly [F in Fault]: FaultRule } = {
  timeout: { fits: always },
  'http-error': { fits: always },
  'rpc-error': { fits: always, spoil: ({ random, replies }) => spoilOne(random, replies, busy) },
  'batch-refused': { fits: isBatch, spoil: () => refusal },
  'batch-short': {
    fits: isBatch,
    spoil: ({ random, replies }) => replies.slice(0, random.int(replies.length)),
  },
  'batch-shuffled': { fits: isBatch, spoil: ({ replies }) => replies.toReversed() },
  'null-receipt': {
    fits: ({ receipts }) => receipts.length > 0,
    spoil: ({ random, receipts }) => spoilOne(random, receipts, { result: null }),
  },
  'receipt-without-logs': { fits: ({ receipts }) => receipts.some(hasLogs), spoil: loseLogs },
  'receipt-of-another': { fits: ({ receipts }) => receipts.length > 0, spoil: giveAnother },
  truncated: { fits: always },
  'head-back': { fits: ({ calls }) => calls[0]?.params[0] === 'latest', spoil: olderHead },
  absence: { fits: always },
}

async function askNode(target: string, body: string): Promise<Reply | Reply[]> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(target, { method: 'POST', headers, body })
  return (await response.json()) as Reply | Reply[]
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(text)
}

/** Half an answer: as all there is, or as a connection that breaks. */
function cutShort(response: ServerResponse, answer: string, random: SeededRandom): void {
  const half = answer.slice(0, Math.floor(answer.length / 2))
  if (random.int(2) === 0) {
    send(response, 200, half)
    return
  }
  response.writeHead(200, { 'content-length': Buffer.byteLength(answer) })
  response.write(half, () => response.destroy())
}

function receiptsIn(calls: readonly RpcRequest[], replies: readonly Reply[]): Reply[] {
  return replies.filter(
    (reply, index) => calls[index]?.method === 'eth_getTransactionReceipt' && reply.result !== null,
  )
}

function spoilOne(random: SeededRandom, replies: readonly Reply[], change: Partial<Reply>): void {
  const reply = random.pick(replies)
  delete reply.result
  Object.assign(reply, change)
}

const hasLogs = ({ result }: Reply): boolean => (result as Receipt).logs.length > 0

function loseLogs({ random, receipts }: Exchange): void {
  const reply = random.pick(receipts.filter(hasLogs))
  reply.result = { ...(reply.result as Receipt), logs: [] }
}

/** The receipt of another transaction of the batch where there is one, else one that says so. */
function giveAnother({ random, receipts }: Exchange): void {
  const reply = random.pick(receipts)
  const other = receipts.find((candidate) => candidate !== reply)
  const transactionHash = random.hex(32)
  reply.result = other?.result ?? { ...(reply.result as Receipt), transactionHash }
}

async function olderHead({ target, replies, random }: Exchange): Promise<unknown> {
  const [reply] = replies
  const head = Number((reply?.result as { number: string } | undefined)?.number)
  const height = `0x${Math.max(0, head - 1 - random.int(3)).toString(16)}`
  const call = { method: 'eth_getBlockByNumber', params: [height, false] }
  return await askNode(target, JSON.stringify({ jsonrpc: '2.0', id: reply?.id, ...call }))
}
