import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Graphql, GraphqlRequest, GraphqlResult } from '../../src/graphql/graphql.ts'
import { subscribeInProcess } from '../../src/graphql/subscribe-in-process.ts'
import { createChain } from '../support/chain/block-factory.ts'
import { type GraphqlRoom, openGraphqlRoom, readData } from './support/graphql-room.ts'
import { putRows, servedView } from './support/served-views.ts'

const view = servedView('type Seen { n: Int text: String }', 'Log { address }', 6)
const query = 'subscription { Seen(filter: {n: {_neq: 4}}) { n } }'

/** Blocks 1 to 8 with a row each. */
async function openRoom(t: TestContext): Promise<GraphqlRoom> {
  const room = await openGraphqlRoom(t, { chain: createChain({ count: 8 }) })
  for (const block of room.chain)
    await putRows(room, view, block, [{ n: block.number, text: 'x'.repeat(block.number * 100) }])
  room.graphql.setViews([view])
  return room
}

const subscribe = (
  graphql: Graphql,
  request: GraphqlRequest,
  options: Parameters<typeof subscribeInProcess>[2] = {},
  signal = new AbortController().signal,
) => subscribeInProcess(graphql, request, options, signal)

/** Data, or the codes or messages of errors. */
const seen = ({ data, errors }: GraphqlResult): unknown =>
  errors === undefined
    ? readData({ data })
    : errors.map(({ message, extensions }) => extensions['code'] ?? message)

async function rest(results: AsyncIterable<GraphqlResult>): Promise<unknown[]> {
  const all = []
  for await (const result of results) all.push(seen(result))
  return all
}

/** How many listen to the engine. */
function countListeners(graphql: Graphql): {
  readonly graphql: Graphql
  readonly count: () => number
} {
  let count = 0
  const counted =
    <T>(listen: (listener: T) => () => void) =>
    (listener: T) => {
      const stop = listen(listener)
      count++
      let isOn = true
      return () => {
        if (isOn) count--
        isOn = false
        stop()
      }
    }
  const onHeight = counted(graphql.onHeight)
  const onViews = counted(graphql.onViews)
  return { graphql: { ...graphql, onHeight, onViews }, count: () => count }
}

describe('a subscription in the process', () => {
  test('has a result for each height notified since the call that has rows, in order', async (t) => {
    const { graphql } = await openRoom(t)
    graphql.notifyRows('Seen', 1)
    const results = subscribe(graphql, { query })
    for (const height of [2, 3, 4, 7, 5]) graphql.notifyRows('Seen', height)
    graphql.notifyRows('Other', 6)
    graphql.notify(8)
    const found = []
    for await (const result of results) {
      found.push(seen(result))
      if (found.length === 4) break
    }
    assert.deepEqual(
      found,
      [2, 3, 7, 5].map((n) => ({ Seen: [{ n }] })),
    )
  })

  test('waits for the next height, also of blocks, with variables', async (t) => {
    const { graphql } = await openRoom(t)
    const text = 'subscription ($n: Int) { Block(filter: {number: {_gt: $n}}) { number } }'
    const results = subscribe(graphql, { query: text, variables: { n: 2 } })
    for (const number of [3, 4]) {
      const next = results.next()
      graphql.notify(1)
      graphql.notify(number)
      assert.deepEqual(seen((await next).value), { Block: [{ number }] })
    }
  })

  const invalid: readonly [string, GraphqlRequest, RegExp][] = [
    ['an unknown field', { query: 'subscription { Seen { m } }' }, /Cannot query field "m"/],
    ['bad syntax', { query: 'subscription {' }, /Syntax Error/],
    [
      'a missing variable',
      { query: 'subscription ($n: Int!) { Seen(filter: {n: $n}) { n } }' },
      /was not provided/,
    ],
    ['a query', { query: '{ Seen { n } }' }, /^Only a subscription can be subscribed to/],
  ]
  for (const [what, request, message] of invalid)
    test(`of ${what} has its errors as the one result`, async (t) => {
      const { graphql, count } = countListeners((await openRoom(t)).graphql)
      const results = subscribe(graphql, request)
      graphql.notifyRows('Seen', 1)
      const all = await rest(results)
      assert.equal(all.length, 1)
      assert.match(String(all[0]), message)
      assert.equal(count(), 0)
    })

  test('ends with an error when its consumer falls behind, after what it had found', async (t) => {
    const { graphql, count } = countListeners((await openRoom(t)).graphql)
    const executed = Promise.withResolvers<void>()
    const executeAt: Graphql['executeAt'] = async (request, heights, ...others) => {
      const result = await graphql.executeAt(request, heights, ...others)
      if (heights.from === 1) setImmediate(executed.resolve)
      return result
    }
    const results = subscribe({ ...graphql, executeAt }, { query }, { maxPendingHeights: 2 })
    graphql.notifyRows('Seen', 1)
    await executed.promise
    for (const height of [2, 3]) graphql.notifyRows('Seen', height)
    assert.equal(count(), 2)
    graphql.notifyRows('Seen', 5)
    assert.deepEqual(await rest(results), [{ Seen: [{ n: 1 }] }, ['GRAPHQL_SUBSCRIBER_SLOW']])
    assert.equal(count(), 0)
  })

  test('leaves out a result that is too large, and goes on', async (t) => {
    const { graphql } = await openRoom(t)
    const text = 'subscription { Seen { text } }'
    const results = subscribe(graphql, { query: text }, { maxQueuedBytes: 300 })
    graphql.notifyRows('Seen', 5)
    graphql.notifyRows('Seen', 1)
    assert.deepEqual(seen((await results.next()).value), ['GRAPHQL_SIZE_LIMIT'])
    assert.deepEqual(seen((await results.next()).value), { Seen: [{ text: 'x'.repeat(100) }] })
  })

  test('ends when its View is no longer served', async (t) => {
    const { graphql } = await openRoom(t)
    const results = subscribe(graphql, { query })
    const all = rest(results)
    graphql.setViews([])
    assert.deepEqual(await all, [['GRAPHQL_VIEW_GONE']])
  })

  test('ends without a result when the signal is aborted, before or while it waits', async (t) => {
    const { graphql, count } = countListeners((await openRoom(t)).graphql)
    const controller = new AbortController()
    const waiting = rest(subscribe(graphql, { query }, {}, controller.signal))
    await new Promise(setImmediate)
    assert.equal(count(), 2)
    controller.abort()
    assert.deepEqual(await waiting, [])
    assert.deepEqual(await rest(subscribe(graphql, { query }, {}, controller.signal)), [])
    assert.equal(count(), 0)
  })

  test('holds no memory and no listener once its consumer has returned', async (t) => {
    const { graphql, count } = countListeners((await openRoom(t)).graphql)
    const results = subscribe(graphql, { query })
    for (const height of [1, 2, 3]) graphql.notifyRows('Seen', height)
    const pending = results.next()
    assert.deepEqual(seen((await pending).value), { Seen: [{ n: 1 }] })
    await results.return?.()
    assert.deepEqual(await results.next(), { done: true, value: undefined })
    while (graphql.memory.heldBytes() > 0) await new Promise(setImmediate)
    assert.equal(count(), 0)
  })

  test('holds no memory where its consumer returns before its request was checked', async (t) => {
    const { graphql } = await openRoom(t)
    const left = Promise.withResolvers<void>()
    const found = Promise.withResolvers<void>()
    const executeAt: Graphql['executeAt'] = async (request, heights, ...others) => {
      if (heights.from < 0) await left.promise
      const result = await graphql.executeAt(request, heights, ...others)
      if (heights.from === 1) setImmediate(found.resolve)
      return result
    }
    const results = subscribe({ ...graphql, executeAt }, { query })
    graphql.notifyRows('Seen', 1)
    await found.promise
    assert.ok(graphql.memory.heldBytes() > 0)
    await results.return?.()
    left.resolve()
    while (graphql.memory.heldBytes() > 0) await new Promise(setImmediate)
  })

  test('is over for a consumer who returned before its request was found to be wrong', async (t) => {
    const { graphql } = await openRoom(t)
    const left = Promise.withResolvers<void>()
    const found = Promise.withResolvers<void>()
    const executeAt: Graphql['executeAt'] = async (...asked) => {
      await left.promise
      return await graphql.executeAt(...asked).finally(found.resolve)
    }
    const results = subscribe({ ...graphql, executeAt }, { query: 'subscription { Nothing }' })
    await results.return?.()
    left.resolve()
    await found.promise
    await new Promise(setImmediate)
    assert.deepEqual(await results.next(), { done: true, value: undefined })
  })

  test('has rows of blocks with as many attestations as it asks for alone', async (t) => {
    const { graphql } = await openRoom(t)
    const results = subscribe(graphql, { query, minimumAttestations: 2 }, { maxPendingHeights: 9 })
    const one = subscribe(graphql, { query, minimumAttestations: 1 })
    graphql.notifyRows('Seen', 1)
    assert.deepEqual(seen((await one.next()).value), { Seen: [{ n: 1 }] })
    graphql.setViews([])
    assert.deepEqual(await rest(results), [['GRAPHQL_VIEW_GONE']])
  })
})
