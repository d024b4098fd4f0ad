import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Registry } from 'prom-client'
import {
  type Controller,
  type ControllerOptions,
  openController,
  type Reconcile,
} from '../../../operator/runtime/controller.ts'
import { openRuntimeMetrics } from '../../../operator/runtime/metrics.ts'
import { createWorkQueue } from '../../../operator/runtime/work-queue.ts'
import { ServiceError } from '../../../src/errors.ts'
import { captureLog } from '../../support/captured-log.ts'
import { runningTimers } from '../../support/leaks/timers.ts'
import { metricValue, sampleValue } from '../../support/metric-value.ts'

const log = captureLog()
let registry: Registry
let controller: Controller

function open(reconcile: Reconcile, options: Partial<ControllerOptions> = {}): Controller {
  registry = new Registry()
  const metrics = openRuntimeMetrics(registry)
  controller = openController({ name: 'thing', ...options }, { reconcile, log: log.log, metrics })
  return controller
}

afterEach(() => controller?.close())

test('a key is worked on by one worker at a time, and once more if it was added meanwhile', async () => {
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  let running = 0
  let runs = 0
  open(async () => {
    running += 1
    assert.equal(running, 1)
    runs += 1
    if (runs === 1) {
      for (let count = 0; count < 10; count += 1) controller.add('apps/a', 'owned')
      await first.promise
    } else second.resolve()
    running -= 1
    return {}
  })
  controller.add('apps/a', 'user')
  controller.start()
  first.resolve()
  await second.promise
  await controller.close()
  assert.equal(runs, 2)
})

test('different keys are worked on at once, as many as there are workers', async () => {
  const all = Promise.withResolvers<void>()
  const free = Promise.withResolvers<void>()
  let running = 0
  let most = 0
  open(
    async () => {
      running += 1
      most = Math.max(most, running)
      if (running === 2) all.resolve()
      await free.promise
      running -= 1
      return {}
    },
    { workers: 2 },
  )
  for (const key of ['a', 'b', 'c', 'd']) controller.add(key, 'owned')
  controller.start()
  await all.promise
  free.resolve()
  await controller.close()
  assert.equal(most, 2)
})

test('what fails is tried again with pauses that double, and a success forgets them', async () => {
  const done = Promise.withResolvers<void>()
  let runs = 0
  open(async () => {
    runs += 1
    if (runs < 4) throw new Error('not yet')
    done.resolve()
    return {}
  })
  controller.add('apps/a', 'user')
  controller.start()
  await done.promise
  const lines = log.lines.filter(({ msg }) => msg === 'reconcile failed').slice(-3)
  assert.deepEqual(
    lines.map(({ retryInMs, namespace, name, controller: of }) => [retryInMs, namespace, name, of]),
    [
      [5, 'apps', 'a', 'thing'],
      [10, 'apps', 'a', 'thing'],
      [20, 'apps', 'a', 'thing'],
    ],
  )
  assert.equal(new Set(lines.map(({ reconcileID }) => reconcileID)).size, 3)
})

test('an API server that asks for a pause gets it', async () => {
  open(async () => {
    throw new ServiceError('OPERATOR_API_BUSY', 'busy', { facts: { retryAfterMs: 7_000 } })
  })
  controller.add('apps/busy', 'user')
  controller.start()
  await controller.close()
  const line = log.lines.findLast(({ msg }) => msg === 'reconcile failed')
  assert.equal(line?.['retryInMs'], 7_000)
})

test('while the API server cannot be reached or written to, pauses are ten seconds at most', async () => {
  const codes = ['OPERATOR_API_UNREACHABLE', 'OPERATOR_FENCED', 'OPERATOR_API_FAILED'] as const
  open(
    async (key) => {
      throw new ServiceError(codes.find((code) => code === key) ?? codes[0], 'away')
    },
    { minRetryMs: 20_000 },
  )
  for (const code of codes) controller.add(code, 'user')
  controller.start()
  await controller.close()
  const lines = log.lines.filter(({ msg }) => msg === 'reconcile failed').slice(-3)
  assert.deepEqual(
    lines.map(({ retryInMs }) => retryInMs),
    [10_000, 10_000, 20_000],
  )
})

test('a key is reconciled again when its reconcile asks for it, behind what changed', async () => {
  const runs: string[] = []
  const enough = Promise.withResolvers<void>()
  const due = Promise.withResolvers<void>()
  open(
    async (key) => {
      runs.push(key)
      if (key === 'asked' && runs.length > 1) enough.resolve()
      if (key !== 'busy') return key === 'asked' ? { requeueAfterMs: 1 } : {}
      await due.promise
      controller.add('changed', 'owned')
      return {}
    },
    { workers: 1 },
  )
  controller.add('asked', 'user')
  controller.add('busy', 'owned')
  controller.start()
  while ((await metricValue(registry, 'workqueue_depth')) === 0) await setImmediate()
  due.resolve()
  await enough.promise
  await controller.close()
  assert.deepEqual(runs.slice(0, 4), ['asked', 'busy', 'changed', 'asked'])
})

test('of two dates for a key the earlier one stands, and one that is very far away is not now', async () => {
  const both = Promise.withResolvers<void>()
  const runs: string[] = []
  open(async (key) => {
    runs.push(key)
    if (runs.length === 2) both.resolve()
    return {}
  })
  controller.addAfter('far', 3_000_000_000)
  controller.addAfter('brought forward', 600_000)
  controller.addAfter('brought forward', 1)
  controller.addAfter('kept', 2)
  controller.addAfter('kept', 600_000)
  controller.start()
  await both.promise
  await controller.close()
  assert.deepEqual(runs.toSorted(), ['brought forward', 'kept'])
})

test('closing takes no more keys, waits for what is running, and cuts off what takes too long', async () => {
  const started = Promise.withResolvers<void>()
  const seen: string[] = []
  open(
    async (key, { signal }) => {
      seen.push(key)
      started.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      signal.throwIfAborted()
      return {}
    },
    { workers: 1, stopTimeoutMs: 1 },
  )
  controller.add('running', 'user')
  controller.add('waiting', 'user')
  controller.start()
  await started.promise
  await controller.close()
  controller.add('late', 'user')
  assert.deepEqual(seen, ['running'])
  assert.ok(log.messages('warn').includes('reconciles are cut off'))
  assert.equal(await metricValue(registry, 'controller_runtime_reconcile_errors_total'), 0)
})

test('what runs has twenty seconds to end, unless set otherwise', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const started = Promise.withResolvers<AbortSignal>()
  open(async (_key, { signal }) => {
    started.resolve(signal)
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return {}
  })
  controller.add('running', 'user')
  controller.start()
  const signal = await started.promise
  const closing = controller.close()
  t.mock.timers.tick(19_999)
  assert.equal(signal.aborted, false)
  t.mock.timers.tick(1)
  assert.equal(signal.aborted, true)
  await closing
})

test('a closed controller takes no key, does not start, and keeps no process from ending', async () => {
  const before = runningTimers()
  const started = Promise.withResolvers<void>()
  const free = Promise.withResolvers<void>()
  const seen: string[] = []
  open(
    async (key) => {
      seen.push(key)
      started.resolve()
      await free.promise
      return { requeueAfterMs: 600_000 }
    },
    { workers: 1, stopTimeoutMs: 600_000 },
  )
  controller.add('running', 'user')
  controller.add('waiting', 'user')
  controller.start()
  await started.promise
  const closing = controller.close()
  controller.start()
  controller.add('late', 'user')
  free.resolve()
  await closing
  assert.deepEqual([seen, runningTimers()], [['running'], before])
  assert.equal(await metricValue(registry, 'workqueue_adds_total'), 2)
})

test('a key counts as failing from a failure to the next success, however long the pause', async () => {
  const done = Promise.withResolvers<void>()
  const failing = async (): Promise<number> =>
    await metricValue(registry, 'viewmesh_operator_failing_keys', { controller: 'thing' })
  const seen: number[] = []
  open(async () => {
    seen.push(await failing())
    if (seen.length < 3) throw new Error('not yet')
    done.resolve()
    return {}
  })
  controller.add('apps/a', 'user')
  controller.start()
  await done.promise
  await controller.close()
  assert.deepEqual([...seen, await failing()], [0, 1, 1, 0])
})

test('the metrics are those of controller-runtime', async () => {
  const free = Promise.withResolvers<void>()
  const activeWorkers = async (): Promise<number> =>
    await metricValue(registry, 'controller_runtime_active_workers')
  open(async (key) => {
    await free.promise
    return key === 'apps/a' ? {} : { requeueAfterMs: 600_000 }
  })
  const idle = await registry.metrics()
  assert.ok(idle.includes('viewmesh_operator_failing_keys{controller="thing"} 0'))
  controller.add('apps/a', 'user')
  controller.add('apps/b', 'user')
  controller.start()
  const busy = await activeWorkers()
  free.resolve()
  await controller.close()
  assert.deepEqual([busy, await activeWorkers()], [2, 0])
  const text = await registry.metrics()
  for (const line of [
    'controller_runtime_reconcile_total{controller="thing",result="success"} 1',
    'controller_runtime_reconcile_total{controller="thing",result="requeue_after"} 1',
    'controller_runtime_max_concurrent_reconciles{controller="thing"} 4',
    'workqueue_adds_total{name="thing",controller="thing"} 2',
    'workqueue_depth{name="thing",controller="thing"} 0',
    'workqueue_queue_duration_seconds_count{name="thing",controller="thing"} 2',
    'workqueue_work_duration_seconds_count{name="thing",controller="thing"} 2',
    'controller_runtime_reconcile_time_seconds_count{controller="thing"} 2',
  ])
    assert.ok(text.includes(line), line)
})

test('what keys waited and were worked on is counted in seconds', async () => {
  const startedMs = performance.now()
  open(async () => ({}))
  controller.add('apps/a', 'user')
  controller.start()
  await controller.close()
  const seconds = (performance.now() - startedMs) / 1_000
  const text = await registry.metrics()
  for (const sample of [
    'workqueue_queue_duration_seconds_sum',
    'workqueue_work_duration_seconds_sum',
    'controller_runtime_reconcile_time_seconds_sum',
  ]) {
    const counted = sampleValue(text, sample, { controller: 'thing' })
    assert.ok(counted > 0 && counted <= seconds, `${sample} is ${counted} of ${seconds}`)
  }
})

test('how long keys have been worked on is a metric while they are', async () => {
  const seen: number[] = []
  const done = Promise.withResolvers<void>()
  open(async () => {
    const text = await registry.metrics()
    for (const sample of samples) seen.push(sampleValue(text, sample, { controller: 'thing' }))
    done.resolve()
    return {}
  })
  controller.add('apps/a', 'user')
  controller.start()
  await done.promise
  await controller.close()
  assert.ok(
    seen.every((seconds) => seconds > 0),
    `${seen}`,
  )
  const text = await registry.metrics()
  assert.deepEqual(
    samples.map((sample) => sampleValue(text, sample, { name: 'thing' })),
    [0, 0],
  )
})

const samples = ['workqueue_unfinished_work_seconds', 'workqueue_longest_running_processor_seconds']

test('a key counts as worked on from when it is taken until the work is done', async () => {
  let nowMs = 1_000
  const queue = createWorkQueue(() => nowMs)
  const own = new Registry()
  openRuntimeMetrics(own).queue.running.set('thing', queue.runningForMs)
  const read = async (): Promise<readonly number[]> => {
    const text = await own.metrics()
    return samples.map((sample) => sampleValue(text, sample))
  }
  queue.add('a', 'user')
  queue.add('b', 'user')
  assert.deepEqual(await read(), [0, 0])
  nowMs += 500
  queue.take()
  nowMs += 30
  queue.take()
  queue.add('a', 'user')
  nowMs += 4
  assert.deepEqual(await read(), [0.038, 0.034])
  queue.done('a')
  assert.deepEqual(await read(), [0.004, 0.004])
})

test('what only a person can mend counts as a terminal error and is not retried', async () => {
  const done = Promise.withResolvers<void>()
  open(async (key) => {
    if (key === 'apps/failing') throw new Error('not yet')
    done.resolve()
    return { isTerminal: true }
  })
  controller.add('apps/failing', 'user')
  controller.add('apps/stalled', 'user')
  controller.start()
  await done.promise
  await controller.close()
  const count = async (sample: string, labels = {}): Promise<number> =>
    await metricValue(registry, sample, { controller: 'thing', ...labels })
  assert.equal(await count('controller_runtime_terminal_reconcile_errors_total'), 1)
  assert.equal(await count('controller_runtime_reconcile_errors_total'), 2)
  assert.equal(await count('controller_runtime_reconcile_total', { result: 'error' }), 2)
  assert.equal(await count('workqueue_retries_total'), 1)
  assert.equal(await count('viewmesh_operator_failing_keys'), 1)
})
