import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { type TestContext, test } from 'node:test'
import { createChain } from '../../support/chain/block-factory.ts'
import { openEventReader } from '../support/event-reader.ts'
import { openTestApi, type TestApi } from '../support/graphql-server.ts'

const chain = createChain({ count: 3 })
const [first] = chain
const open = (t: TestContext): Promise<TestApi> => openTestApi(t, { blocks: chain })

const post = (api: TestApi, query: string, headers: Record<string, string> = {}) =>
  fetch(api.url, { method: 'POST', headers, body: JSON.stringify({ query }) })
const urlOf = (api: TestApi, query: string): string =>
  `${api.url}?${new URLSearchParams({ query })}`
const eventsOnly = { accept: 'text/event-stream' }

test('a query ends when its client disconnects', async (t) => {
  const started = Promise.withResolvers<AbortSignal>()
  const api = await openTestApi(t, {
    wrap: (graphql) => ({
      ...graphql,
      async execute(request, signal) {
        if (signal === undefined) throw new Error('a signal is passed')
        started.resolve(signal)
        if (!signal.aborted) await once(signal, 'abort')
        return graphql.execute(request, signal)
      },
    }),
  })
  const client = httpRequest(api.url, { method: 'POST' })
  client.on('error', () => {})
  client.end('{"query": "{ Block { number } }"}')
  const signal = await started.promise
  assert.equal(signal.aborted, false)
  client.destroy()
  if (!signal.aborted) await once(signal, 'abort')
})

test('an answer that was sent whole does not abort its request', async (t) => {
  const signals: (AbortSignal | undefined)[] = []
  const api = await openTestApi(t, {
    wrap: (graphql) => ({
      ...graphql,
      execute(request, signal) {
        signals.push(signal)
        return graphql.execute(request, signal)
      },
    }),
  })
  await api.ask('{ __typename }')
  await api.ask('{ __typename }')
  assert.deepEqual(
    signals.map((signal) => signal?.aborted),
    [false, false],
  )
})

test('a large answer arrives whole', async (t) => {
  const blocks = createChain({
    count: 4,
    shape: { transactions: 60, logs: 10, entries: 0, calldataBytes: 2_000 },
  })
  const api = await openTestApi(t, { blocks })
  const { body } = await api.ask('{ Transaction { hash input } }')
  const { data } = body as { data: { Transaction: { hash: string; input: string }[] } }
  assert.ok(JSON.stringify(body).length > 600_000)
  assert.deepEqual(
    data.Transaction,
    blocks.flatMap(({ block }) =>
      (block.transactions ?? []).map((transaction) => ({
        hash: transaction.hash,
        input: transaction.input,
      })),
    ),
  )
})

for (const [kind, headers] of [
  ['a large answer', {}],
  ['an answer of events', eventsOnly],
] as const)
  test(`a client that stops reading ${kind} is disconnected`, async (t) => {
    const shape = { transactions: 40, logs: 0, entries: 0, calldataBytes: 100_000 }
    const blocks = createChain({ count: 4, shape })
    const signals: AbortSignal[] = []
    const api = await openTestApi(t, {
      blocks,
      limits: { maxResultBytes: 64 * 1024 * 1024 },
      routes: { maxStallMs: 200 },
      wrap: (graphql) => ({
        ...graphql,
        execute(request, signal) {
          if (signal !== undefined) signals.push(signal)
          return graphql.execute(request, signal)
        },
      }),
    })
    const client = httpRequest(api.url, { method: 'POST', headers })
    client.end('{"query": "{ Transaction { input } }"}')
    const [response] = (await once(client, 'response')) as [IncomingMessage]
    assert.equal(response.headers['transfer-encoding'], 'chunked')
    const [signal] = signals
    if (signal?.aborted === false) await once(signal, 'abort')
    await assert.rejects(response.toArray(), { code: 'ECONNRESET' })
  })

test('HEAD returns what GET does, without the body', async (t) => {
  const api = await open(t)
  const url = urlOf(api, '{ Block { number } }')
  const found = await fetch(url, { method: 'HEAD' })
  assert.equal(found.status, 200)
  const whole = await (await fetch(url)).text()
  assert.equal(found.headers.get('content-length'), String(whole.length))
  const empty = await fetch(api.url, { method: 'HEAD' })
  assert.equal(empty.status, 400)
  const noStream = await fetch(urlOf(api, '{ a }'), { method: 'HEAD', headers: eventsOnly })
  assert.equal(noStream.headers.get('content-type'), 'application/json; charset=utf-8')
})

test('an answer of less than 512 KiB is sent with its length', async (t) => {
  const api = await openTestApi(t, {
    wrap: (graphql) => ({
      ...graphql,
      async execute({ query }) {
        return { data: ['"', 'x'.repeat(Number(query)), '"'] }
      },
    }),
  })
  const around = '{"data":""}'.length
  const lengthOf = async (length: number): Promise<string | null> => {
    const response = await post(api, String(length - around))
    assert.equal((await response.text()).length, length)
    return response.headers.get('content-length')
  }
  assert.equal(await lengthOf(512 * 1024 - 1), String(512 * 1024 - 1))
  assert.equal(await lengthOf(512 * 1024), null)
})

test('of an answer only what follows once it is being read is released before its end', async (t) => {
  const released: number[] = []
  const api = await openTestApi(t, {
    wrap: (graphql) => ({
      ...graphql,
      memory: {
        ...graphql.memory,
        openAccount() {
          const account = graphql.memory.openAccount()
          return { ...account, release: (bytes) => void released.push(bytes) }
        },
      },
      async execute({ query }) {
        return { data: ['"', 'x'.repeat(Number(query)), '"'] }
      },
    }),
  })
  await (await post(api, String(400 * 1024))).text()
  assert.deepEqual(released, [])
  await (await post(api, String(700 * 1024))).text()
  const bytes = released.reduce((sum, each) => sum + each, 0)
  assert.ok(bytes > 100 * 1024 && bytes < 300 * 1024, `${bytes} bytes`)
})

test('a query is answered as JSON, also one with the word subscription', async (t) => {
  const api = await open(t)
  const response = await post(api, '{ subscription: Block(limit: 1) { number } }')
  assert.deepEqual(await response.json(), { data: { subscription: [{ number: 1 }] } })
})

test('a query’s answer comes as an event also where there are as many subscribers as may be', async (t) => {
  const api = await openTestApi(t, { blocks: chain, subscriptionLimits: { maxSubscribers: 0 } })
  const reader = await openEventReader(
    api.url,
    { query: '{ Block(limit: 1) { number } }' },
    { headers: eventsOnly },
  )
  const data = { data: { Block: [{ number: 1 }] } }
  assert.deepEqual(await reader.next(), { event: 'next', data })
})

test('a client that accepts only events gets a query’s answer as one event', async (t) => {
  const api = await open(t)
  const response = await post(api, '{ Block(limit: 1) { hash } }', eventsOnly)
  assert.equal(response.status, 200)
  assert.equal(
    await response.text(),
    `event: next\ndata: {"data":{"Block":[{"hash":"${first?.hash}"}]}}\n\nevent: complete\ndata:\n\n`,
  )
})
