import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { maxKeptBytes } from '../../../src/graphql/plan/plan-cache.ts'
import { type ChainBlock, createChain, shapes } from '../../support/chain/block-factory.ts'
import { metricValue } from '../../support/metric-value.ts'
import { openGraphqlRoom } from '../support/graphql-room.ts'
import { openTestApi, type TestApi } from '../support/graphql-server.ts'
import { repeat } from '../support/repeat.ts'

const mib = 1024 * 1024

/** More bytes than the sockets between two programs take up by themselves. */
const largeAnswer = '{ Transaction { input } }'
const largeBlocks = createChain({
  count: 4,
  shape: { transactions: 40, logs: 0, entries: 0, calldataBytes: 100_000 },
})

const heldBytes = (api: TestApi): Promise<number> =>
  metricValue(api.registry, 'viewmesh_graphql_held_bytes')

async function untilHeld(api: TestApi, isEnough: (bytes: number) => boolean): Promise<void> {
  while (!isEnough(await heldBytes(api))) await new Promise(setImmediate)
}

/** A client that has the head of its answer and reads nothing of the body. */
async function openUnread(api: TestApi, query: string): Promise<ClientRequest> {
  const client = httpRequest(api.url, { method: 'POST' })
  client.on('error', () => undefined)
  client.end(JSON.stringify({ query }))
  const [response] = (await once(client, 'response')) as [IncomingMessage]
  response.on('error', () => undefined)
  return client
}

/** What a request is refused with that finds no memory, over HTTP. */
async function askBusy(api: TestApi, query: string): Promise<void> {
  const response = await fetch(api.url, { method: 'POST', body: JSON.stringify({ query }) })
  assert.equal(response.status, 503)
  assert.equal(response.headers.get('retry-after'), '10')
  assert.equal(response.headers.get('access-control-allow-origin'), '*')
  const { data, errors } = (await response.json()) as {
    data: null
    errors: { message: string; extensions: object }[]
  }
  assert.equal(data, null)
  assert.match(
    errors[0]?.message ?? '',
    /^Requests hold \d+ of \d+ bytes, and this one asks for more than it would leave free\. Ask again in a moment/,
  )
  assert.deepEqual(errors[0]?.extensions, { code: 'GRAPHQL_BUSY' })
}

test('an answer is held until its client has read it, and a second one is refused meanwhile', async (t) => {
  const api = await openTestApi(t, { blocks: largeBlocks, limits: { maxHeldBytes: 80 * mib } })
  const client = await openUnread(api, largeAnswer)
  assert.ok((await heldBytes(api)) > 16 * mib)
  await askBusy(api, largeAnswer)
  assert.equal(await metricValue(api.registry, 'viewmesh_graphql_busy_total'), 1)
  assert.equal((await api.ask('{ Block { number } }')).status, 200, 'but for small ones there is')
  client.destroy()
  await untilHeld(api, (bytes) => bytes === 0)
  const { status, body } = await api.ask(largeAnswer)
  assert.equal(status, 200)
  assert.equal((body as { data: { Transaction: unknown[] } }).data.Transaction.length, 160)
  await untilHeld(api, (bytes) => bytes === 0)
})

test('an answer’s bytes are released as they are read', async (t) => {
  const api = await openTestApi(t, { blocks: largeBlocks, limits: { maxHeldBytes: 80 * mib } })
  const client = httpRequest(api.url, { method: 'POST' })
  client.end(JSON.stringify({ query: largeAnswer }))
  const [response] = (await once(client, 'response')) as [IncomingMessage]
  const start = await heldBytes(api)
  let read = 0
  for await (const piece of response) {
    read += (piece as Buffer).length
    if (read > 16 * mib) break
  }
  assert.ok((await heldBytes(api)) < start - 8 * mib)
})

test('an answer sent as an event is held until it is read', async (t) => {
  const api = await openTestApi(t, { blocks: largeBlocks, limits: { maxHeldBytes: 80 * mib } })
  const client = httpRequest(api.url, {
    method: 'POST',
    headers: { accept: 'text/event-stream' },
  })
  client.end(JSON.stringify({ query: largeAnswer }))
  const [response] = (await once(client, 'response')) as [IncomingMessage]
  assert.ok((await heldBytes(api)) > 16 * mib)
  let text = ''
  for await (const piece of response.setEncoding('utf8')) text += piece
  const [first = '', second = ''] = text.split('\n\n')
  assert.equal(JSON.parse(first.replace('event: next\ndata: ', '')).data.Transaction.length, 160)
  assert.equal(second, 'event: complete\ndata:')
  await untilHeld(api, (bytes) => bytes === 0)
})

test('bodies are held while they arrive, and one that does not fit is refused early', async (t) => {
  const api = await openTestApi(t, { limits: { maxHeldBytes: 10 * mib } })
  const start = (): ClientRequest => {
    const headers = { 'content-length': 2 * mib }
    const client = httpRequest(api.url, { method: 'POST', headers })
    client.on('error', () => undefined)
    client.write(Buffer.alloc(mib, ' '))
    return client
  }
  const first = start()
  await untilHeld(api, (bytes) => bytes === 4 * mib)
  const second = start()
  const [response] = (await once(second, 'response')) as [IncomingMessage]
  assert.equal(response.statusCode, 503)
  assert.equal(response.headers['retry-after'], '10')
  first.destroy()
  second.destroy()
  await untilHeld(api, (bytes) => bytes === 0)
})

test('requests that wait behind others of their connection are released with it', async (t) => {
  const asked: (AbortSignal | undefined)[] = []
  const bothAsked = Promise.withResolvers<void>()
  const api = await openTestApi(t, {
    wrap: (graphql) => ({
      ...graphql,
      async execute(request, signal, account) {
        asked.push(signal)
        if (asked.length === 2) bothAsked.resolve()
        await once(signal as AbortSignal, 'abort')
        return await graphql.execute(request, signal, account)
      },
    }),
  })
  const { hostname, port, pathname } = new URL(api.url)
  const socket = connect(Number(port), hostname)
  const get = `GET ${pathname}?query={__typename} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`
  socket.write(get + get)
  await bothAsked.promise
  assert.ok((await heldBytes(api)) > 0)
  socket.destroy()
  await untilHeld(api, (bytes) => bytes === 0)
  assert.deepEqual(
    asked.map((signal) => signal?.aborted),
    [true, true],
  )
})

const manyLogs = createChain({
  count: 12,
  shape: { transactions: 20, logs: 60, entries: 0, calldataBytes: 4 },
})
const sorted = (limit: number) => `Log(order: {data: ASC}, limit: ${limit}) { logIndex }`

test('memory for groups and sorts counts, and is released with the answer', async (t) => {
  const { graphql, query, errors } = await openGraphqlRoom(t, {
    chain: manyLogs,
    limits: { maxHeldBytes: 1_200_000 },
  })
  const message =
    'The request, what is kept to answer it and its answer take more than 600000 bytes. Narrow the range of blocks, select or group by fewer fields, or set a smaller `limit`; this is half of GRAPHQL_MAX_HELD_BYTES, which the operator sets.'
  const groups = (limit: number) =>
    `{ Log(filter: {blockNumber: {_le: ${limit}}}, groupBy: [data, transactionHash, logIndex], limit: 1) { data } }`
  assert.equal((await query(groups(6))).Log.length, 1)
  assert.deepEqual(await errors(groups(12)), [message])
  assert.equal((await query(`{ ${sorted(300)} }`)).Log.length, 300)
  assert.deepEqual(await errors(`{ ${sorted(700)} }`), [message])
  assert.equal(graphql.memory.heldBytes(), 0)
})

test('memory to sort one list is released before the next list', async (t) => {
  const { query } = await openGraphqlRoom(t, {
    chain: manyLogs,
    limits: { maxHeldBytes: 10 * mib },
  })
  const lists = await query(`{ ${repeat(20, (index) => `a${index}: ${sorted(400)}`)} }`)
  assert.equal(lists.a19.length, 400)
})

test('what a query was parsed to is held until it is answered', async (t) => {
  const text = `{ ${repeat(900, (index) => `a${index}: __typename`)} }`
  const within = async (maxHeldBytes: number) => {
    const { graphql } = await openGraphqlRoom(t, { chain: [], limits: { maxHeldBytes } })
    const { errors } = await graphql.execute({ query: text })
    return { code: errors?.[0]?.extensions['code'], held: graphql.memory.heldBytes() }
  }
  assert.deepEqual(await within(4 * mib), { code: undefined, held: 0 })
  assert.deepEqual(await within(mib), { code: 'GRAPHQL_SIZE_LIMIT', held: 0 })
})

test('a request that fails holds nothing of the answer it had begun', async (t) => {
  const { graphql } = await openGraphqlRoom(t)
  const account = graphql.memory.openAccount()
  const heldAfter = async (query: string): Promise<number> => {
    await graphql.execute({ query }, undefined, account)
    return graphql.memory.heldBytes()
  }
  assert.equal(await heldAfter('{ Log { data } Block(limit: -1) { number } }'), 0)
  assert.ok((await heldAfter('{ Log { data } }')) > 0)
})

test('sorted rows do not keep everything that was read of their blocks', async (t) => {
  const shape = { transactions: 2, logs: 2, entries: 0, calldataBytes: 100_000 }
  const chain = createChain({ count: 60, shape })
  const { query } = await openGraphqlRoom(t, { chain, limits: { maxHeldBytes: 20 * mib } })
  const { Transaction } = await query('{ Transaction(order: {value: ASC}) { hash logs { data } } }')
  assert.equal(Transaction.length, 120)
})

test('an event is held until every subscriber has taken it', async (t) => {
  const api = await openTestApi(t, { blocks: largeBlocks.slice(0, 1) })
  const client = await openUnread(api, 'subscription { Transaction { input } }')
  const shape = { ...shapes.tiny, transactions: 8, calldataBytes: 100_000 }
  const many = createChain({ count: 60, parent: largeBlocks[0] as ChainBlock, shape })
  for (const block of many) {
    await api.add(block)
    if ((await heldBytes(api)) > mib) break
  }
  await untilHeld(api, (bytes) => bytes > mib)
  client.destroy()
  await untilHeld(api, (bytes) => bytes === 0)
})

test('cached queries and plans stay within their bounds in bytes', async (t) => {
  const api = await openTestApi(t)
  const planBytes = () => metricValue(api.registry, 'viewmesh_graphql_plan_bytes')
  assert.equal(await planBytes(), 0)
  const large = (name: number) =>
    `{ Block(limit: 1) { ${repeat(900, (index) => `a${index}: number`)} z${name}: number } }`
  await api.ask(large(0))
  const one = await planBytes()
  assert.ok(one > 500_000 && one < 2_000_000)
  for (let name = 1; name < 40; name++) await api.ask(large(name))
  assert.ok((await planBytes()) > 10 * one)
  assert.ok((await planBytes()) <= maxKeptBytes)
})

/** Also what a stream that is idle for longer than a slow reader may be. */
test('a client that reads what waits for it is never disconnected', async (t: TestContext) => {
  const api = await openTestApi(t, {
    blocks: largeBlocks.slice(0, 1),
    routes: { maxStallMs: 20 },
    subscriptionLimits: { heartbeatMs: 5 },
  })
  const controller = new AbortController()
  const body = JSON.stringify({ query: 'subscription { Block { number } }' })
  const { signal } = controller
  const response = await fetch(api.url, { method: 'POST', body, signal })
  let text = ''
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece
    if (text.split(':\n\n').length > 30) break
  }
  assert.equal(text.replaceAll(':\n\n', ''), '')
  controller.abort()
  assert.equal(await metricValue(api.registry, 'viewmesh_graphql_slow_readers_total'), 0)
})
