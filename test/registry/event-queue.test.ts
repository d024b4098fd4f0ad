import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { ServiceError } from '../../src/errors.ts'
import { createEventQueue } from '../../src/registry/event-queue.ts'
import type { AnnouncedView, RefusedView, SentView } from '../../src/registry/listed-view.ts'
import { createRegistryMetrics } from '../../src/registry/metrics.ts'
import { runningTimers } from '../support/leaks/timers.ts'

const wire = Uint8Array.of(1)
const announced = (id: string, more: Partial<AnnouncedView> = {}): AnnouncedView => ({
  ...{ id, sender: '0x1', name: 'V', wire },
  ...more,
})

type Answer = (id: string) => SentView | RefusedView | null | Promise<SentView | null>

/** A queue whose LCD answers so. */
function openQueue(answer: Answer) {
  const registry = new Registry()
  const aborting = new AbortController()
  const asked: string[] = []
  const passed: unknown[] = []
  const queue = createEventQueue({
    log: pino({ level: 'silent' }),
    metrics: createRegistryMetrics(registry),
    lcd: {
      view: async (id) => {
        asked.push(id)
        return await answer(id)
      },
    },
    signal: aborting.signal,
    onSent: (view) => void passed.push(view),
    onRefused: (view) => void passed.push(view),
    wantList: () => void passed.push('list'),
  })
  const counted = async (outcome: string): Promise<number> => {
    const metric = await registry.getSingleMetric('viewmesh_registry_events_total')?.get()
    return metric?.values.find(({ labels }) => labels['outcome'] === outcome)?.value ?? 0
  }
  return { queue, aborting, asked, passed, counted }
}

const sent = (id: string): SentView => ({ ...announced(id), wire, registeredAt: 7 })

test('a View of several events is asked for once, and passed on as the LCD has it', async () => {
  const { queue, asked, passed, counted } = openQueue(sent)
  for (const id of ['a', 'b', 'a', 'b']) queue.add(announced(id), 1)
  await queue.idle()
  queue.add(announced('a'), 2)
  await queue.idle()
  assert.deepEqual(asked, ['a', 'b'])
  assert.deepEqual(passed, [sent('a'), sent('b')])
  assert.equal(await counted('read'), 2)
})

test('a View that the LCD cannot describe is asked for three times, then taken from its event', async () => {
  const failing = (): never => {
    throw new ServiceError('REGISTRY_UNREACHABLE', 'no')
  }
  for (const answer of [() => null, failing]) {
    const { queue, asked, passed } = openQueue(answer)
    queue.add(announced('a'), 5)
    await queue.idle()
    assert.equal(asked.length, 3)
    assert.deepEqual(passed, [{ ...sent('a'), registeredAt: 5 }])
  }
})

test('a View that is to be asked for again does not keep the program from ending', async () => {
  const before = runningTimers()
  const { queue, aborting, asked } = openQueue(() => null)
  queue.add(announced('a'), 5)
  while (asked.length === 0) await new Promise(setImmediate)
  await new Promise(setImmediate)
  assert.equal(runningTimers(), before)
  aborting.abort()
  await queue.idle()
})

test('a View without bytes or height is left to a list, and asked for again at its next event', async () => {
  const { queue, asked, passed, counted } = openQueue(() => null)
  queue.add(announced('a', { wire: null }), 5)
  queue.add(announced('b'), null)
  await queue.idle()
  assert.deepEqual(passed, ['list', 'list'])
  assert.equal(await counted('refused'), 2)
  queue.add(announced('a'), 5)
  await queue.idle()
  assert.equal(asked.filter((id) => id === 'a').length, 6)
  assert.equal(passed.length, 3)
})

test('a View that cannot be what it says is passed on as refused', async () => {
  const refused = { id: 'a', reason: 'no' }
  const { queue, passed, counted } = openQueue(() => refused)
  queue.add(announced('a'), 1)
  await queue.idle()
  assert.deepEqual(passed, [refused])
  assert.equal(await counted('refused'), 1)
})

test('a flood of events costs 32 Views, and a list finds the others', async () => {
  const { promise, resolve } = Promise.withResolvers<null>()
  const { queue, asked, passed, counted } = openQueue(async (id) => (await promise) ?? sent(id))
  // The first is under way, and waits for nobody.
  queue.add(announced('first'), 1)
  await new Promise(setImmediate)
  for (let index = 0; index < 34; index += 1) queue.add(announced(`a${index}`), 1)
  assert.deepEqual(passed, ['list', 'list'])
  assert.equal(await counted('dropped'), 2)
  resolve(null)
  await queue.idle()
  assert.equal(asked.length, 33)
  queue.add(announced('a33'), 1)
  await queue.idle()
  assert.equal(asked.at(-1), 'a33')
})

test('nothing is passed on once the registry is closed', async () => {
  const { queue, aborting, asked, passed } = openQueue((id) => {
    aborting.abort()
    return sent(id)
  })
  queue.add(announced('a'), 1)
  queue.add(announced('b'), 1)
  await queue.idle()
  assert.deepEqual([asked, passed], [['a'], []])
})

test('what a closed LCD throws ends the queue, and a mistake of ours is thrown', async () => {
  for (const isClosed of [true, false]) {
    const { queue, aborting, asked, passed } = openQueue(() => {
      if (isClosed) aborting.abort()
      throw new TypeError('not of the chain')
    })
    for (const id of ['a', 'b']) queue.add(announced(id), 1)
    if (isClosed) await queue.idle()
    else await assert.rejects(queue.idle(), { message: 'not of the chain' })
    assert.deepEqual([asked, passed], [['a'], []])
  }
})

test('a View is asked for again once 1,000 others were announced since', async () => {
  const { queue, asked } = openQueue(sent)
  for (let index = 0; index <= 1_000; index += 1) {
    queue.add(announced(`a${index}`), 1)
    await queue.idle()
  }
  assert.equal(asked.length, 1_001)
  queue.add(announced('a1'), 1)
  await queue.idle()
  assert.equal(asked.length, 1_001)
  queue.add(announced('a0'), 1)
  await queue.idle()
  assert.deepEqual([asked.length, asked.at(-1)], [1_002, 'a0'])
})
