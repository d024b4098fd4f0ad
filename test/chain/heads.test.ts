import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Registry } from 'prom-client'
import { WebSocketServer } from 'ws'
import type { ChainHead } from '../../src/chain/block-reader.ts'
import { followHeads } from '../../src/chain/heads.ts'
import {
  type NodeClient,
  type NodeClientOptions,
  openNodeClient,
} from '../../src/chain/node-client.ts'
import { type CapturedLog, captureLog } from '../support/captured-log.ts'
import { type Anvil, startAnvil } from '../support/chain/anvil.ts'
import { type FaultProxy, startFaultProxy } from '../support/chain/fault-proxy.ts'
import { recordWaits } from '../support/chain/recorded-waits.ts'
import { metricValue } from '../support/metric-value.ts'

interface Following {
  readonly anvil: Anvil
  readonly proxy: FaultProxy
  readonly log: CapturedLog
  readonly chain: NodeClient
  readonly stop: AbortController
  metric(name: string): Promise<number>
  /** Mines a block and answers it. */
  mine(): Promise<string>
  /** Reads heads until one has this hash. */
  until(hash: string): Promise<ChainHead>
}

/** A chain that is being followed through a proxy; its block 0 has been heard of. */
async function follow(
  t: TestContext,
  options: Partial<NodeClientOptions> & { readonly socket?: boolean } = {},
): Promise<Following> {
  const anvil = await startAnvil()
  const proxy = await startFaultProxy({ target: anvil.url, seed: 'heads', faults: [] })
  const log = captureLog()
  const registry = new Registry()
  const { socket = true, ...rest } = options
  const chain = openNodeClient(
    {
      rpcUrls: [proxy.url],
      ...(socket && { wsUrl: proxy.wsUrl }),
      backoff: { minMs: 10, maxMs: 40 },
      pollIntervalMs: 20,
      ...rest,
    },
    { log: log.log, registry },
  )
  const stop = new AbortController()
  const heads = chain.heads(stop.signal)[Symbol.asyncIterator]()
  await heads.next()
  t.after(async () => {
    stop.abort()
    await heads.return?.()
    await chain.close()
    await proxy.close()
    await anvil.close()
  })
  return {
    anvil,
    proxy,
    log,
    chain,
    stop,
    metric: (name) => metricValue(registry, name),
    async mine() {
      await anvil.rpc('evm_mine')
      const { hash } = await anvil.rpc<{ hash: string }>('eth_getBlockByNumber', 'latest', false)
      return hash
    },
    async until(hash) {
      for (;;) {
        const { value } = await heads.next()
        assert.ok(value !== undefined, 'heads go on')
        if (value.hash === hash) return value
      }
    },
  }
}

const never = new AbortController().signal
const someHead = { number: 1, hash: `0x${'ab'.repeat(32)}`, parentHash: `0x${'cd'.repeat(32)}` }
const polled = { pollIntervalMs: 60_000, maxSilenceMs: 60_000, backoff: { minMs: 1, maxMs: 1 } }
const unavailable = 'WebSocket unavailable, will use HTTP-only mode'

test('heads come over the WebSocket, without polling', async (t) => {
  const { mine, until, proxy, chain, log, metric } = await follow(t, { pollIntervalMs: 60_000 })
  await log.line('follows heads over the WebSocket')
  for (let block = 1; block <= 3; block++) {
    assert.equal((await until(await mine())).number, block)
    assert.equal(await metric('viewmesh_chain_head_height'), block)
  }
  const polled = proxy.requests.length
  for (let block = 4; block <= 8; block++) await until(await mine())
  assert.equal(chain.mode(), 'websocket')
  assert.ok(polled <= 2, `${polled} polls: one at the start, one when the WebSocket opened`)
  assert.equal(proxy.requests.length, polled)
  assert.deepEqual(log.messages('warn'), [])
})

test('while the WebSocket delivers, not even a short poll interval has HTTP polled', async (t) => {
  const options = { pollIntervalMs: 1, maxSilenceMs: 60_000 }
  const { mine, until, proxy, log } = await follow(t, options)
  await log.line('follows heads over the WebSocket')
  for (let block = 1; block <= 3; block++) await until(await mine())
  const polled = proxy.requests.length
  for (let block = 4; block <= 8; block++) await until(await mine())
  assert.equal(proxy.requests.length, polled)
})

test('without a WebSocket address heads are polled for', async (t) => {
  const { mine, until, chain, log } = await follow(t, { socket: false })
  for (let block = 1; block <= 3; block++) assert.equal((await until(await mine())).number, block)
  assert.equal(chain.mode(), 'http')
  assert.deepEqual(log.lines, [])
})

/**
 * Service page: "WebSocket unavailable, will use HTTP-only mode | upstream WebSocket URL (NODE_WS_URL)
 * wrong or port unreachable | fix the URL; HTTP polling is used meanwhile".
 */
test('a WebSocket that cannot be opened is logged once as "will use HTTP-only mode"', async (t) => {
  const { mine, until, chain, log } = await follow(t, { wsUrl: 'ws://127.0.0.1:1' })
  const line = await log.line(unavailable)
  assert.equal(line.level, 'warn')
  assert.equal(line['endpoint'], '127.0.0.1:1')
  assert.match(String(line['remedy']), /NODE_WS_URL.*HTTP polling is used meanwhile/)
  for (let block = 1; block <= 5; block++) await until(await mine())
  assert.equal(chain.mode(), 'http')
  assert.deepEqual(log.messages('warn'), [unavailable])
})

test('a lost WebSocket is replaced by polling until it is back', async (t) => {
  const options = { maxSilenceMs: 60_000 }
  const { mine, until, proxy, chain, log, metric } = await follow(t, options)
  await log.line('follows heads over the WebSocket')
  await until(await mine())
  assert.equal(await metric('viewmesh_chain_websocket_connected'), 1)
  proxy.dropSockets(true)
  await log.line(unavailable)
  assert.equal(chain.mode(), 'http')
  assert.equal(await metric('viewmesh_chain_websocket_connected'), 0)
  for (let block = 0; block < 3; block++) await until(await mine())
  proxy.dropSockets(false)
  await log.line('WebSocket is back')
  assert.equal(chain.mode(), 'websocket')
  await until(await mine())
  assert.deepEqual(log.messages('warn'), [unavailable])
  proxy.dropSockets()
  await log.line(unavailable, 2)
  await log.line('WebSocket is back', 2)
})

test('a WebSocket that has gone silent is noticed by a newer head over HTTP', async (t) => {
  const options = { maxSilenceMs: 60, pollIntervalMs: 300 }
  const { mine, until, proxy, log } = await follow(t, options)
  await log.line('follows heads over the WebSocket')
  await until(await mine())
  proxy.muteSockets()
  await until(await mine())
  assert.deepEqual(log.messages('warn'), [], 'its head is known before it is given up')
  await log.line('WebSocket is back')
  await until(await mine())
})

/** A node's WebSocket that says what the test has it say; `onAsked` is called for each subscription. */
async function openSocket(t: TestContext, onAsked: (say: (message: object) => void) => void) {
  const server = createServer()
  const node = new WebSocketServer({ server, path: '/', maxPayload: 1_024 })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    node.close()
    server.close()
  })
  const say = (message: object): void => {
    for (const client of node.clients) client.send(JSON.stringify(message))
  }
  node.on('connection', (client) => client.once('message', () => onAsked(say)))
  const { port } = server.address() as AddressInfo
  return { say, socket: { url: `ws://127.0.0.1:${port}`, headers: {}, timeoutMs: 5_000 } }
}

const confirmation = { id: 1, result: 'subscription' }

test('a WebSocket is tried again after waits that double until it has been open', async (t) => {
  const waits = recordWaits(t)
  const stop = new AbortController()
  const refusal = { id: 1, error: { message: 'no' } }
  const malformed = { method: 'eth_subscription', params: { subscription: 'subscription' } }
  const said = [[refusal], [refusal], [confirmation, malformed], [refusal]]
  const { socket } = await openSocket(t, (say) => {
    const messages = said.shift()
    if (messages === undefined) stop.abort()
    else for (const message of messages) say(message)
  })
  const poll = async (signal: AbortSignal): Promise<never> => {
    await once(signal, 'abort')
    throw signal.reason
  }
  const parts = { log: captureLog().log, poll, onMode: () => undefined }
  const timing = { ...polled, backoff: { minMs: 10, maxMs: 100 } }
  const heads = followHeads({ ...timing, socket }, parts, stop.signal)
  assert.equal((await heads.next()).done, true)
  assert.deepEqual(waits, [5, 10, 5, 10])
})

test('a head that came before the WebSocket was subscribed is asked for then', async (t) => {
  const asked = Promise.withResolvers<void>()
  const { say, socket } = await openSocket(t, () => asked.resolve())
  let number = 0
  const poll = async (): Promise<ChainHead> => {
    number++
    return { ...someHead, number }
  }
  const { log, messages } = captureLog()
  const parts = { log, poll, onMode: () => undefined }
  for await (const head of followHeads({ ...polled, socket }, parts, never)) {
    if (head.number === 2) break
    await asked.promise
    say(confirmation)
  }
  assert.deepEqual(messages('warn'), [], 'who leaves the heads has not lost the WebSocket')
})

test('a WebSocket whose heads come within a poll interval after those of HTTP is kept', async (t) => {
  const { say, socket } = await openSocket(t, (say) => say(confirmation))
  const modes: string[] = []
  let number = 0
  let polls = 0
  const poll = async (): Promise<ChainHead> => {
    if (modes.length > 0) polls++
    number++
    const params = {
      subscription: 'subscription',
      result: { ...someHead, number: `0x${number.toString(16)}` },
    }
    setImmediate(say, { method: 'eth_subscription', params })
    return { ...someHead, number }
  }
  const parts = { log: captureLog().log, poll, onMode: (mode: string) => void modes.push(mode) }
  const timing = { pollIntervalMs: 250, maxSilenceMs: 0, backoff: { minMs: 1, maxMs: 1 } }
  for await (const _ of followHeads({ ...timing, socket }, parts, never)) {
    if (polls < 4) continue
    assert.deepEqual(modes, ['websocket'])
    break
  }
})

test('a chain without new blocks keeps its WebSocket', async (t) => {
  const { proxy, chain, log } = await follow(t, { maxSilenceMs: 30 })
  await log.line('follows heads over the WebSocket')
  const before = proxy.requests.length
  while (proxy.requests.length < before + 3) await new Promise(setImmediate)
  assert.equal(chain.mode(), 'websocket')
  assert.deepEqual(log.messages('warn'), [])
})

test('heads go on after the node was away', async (t) => {
  const { mine, until, proxy, log } = await follow(t)
  await until(await mine())
  const back = proxy.leave(150)
  await log.line(unavailable)
  const hash = await mine()
  await back
  await until(hash)
  await log.line('WebSocket is back')
})

test('another block at the same height is a new head', async (t) => {
  const { anvil, mine, until } = await follow(t)
  await mine()
  await until(await mine())
  await anvil.rpc('anvil_reorg', 1, [])
  const { hash } = await anvil.rpc<{ hash: string }>('eth_getBlockByNumber', '0x2', false)
  assert.equal((await until(hash)).number, 2)
})

test('a busy consumer gets the newest head, not all that passed', async (t) => {
  const { mine, until, log } = await follow(t)
  await log.line('follows heads over the WebSocket')
  await until(await mine())
  for (let block = 0; block < 10; block++) await mine()
  const last = await mine()
  const started = (await until(last)).number
  assert.equal(started, 12)
})

test('heads end when the signal is aborted', async (t) => {
  const { chain } = await follow(t, { socket: false })
  const stop = new AbortController()
  const seen: number[] = []
  for await (const head of chain.heads(stop.signal)) {
    seen.push(head.number)
    stop.abort()
  }
  assert.deepEqual(seen, [0])
})

test('who leaves the heads ends what was polled for them', async () => {
  const signals: AbortSignal[] = []
  const poll = async (signal: AbortSignal): Promise<ChainHead> => {
    signals.push(signal)
    return someHead
  }
  const parts = { log: captureLog().log, poll, onMode: () => undefined }
  for await (const head of followHeads(polled, parts, never)) {
    assert.deepEqual(head, someHead)
    break
  }
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true],
  )
})

test('heads end with an error that no answer of a node explains', async () => {
  const unforeseen = new TypeError('a mistake of ours')
  const poll = async (): Promise<never> => {
    throw unforeseen
  }
  const parts = { log: captureLog().log, poll, onMode: () => undefined }
  await assert.rejects(followHeads(polled, parts, never).next(), unforeseen)
})

test('the key goes with the WebSocket’s handshake, into the address for Google', async (t) => {
  const asked = new Set<string>()
  const server = createServer().on('upgrade', ({ url, headers }, socket) => {
    asked.add(`${url} ${headers['x-key']} ${headers['x-goog-api-key']}`)
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const address = server.address()
  const wsUrl = `ws://127.0.0.1:${typeof address === 'object' && address?.port}/ws`
  for (const apiKeyHeader of ['X-Key', 'X-Goog-Api-Key']) {
    const { log } = await follow(t, { wsUrl, apiKey: 'k', apiKeyHeader })
    await log.line(unavailable)
  }
  assert.deepEqual([...asked], ['/ws k undefined', '/ws?key=k undefined undefined'])
})
