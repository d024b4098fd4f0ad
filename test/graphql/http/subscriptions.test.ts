import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { type TestContext, test } from 'node:test'
import {
  type ChainBlock,
  createChain,
  forkChain,
  shapes,
} from '../../support/chain/block-factory.ts'
import { metricValue } from '../../support/metric-value.ts'
import { openEventReader } from '../support/event-reader.ts'
import { openTestApi, type TestApi, type TestApiSetup } from '../support/graphql-server.ts'

const chain = createChain({ count: 8 })
const [first, second, third, fourth] = chain as [ChainBlock, ChainBlock, ChainBlock, ChainBlock]

const open = (t: TestContext, setup: TestApiSetup = {}): Promise<TestApi> =>
  openTestApi(t, { blocks: chain.slice(0, 2), ...setup })

const next = (data: object): object => ({ event: 'next', data: { data } })
const complete = { event: 'complete', data: null }
const blocks = 'subscription { Ethereum__Mainnet__Block { number hash } }'
const blockEvent = ({ number, hash }: ChainBlock): object =>
  next({ Ethereum__Mainnet__Block: [{ number, hash }] })

test('a subscription gets every new block, and no earlier one', async (t) => {
  const api = await open(t)
  const reader = await openEventReader(api.url, { query: blocks })
  assert.equal(reader.response.status, 200)
  assert.equal(reader.response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  assert.equal(reader.response.headers.get('access-control-allow-origin'), '*')
  const sent = () => metricValue(api.registry, 'viewmesh_graphql_subscription_events_total')
  assert.equal(await sent(), 0)
  await api.add(third)
  await api.add(fourth)
  assert.deepEqual(await reader.next(), blockEvent(third))
  assert.deepEqual(await reader.next(), blockEvent(fourth))
  assert.equal(await sent(), 2)
})

test('a stream is open once its first bytes arrive', async (t) => {
  const api = await open(t)
  const reader = await openEventReader(api.url, { query: blocks })
  assert.deepEqual(await reader.nextLine(), { event: 'comment', data: null })
})

test('an EventSource subscribes by GET', async (t) => {
  const api = await open(t)
  const headers = { accept: 'text/event-stream' }
  const reader = await openEventReader(api.url, { query: blocks }, { method: 'GET', headers })
  await api.add(third)
  assert.deepEqual(await reader.next(), blockEvent(third))
})

test('only what matches the filter is sent, with variables, fragments and relations', async (t) => {
  const api = await open(t)
  const query = `
    subscription Logs($topic: String!) {
      logs: Log(filter: {topics: {_any: {_eq: $topic}}}) { ...Place transaction { hash } }
    }
    fragment Place on Log { blockNumber logIndex }`
  const [receipt] = fourth.receipts.filter(({ logs }) => (logs ?? []).length > 0)
  const [log] = receipt?.logs ?? []
  const variables = { topic: log?.topics?.[1] }
  const reader = await openEventReader(api.url, { query, variables })
  await api.add(third)
  await api.add(fourth)
  const transaction = { hash: receipt?.transactionHash }
  assert.deepEqual(
    await reader.next(),
    next({ logs: [{ blockNumber: 4, logIndex: Number(log?.logIndex), transaction }] }),
  )
})

test('all rows of a height come in one event, in chain order', async (t) => {
  const api = await open(t)
  const query = 'subscription { Transaction { hash } }'
  const reader = await openEventReader(api.url, { query })
  await api.add(third)
  assert.deepEqual(
    await reader.next(),
    next({ Transaction: (third.block.transactions ?? []).map(({ hash }) => ({ hash })) }),
  )
})

test('a block that replaces another one is sent as well', async (t) => {
  const api = await open(t, { blocks: chain.slice(0, 3) })
  const reader = await openEventReader(api.url, { query: blocks })
  const other = forkChain(chain.slice(0, 3), 2)[2] as ChainBlock
  await api.store.truncateAbove(2)
  await api.add(other)
  assert.notEqual(other.hash, third.hash)
  assert.deepEqual(await reader.next(), blockEvent(other))
})

test('each subscriber gets its own rows, and equal requests are executed once', async (t) => {
  const looked: string[] = []
  const api = await open(t, {
    wrap: (graphql) => ({
      ...graphql,
      executeAt(request, heights, signal) {
        if (heights.from > 0) looked.push(`${heights.from}: ${request.query}`)
        return graphql.executeAt(request, heights, signal)
      },
    }),
  })
  const hashes = 'subscription { Block { hash } }'
  const readers = [
    await openEventReader(api.url, { query: blocks }),
    await openEventReader(api.url, { query: hashes }),
    await openEventReader(api.url, { query: blocks }),
  ]
  await api.add(third)
  assert.deepEqual(await Promise.all(readers.map((reader) => reader.next())), [
    blockEvent(third),
    next({ Block: [{ hash: third.hash }] }),
    blockEvent(third),
  ])
  assert.deepEqual(looked, [`3: ${blocks}`, `3: ${hashes}`])
})

test('an invalid subscription gets its errors and is completed', async (t) => {
  const api = await open(t)
  const headers = { accept: 'text/event-stream' }
  const unknown = await openEventReader(
    api.url,
    { query: 'subscription { Block { height } }' },
    { headers },
  )
  const message = 'Cannot query field "height" on type "Ethereum__Mainnet__Block".'
  const locations = [{ line: 1, column: 24 }]
  assert.deepEqual(await unknown.next(), {
    event: 'next',
    data: { data: null, errors: [{ message, locations }] },
  })
  assert.deepEqual(await unknown.next(), complete)
  assert.equal(await unknown.next(), undefined)
  const query = 'subscription ($n: Int!) { Block(filter: {number: {_gt: $n}}) { number } }'
  const lacking = await openEventReader(api.url, { query })
  assert.deepEqual(await lacking.next(), {
    event: 'next',
    data: {
      data: null,
      errors: [
        {
          message: 'Variable "$n" of required type "Int!" was not provided.',
          locations: [{ line: 1, column: 15 }],
        },
      ],
    },
  })
  assert.deepEqual(await lacking.next(), complete)
  assert.equal(await subscribers(api), 0)
})

test('an invalid subscription without an Accept header for events is answered with JSON', async (t) => {
  const api = await open(t)
  const { status, body } = await api.ask('subscription { Block { height } }')
  assert.equal(status, 200)
  assert.equal((body as { data: unknown }).data, null)
})

test('an event that is too large is replaced by an error, and the subscription continues', async (t) => {
  const api = await open(t, { subscriptionLimits: { maxQueuedBytes: 2_000 } })
  const query = 'subscription { Transaction { input } }'
  const reader = await openEventReader(api.url, { query })
  const shape = { ...shapes.tiny, calldataBytes: 4_000 }
  const large = createChain({ count: 1, parent: second, shape })[0] as ChainBlock
  const small = createChain({ count: 1, parent: large, shape: shapes.tiny })[0] as ChainBlock
  await api.add(large)
  await api.add(small)
  assert.deepEqual(await reader.next(), {
    event: 'next',
    data: {
      data: null,
      errors: [
        {
          message:
            'An event is larger than 2000 bytes and was left out. Select fewer fields (input, data and logsBloom are the largest) or add a filter.',
          extensions: { code: 'GRAPHQL_SIZE_LIMIT' },
        },
      ],
    },
  })
  assert.deepEqual(
    await reader.next(),
    next({ Transaction: (small.block.transactions ?? []).map(({ input }) => ({ input })) }),
  )
})

test('idle streams get a comment at each heartbeat', async (t) => {
  const api = await open(t, { subscriptionLimits: { heartbeatMs: 5 } })
  const reader = await openEventReader(api.url, { query: blocks })
  for (let count = 0; count < 4; count++) {
    assert.deepEqual(await reader.nextLine(), { event: 'comment', data: null })
  }
})

test('a subscriber that disconnects is removed', async (t) => {
  const api = await open(t)
  const reader = await openEventReader(api.url, { query: blocks })
  await openEventReader(api.url, { query: blocks })
  assert.equal(await subscribers(api), 2)
  reader.close()
  while ((await subscribers(api)) !== 1) await new Promise(setImmediate)
})

test('a subscriber that leaves before its turn to be answered takes no place', async (t) => {
  const asked = Promise.withResolvers<void>()
  const turn = Promise.withResolvers<void>()
  const api = await open(t, {
    subscriptionLimits: { maxSubscribers: 1 },
    wrap: (graphql) => ({
      ...graphql,
      scheduler: {
        ...graphql.scheduler,
        isBusy: () => true,
        nextTurn() {
          asked.resolve()
          return turn.promise
        },
      },
    }),
  })
  const client = startRequest(api.url, blocks)
  await asked.promise
  client.destroy()
  while (api.graphql.memory.heldBytes() > 0) await new Promise(setImmediate)
  turn.resolve()
  await new Promise(setImmediate)
  assert.equal(api.subscriptions.isFull(), false)
})

test('a subscriber that leaves while its request is checked is removed', async (t) => {
  const asked = Promise.withResolvers<AbortSignal | undefined>()
  const checked = Promise.withResolvers<void>()
  const api = await open(t, {
    wrap: (graphql) => ({
      ...graphql,
      async executeAt(request, heights, signal) {
        asked.resolve(signal)
        await checked.promise
        return await graphql.executeAt(request, heights)
      },
    }),
  })
  const client = startRequest(api.url, blocks)
  const signal = await asked.promise
  client.destroy()
  while (signal?.aborted === false) await new Promise(setImmediate)
  checked.resolve()
  await openEventReader(api.url, { query: 'subscription { Block { hash } }' })
  assert.equal(await subscribers(api), 1)
})

test('a request without subscribers is executed no more, and again for the next one', async (t) => {
  const looked: number[] = []
  const api = await open(t, {
    wrap: (graphql) => ({
      ...graphql,
      executeAt(request, heights, signal) {
        if (heights.from > 0) looked.push(heights.from)
        return graphql.executeAt(request, heights, signal)
      },
    }),
  })
  const reader = await openEventReader(api.url, { query: blocks })
  reader.close()
  while ((await subscribers(api)) !== 0) await new Promise(setImmediate)
  await api.add(third)
  const later = await openEventReader(api.url, { query: blocks })
  await api.add(fourth)
  assert.deepEqual(await later.next(), blockEvent(fourth))
  assert.deepEqual(looked, [4])
})

test('subscribers beyond the limit get a 503 that says when to retry', async (t) => {
  const api = await open(t, { subscriptionLimits: { maxSubscribers: 2 } })
  const reader = await openEventReader(api.url, { query: blocks })
  await openEventReader(api.url, { query: blocks })
  const refused = await openEventReader(api.url, { query: blocks })
  assert.equal(refused.response.status, 503)
  assert.equal(refused.response.headers.get('retry-after'), '10')
  assert.deepEqual(await api.ask('{ Block(limit: 1) { number } }'), {
    status: 200,
    body: { data: { Block: [{ number: 1 }] } },
  })
  reader.close()
  while ((await subscribers(api)) !== 1) await new Promise(setImmediate)
  const later = await openEventReader(api.url, { query: blocks })
  assert.equal(later.response.status, 200)
})

test('a subscriber that reads too slowly gets an error and is closed, and the others continue', async (t) => {
  const api = await open(t, { subscriptionLimits: { maxQueuedBytes: 64 * 1024 } })
  const query = 'subscription { Transaction { input } }'
  const [slow] = await openUnread(api.url, query)
  const quick = await openEventReader(api.url, { query })
  const shape = { ...shapes.tiny, transactions: 8, calldataBytes: 3_000 }
  const many = createChain({ count: 400, parent: second, shape })
  for (const block of many) {
    await api.add(block)
    await quick.next()
    if ((await subscribers(api)) === 1) break
  }
  assert.equal(await subscribers(api), 1)
  const late = await api.registry.getSingleMetric('viewmesh_graphql_subscribers_late_total')?.get()
  assert.equal(late?.values[0]?.value, 1)
  slow.setEncoding('utf8')
  let text = ''
  for await (const chunk of slow) text = (text + chunk).slice(-1_000)
  const [last, end] = text.split('\n\n').slice(-3)
  assert.deepEqual(JSON.parse(last?.split('\ndata: ')[1] ?? ''), {
    data: null,
    errors: [
      {
        message:
          'Events come faster than this subscriber reads them; some are lost. Subscribe again, and query the blocks in between; select fewer fields or filter if it happens often.',
        extensions: { code: 'GRAPHQL_SUBSCRIBER_SLOW' },
      },
    ],
  })
  assert.equal(end, 'event: complete\ndata:')
})

test('subscribers whose request runs slower than blocks arrive get an error and are closed', async (t) => {
  const blocked = Promise.withResolvers<void>()
  const api = await open(t, {
    subscriptionLimits: { maxPendingHeights: 3 },
    wrap: (graphql) => ({
      ...graphql,
      async executeAt(request, heights, signal) {
        if (heights.from > 0) await blocked.promise
        return await graphql.executeAt(request, heights, signal)
      },
    }),
  })
  const reader = await openEventReader(api.url, { query: blocks })
  for (const height of [3, 4, 5, 6, 7]) api.graphql.notify(height)
  const { data } = (await reader.next()) as { data: { errors: { extensions: object }[] } }
  assert.deepEqual(data.errors[0]?.extensions, { code: 'GRAPHQL_SUBSCRIBER_SLOW' })
  assert.deepEqual(await reader.next(), complete)
  blocked.resolve()
})

test('closing completes every stream and accepts no further one', async (t) => {
  const api = await open(t)
  const reader = await openEventReader(api.url, { query: blocks })
  api.subscriptions.close()
  assert.deepEqual(await reader.next(), complete)
  assert.equal(await reader.next(), undefined)
  const late = await openEventReader(api.url, { query: blocks })
  assert.equal(late.response.status, 503)
})

test('a height without a matching row sends nothing', async (t) => {
  const api = await open(t)
  const query = `subscription { Block(filter: {number: {_ge: 4}}) { number } }`
  const reader = await openEventReader(api.url, { query })
  await api.add(third)
  await api.add(fourth)
  assert.deepEqual(await reader.next(), next({ Block: [{ number: 4 }] }))
  assert.equal(first.number, 1)
})

async function subscribers(api: TestApi): Promise<number | undefined> {
  const metric = await api.registry.getSingleMetric('viewmesh_graphql_subscribers')?.get()
  return metric?.values[0]?.value
}

function startRequest(url: string, query: string): ClientRequest {
  const client = httpRequest(url, { method: 'POST' })
  client.on('error', () => undefined)
  client.end(JSON.stringify({ query }))
  return client
}

/** A subscriber that has the answer's head and reads nothing of its body. */
async function openUnread(url: string, query: string): Promise<[IncomingMessage]> {
  const client = startRequest(url, query)
  return (await once(client, 'response')) as [IncomingMessage]
}
