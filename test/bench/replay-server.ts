/**
 * A process that answers the two ingest methods from a workload's files, from memory and without
 * parsing them: the stand-in for an execution node whose own speed must not be in the figures. It
 * never counts as proof that reading a real node works.
 *
 * `POST /head` with a number moves the head, and answers when that was; everything else is JSON-RPC. Subscribers get new
 * heads over a WebSocket at `/heads`.
 */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { type WebSocket, WebSocketServer } from 'ws'

interface RpcCall {
  readonly id: number | string
  readonly method: string
  readonly params: readonly unknown[]
}

const [folder = '', blocks = '0', firstHead = blocks] = process.argv.slice(2)
const newest = Number(blocks)
let head = Number(firstHead)

const blockTexts: string[] = []
const receiptTexts = new Map<string, string>()
for (let number = 0; number <= newest; number++) {
  const [block = '', ...receipts] = readFileSync(join(folder, `${number}.jsonl`), 'latin1').split(
    '\n',
  )
  blockTexts.push(block)
  for (const receipt of receipts) receiptTexts.set(transactionHashOf(receipt), receipt)
}

function transactionHashOf(receipt: string): string {
  const mark = '"transactionHash":"'
  const start = receipt.indexOf(mark) + mark.length
  return receipt.slice(start, start + 66)
}

function blockText(tag: unknown): string {
  const number = tag === 'latest' ? head : Number(tag)
  return number <= head ? (blockTexts[number] ?? 'null') : 'null'
}

function result(call: RpcCall): string {
  if (call.method === 'eth_getTransactionReceipt')
    return receiptTexts.get(String(call.params[0])) ?? 'null'
  if (call.method === 'eth_getBlockByNumber') return blockText(call.params[0])
  if (call.method === 'eth_blockNumber') return `"0x${head.toString(16)}"`
  return '"0x1"'
}

function answer(call: RpcCall): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(call.id)},"result":${result(call)}}`
}

function answerText(body: string): string {
  const request: RpcCall | RpcCall[] = JSON.parse(body)
  return Array.isArray(request) ? `[${request.map(answer).join(',')}]` : answer(request)
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString('latin1')
}

/** Announces the newest block. Returns when, in milliseconds of the clock that all processes share. */
function moveHead(number: number): number {
  const { transactions: _, ...header } = JSON.parse(blockTexts[number] ?? '{}')
  const params = { subscription, result: header }
  const text = JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params })
  const at = performance.timeOrigin + performance.now()
  head = number
  for (const socket of heads.clients) socket.send(text)
  return at
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyOf(request)
  if (request.url === '/head') {
    response.end(String(moveHead(Number(body))))
    return
  }
  const text = Buffer.from(answerText(body), 'latin1')
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.byteLength })
  response.end(text)
}

const server = createServer((request, response) => {
  serve(request, response).catch((cause: unknown) => {
    response.writeHead(500).end(String(cause))
  })
})
server.keepAliveTimeout = 60_000
const subscription = '0x1'
const heads = new WebSocketServer({ server, path: '/heads', maxPayload: 4_096 })
heads.on('connection', (socket: WebSocket) => {
  socket.on('message', (data: Buffer) => {
    const { id } = JSON.parse(String(data))
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: subscription }))
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') process.send?.({ port: address.port })
})
process.on('disconnect', () => process.exit(0))
