import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import type { GraphqlResult } from '../../../src/graphql/graphql.ts'
import { type EventStream, nextEvent } from '../../../src/graphql/http/event-stream.ts'
import { resultText } from '../../../src/graphql/http/result-text.ts'
import {
  defaultSubscriptionLimits,
  openSubscriptions,
} from '../../../src/graphql/http/subscriptions.ts'
import { runningTimers } from '../../support/leaks/timers.ts'
import { metricValue } from '../../support/metric-value.ts'

const found: GraphqlResult = { data: [`{"rows":["${'x'.repeat(1_000)}"]}`] }
const event = nextEvent(resultText(found))

/** An engine that finds the same at every height, while its View is served. */
function createEngine() {
  const heights = new Set<(height: number, view: string | null) => void>()
  const views = new Set<() => void>()
  const engine = { opened: 0, closed: 0, view: 'Seen' as string | null }
  const graphql = {
    subscribedView: () => engine.view,
    onHeight(listener: (height: number, view: string | null) => void) {
      heights.add(listener)
      return () => heights.delete(listener)
    },
    onViews(listener: () => void) {
      views.add(listener)
      return () => views.delete(listener)
    },
    memory: {
      openAccount() {
        engine.opened++
        return { close: () => engine.closed++ }
      },
    },
    executeAt: async (_: unknown, { from }: { from: number }) => (from < 0 ? { data: [] } : found),
  }
  const notify = async (): Promise<void> => {
    for (const listener of heights) listener(1, engine.view)
    await nextTurn()
  }
  const stopServing = (): void => {
    engine.view = null
    for (const listener of [...views]) listener()
  }
  return Object.assign(engine, { graphql: graphql as never, notify, stopServing })
}

/** A reader for whom bytes wait, and who takes an event when the test lets it. */
function createReader(waiting = 0) {
  const controller = new AbortController()
  const sent: string[] = []
  const taken: (() => void)[] = []
  const stream: EventStream = {
    signal: controller.signal,
    queuedBytes: () => waiting,
    send(buffer, onTaken = () => undefined) {
      sent.push(buffer.toString())
      taken.push(onTaken)
    },
    beat: () => undefined,
    end(last) {
      sent.push(`the end: ${last}`)
      controller.abort()
    },
    endWith: () => assert.fail('a subscription is no single answer'),
  }
  const take = (): void => {
    for (const one of taken) one()
  }
  return { stream, sent, take }
}

function openScene(t: TestContext, maxQueuedBytes = event.length) {
  const engine = createEngine()
  const registry = new Registry()
  const subscriptions = openSubscriptions(
    { ...defaultSubscriptionLimits, maxQueuedBytes, maxSubscribers: 3 },
    { graphql: engine.graphql, registry, log: pino({ enabled: false }) },
  )
  t.after(() => subscriptions.close())
  const subscribe = async (reader: ReturnType<typeof createReader>): Promise<void> => {
    await subscriptions.subscribe({ query: 'subscription { Seen { rows } }' }, reader.stream)
  }
  const read = async (waiting?: number) => {
    const reader = createReader(waiting)
    await subscribe(reader)
    return reader
  }
  const late = () => metricValue(registry, 'viewmesh_graphql_subscribers_late_total')
  return { engine, subscribe, read, late, isFull: () => subscriptions.isFull() }
}

test('an event may be as long as may wait for a subscriber, and a longer one is left out', async (t) => {
  const enough = openScene(t, event.length)
  const whole = await enough.read()
  await enough.engine.notify()
  assert.deepEqual(whole.sent, [event.toString()])
  const tooLittle = openScene(t, event.length - 1)
  const lacking = await tooLittle.read()
  await tooLittle.engine.notify()
  assert.match(lacking.sent.join(), /^event: next\n.*An event is larger than \d+ bytes/)
})

test('a subscriber for whom more waits than may wait is ended, and the others are not', async (t) => {
  const { engine, read, late } = openScene(t, event.length + 100)
  const [quick, slower, slow] = [await read(), await read(100), await read(101)]
  await engine.notify()
  assert.deepEqual([quick.sent, slower.sent], [[event.toString()], [event.toString()]])
  assert.match(slow.sent.join(), /^the end: event: next\n.*"code":"GRAPHQL_SUBSCRIBER_SLOW"/)
  assert.equal(await late(), 1)
})

test('an event is held until each subscriber has taken it, but for those that were ended', async (t) => {
  const { engine, read } = openScene(t, event.length)
  const [first, second] = [await read(), await read()]
  await read(1)
  await engine.notify()
  assert.deepEqual([engine.opened, engine.closed], [1, 0])
  first.take()
  assert.equal(engine.closed, 0)
  second.take()
  assert.equal(engine.closed, 1)
})

test('subscribers of a View that is no longer served are told so, and are not late', async (t) => {
  const { engine, read, late } = openScene(t, event.length)
  const readers = [await read(), await read()]
  engine.stopServing()
  for (const { sent } of readers)
    assert.match(sent.join(), /^the end: event: next\n.*"code":"GRAPHQL_VIEW_GONE"/)
  assert.equal(await late(), 0)
})

test('whoever has left before the subscription begins takes no place', async (t) => {
  const { subscribe, read, isFull } = openScene(t)
  const gone = createReader()
  gone.stream.end()
  for (let count = 0; count < 4; count++) await subscribe(gone)
  await read()
  await read()
  assert.equal(isFull(), false)
  await read()
  assert.equal(isFull(), true)
})

test('open subscriptions do not keep the program from ending', (t) => {
  const before = runningTimers()
  openScene(t)
  assert.equal(runningTimers(), before)
})
