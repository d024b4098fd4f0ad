import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { MemoryAccount } from '../../src/graphql/budget/memory-pool.ts'
import type { GraphqlResult } from '../../src/graphql/graphql.ts'
import { findErrors, sendRows } from '../../src/graphql/subscribed-rows.ts'

const code = ({ errors }: GraphqlResult) => errors?.map(({ extensions }) => extensions['code'])

/** An engine that finds a text at each height, and a subscriber who takes a result when the test lets it. */
function openSubscription(textAt: (height: number) => string = (height) => `{"a":[${height}]}`) {
  const events: string[] = []
  const listeners = new Set<(height: number, view: string | null) => void>()
  const watchers = new Set<() => void>()
  const add = <T>(set: Set<T>, one: T) => {
    set.add(one)
    return () => void set.delete(one)
  }
  const state = { view: 'Seen' as string | null, take: () => {} }
  const close = () => void events.push('closed')
  const graphql = {
    subscribedView: () => state.view,
    onHeight: (one: (height: number, view: string | null) => void) => add(listeners, one),
    onViews: (one: () => void) => add(watchers, one),
    memory: { openAccount: () => ({ close }) as MemoryAccount },
    async executeAt(_: unknown, { from, to }: { from: number; to: number }) {
      assert.equal(from, to)
      events.push(`reads ${from}`)
      return { data: [textAt(from)] } as GraphqlResult
    },
  }
  const sink = {
    send(result: GraphqlResult) {
      events.push(`sends ${result.data?.join('') ?? code(result)}`)
      return new Promise<void>((resolve) => {
        state.take = resolve
      })
    },
    end: (last: GraphqlResult, why: string) => void events.push(`ends ${why}: ${code(last)}`),
  }
  const leaving = new AbortController()
  const limits = { maxQueuedBytes: 20, maxPendingHeights: 2 }
  const start = () =>
    sendRows({ graphql: graphql as never, request: { query: '' }, limits }, sink, leaving.signal)
  const since = async (act: () => void): Promise<string[]> => {
    events.length = 0
    act()
    await nextTurn()
    return [...events]
  }
  return {
    ...{ start, since, leave: () => leaving.abort() },
    listens: () => listeners.size + watchers.size,
    take: () => state.take(),
    notify: (...heights: readonly number[]) => {
      for (const height of heights) for (const one of [...listeners]) one(height, 'Seen')
    },
    notifyOther: (height: number) => {
      for (const one of listeners) one(height, 'Other')
    },
    serve(view: string | null) {
      state.view = view
      for (const one of [...watchers]) one()
    },
  }
}

test('a height is read once the result before it is taken, also after a pause', async () => {
  const { start, since, notify, notifyOther, take } = openSubscription()
  start()
  assert.deepEqual(await since(() => notify(5, 4)), ['reads 5', 'sends {"a":[5]}'])
  assert.deepEqual(await since(take), ['reads 4', 'sends {"a":[4]}'])
  assert.deepEqual(await since(take), [])
  assert.deepEqual(await since(() => notifyOther(6)), [])
  assert.deepEqual(await since(() => notify(7)), ['reads 7', 'sends {"a":[7]}'])
})

test('a height without rows is passed over, and holds nothing', async () => {
  const texts = ['{"a":[]}', '{"a":[],"b":[]}', '{"a":null}']
  const { start, since, notify } = openSubscription((height) => texts[height] ?? '')
  start()
  assert.deepEqual(await since(() => notify(0, 1, 2)), [
    ...['reads 0', 'closed', 'reads 1', 'closed', 'reads 2', 'sends {"a":null}'],
  ])
})

test('a result may be as large as what may wait', async () => {
  const { start, since, notify, take } = openSubscription((height) => 'x'.repeat(height))
  start()
  assert.deepEqual(await since(() => notify(20)), ['reads 20', `sends ${'x'.repeat(20)}`])
  await since(take)
  assert.deepEqual(await since(() => notify(21)), ['reads 21', 'sends GRAPHQL_SIZE_LIMIT'])
})

test('a subscription ends where more heights wait than may', async () => {
  const { start, since, notify, take, listens } = openSubscription()
  start()
  await since(() => notify(1, 2, 3))
  assert.equal(listens(), 2)
  assert.deepEqual(await since(() => notify(4)), ['ends slow: GRAPHQL_SUBSCRIBER_SLOW'])
  assert.equal(listens(), 0)
  assert.deepEqual(await since(take), [], 'those that waited are dropped')
})

test('a subscription ends where its View is no longer served', async () => {
  const { start, since, notify, serve, listens } = openSubscription()
  start()
  assert.deepEqual(await since(() => serve('Seen')), [])
  assert.deepEqual(
    await since(() => {
      notify(1)
      serve(null)
    }),
    ['reads 1', 'ends gone: GRAPHQL_VIEW_GONE', 'closed'],
  )
  assert.equal(listens(), 0)
})

test('a subscription is over when its subscriber leaves', async () => {
  const { start, since, notify, take, leave, listens } = openSubscription()
  start()
  await since(() => notify(1, 2))
  assert.deepEqual(await since(leave), [])
  assert.equal(listens(), 0)
  assert.deepEqual(await since(take), [])
  start()
  assert.equal(listens(), 0, 'nor does one begin who has left')
})

test('what is wrong with a request is found without reading a height', async () => {
  const wrong = { data: null, errors: [] }
  const asked: unknown[] = []
  const graphql = {
    async executeAt(_: unknown, heights: unknown) {
      asked.push(heights)
      return asked.length === 1 ? wrong : { data: ['{}'] }
    },
  }
  const { signal } = new AbortController()
  assert.equal(await findErrors(graphql, { query: '' }, signal), wrong)
  assert.equal(await findErrors(graphql, { query: '' }, signal), null)
  assert.deepEqual(asked, Array(2).fill({ from: -1, to: -1 }))
})
