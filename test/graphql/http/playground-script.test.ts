import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startPlayground } from '../../../src/graphql/http/playground-script.ts'
import { type ChainBlock, createChain } from '../../support/chain/block-factory.ts'
import { openTestApi } from '../support/graphql-server.ts'

const [first, second] = createChain({ count: 2 }) as [ChainBlock, ChainBlock]
const url = 'http://localhost/graphql'
const firstTab = { query: '{ first }' }

type Fetcher = (
  request: { query: string; operationName?: string | null },
  options?: { headers?: Record<string, string> },
) => Promise<object>

/** What GraphiQL is shown with on a page that has these tabs of Views. */
function start(settings = { url, defaultTabs: [firstTab] }, viewTabs?: string) {
  const elements: { type: unknown; props: Record<string, unknown> | null; children: unknown[] }[] =
    []
  const place = viewTabs === undefined ? null : { dataset: { viewTabs } }
  const shown: object[] = []
  startPlayground(
    {
      document: { getElementById: (id) => (id === 'playground' ? place : null) },
      React: {
        createElement(type, props, ...children) {
          const element = { type, props: props as Record<string, unknown> | null, children }
          elements.push(element)
          return element
        },
      },
      ReactDOM: { createRoot: (at) => ({ render: (element) => shown.push(at ?? {}, element) }) },
      GraphiQL: { Logo: 'logo' },
    },
    settings,
  )
  const [logo, whole] = elements
  assert.deepEqual(logo, { type: 'logo', props: null, children: ['Viewmesh'] })
  assert.deepEqual(shown, [place ?? {}, whole])
  assert.deepEqual(whole?.children, [logo])
  const { fetcher, ...props } = whole.props ?? {}
  return { props, fetcher: fetcher as Fetcher }
}

test('the first tabs are those of any chain, then those of the Views on the page', () => {
  assert.deepEqual(start().props, { defaultTabs: [firstTab], defaultQuery: '' })
  const { props } = start({ url, defaultTabs: [firstTab] }, '[{"query": "{ View { a } }"}]')
  assert.deepEqual(props['defaultTabs'], [firstTab, { query: '{ View { a } }' }])
})

/** Answers every request with these pieces of an event stream, and notes what was asked. */
function mockStream(t: TestContext, pieces: readonly string[], failure?: Error) {
  const asked: { url: unknown; body: unknown; headers: Headers }[] = []
  let signal: AbortSignal | null | undefined
  t.mock.method(globalThis, 'fetch', async (to: unknown, init: RequestInit) => {
    asked.push({ url: to, body: JSON.parse(String(init.body)), headers: new Headers(init.headers) })
    signal = init.signal
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(Buffer.from(piece))
        if (failure !== undefined)
          signal?.addEventListener('abort', () => controller.error(failure))
        else controller.close()
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })
  })
  return { asked, isAborted: () => signal?.aborted }
}

async function allOf(results: AsyncIterable<object>): Promise<object[]> {
  const found: object[] = []
  for await (const result of results) found.push(result)
  return found
}

const subscription = { query: 'subscription Follow { a }', operationName: 'Follow' }
const subscribe = async (fetcher: Fetcher): Promise<AsyncIterable<object>> =>
  (await fetcher(subscription)) as AsyncIterable<object>

test('events are results however they are cut, and comments and the end are none', async (t) => {
  mockStream(t, [
    ':\n\n',
    'event: next\ndata: {"n":1}\n\nevent: next\ndata: {"n":2}\n\neve',
    'nt: next\ndata: {"n"',
    ':3}\n\n:\n\nevent: complete\ndata:\n\n',
  ])
  const results = await allOf(await subscribe(start().fetcher))
  assert.deepEqual(results, [{ n: 1 }, { n: 2 }, { n: 3 }])
})

test('whoever leaves the results closes the connection, and is told of no failure', async (t) => {
  const { isAborted } = mockStream(t, ['event: next\ndata: {"n":1}\n\n'], new Error('gone'))
  for await (const result of await subscribe(start().fetcher)) {
    assert.deepEqual(result, { n: 1 })
    assert.equal(isAborted(), false)
    break
  }
  assert.equal(isAborted(), true)
})

test('leaving while the next result is waited for ends the results', async (t) => {
  const { isAborted } = mockStream(t, [], new Error('gone'))
  const iterator = (await subscribe(start().fetcher))[Symbol.asyncIterator]()
  const waiting = iterator.next()
  const left = iterator.return?.()
  assert.equal(isAborted(), true)
  assert.deepEqual(await waiting, { done: true, value: undefined })
  assert.deepEqual(await left, { done: true, value: undefined })
})

test('a connection that fails is reported to whoever waits for results', async (t) => {
  t.mock.method(globalThis, 'fetch', async () => {
    const body = new ReadableStream({ start: (controller) => controller.error(new Error('lost')) })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  })
  await assert.rejects(allOf(await subscribe(start().fetcher)), { message: 'lost' })
})

test('a request is sent with its headers, without the operation of the tab before', async (t) => {
  const { asked } = mockStream(t, [])
  const { fetcher } = start()
  const headers = { authorization: 'Bearer x' }
  await fetcher(subscription, { headers })
  await fetcher({ ...subscription, operationName: 'Before' })
  await fetcher({ query: '{ a }' }, {})
  assert.deepEqual(
    asked.map(({ body }) => body),
    [subscription, { ...subscription, operationName: null }, { query: '{ a }' }],
  )
  assert.equal(asked[0]?.url, url)
  assert.deepEqual(Object.fromEntries(asked[0]?.headers ?? []), {
    'content-type': 'application/json',
    ...headers,
  })
})

test('a query yields its answer, and a subscription each new block', async (t) => {
  const api = await openTestApi(t, { blocks: [first] })
  const { fetcher } = start({ url: api.url, defaultTabs: [] })
  assert.deepEqual(await fetcher({ query: '{ Block { number } }' }), {
    data: { Block: [{ number: 1 }] },
  })
  const results = (await fetcher({
    query: 'subscription { Block { number } }',
  })) as AsyncIterable<object>
  await api.add(second)
  for await (const result of results) {
    assert.deepEqual(result, { data: { Block: [{ number: 2 }] } })
    break
  }
})
