import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Counter } from 'prom-client'
import { openMetrics } from '../../src/service/metrics.ts'
import { openThread, threadUrl } from '../../src/service/threads/thread.ts'
import { runningTimers } from '../support/leaks/timers.ts'
import type { ExampleEvents, ExampleRequests } from './support/example-thread.ts'

/** The value of one line of Prometheus text; the text before it is the name with its labels. */
function sample(text: string, name: string): number | null {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `))
  return line === undefined ? null : Number(line.slice(name.length))
}

function delayName(thread: string, quantile: string): string {
  return `viewmesh_service_event_loop_delay_seconds{thread="${thread}",quantile="${quantile}"}`
}

test('the text has the metrics of the rooms, the process and the event loop', async (t) => {
  const metrics = openMetrics({ thread: 'main' })
  t.after(metrics.close)
  const blocks = new Counter({
    name: 'viewmesh_example_blocks_total',
    help: 'Blocks seen.',
    registers: [metrics.registry],
  })
  blocks.inc(3)
  const text = await metrics.text()
  assert.match(metrics.contentType, /^text\/plain; version=0\.0\.4/)
  assert.equal(sample(text, 'viewmesh_example_blocks_total'), 3)
  assert.ok((sample(text, 'process_resident_memory_bytes') ?? 0) > 1e6)
  for (const quantile of ['0.5', '0.99', '1']) {
    assert.notEqual(sample(text, delayName('main', quantile)), null)
  }
})

test('the metrics of a worker thread are merged in, its blocked event loop beside ours', async (t) => {
  const metrics = openMetrics({ thread: 'main' })
  t.after(metrics.close)
  const url = threadUrl('./support/example-thread', import.meta.url)
  const thread = await openThread<ExampleRequests, ExampleEvents>(
    { url, name: 'example', data: {} },
    { onFatal: assert.fail },
  )
  t.after(() => thread.close())
  const removeSource = metrics.addSource(() => thread.metrics())
  // A scrape begins the measurement again, with the first block after it, which is not seen then.
  for (let blocked = 0; blocked < 0.1; ) {
    for (let block = 0; block < 3; block++) await thread.request('block', 150)
    blocked = sample(await metrics.text(), delayName('example', '1')) ?? 0
  }
  const text = await metrics.text()
  assert.notEqual(sample(text, delayName('main', '0.99')), null)
  assert.notEqual(sample(text, delayName('example', '0.99')), null)
  assert.equal(text.match(/# TYPE viewmesh_service_event_loop_delay_seconds gauge/g)?.length, 1)
  removeSource()
  assert.equal(sample(await metrics.text(), delayName('example', '0.99')), null)
})

test('a loop that was not blocked has no delay, and one that was has it until the next scrape', async (t) => {
  const sinceMs = performance.now()
  const metrics = openMetrics({ thread: 'main' })
  t.after(metrics.close)
  const delay = async (): Promise<number> =>
    sample(await metrics.text(), delayName('main', '1')) ?? Number.NaN
  assert.equal(await delay(), 0)
  // The first block after a scrape is not seen.
  for (let block = 0; block < 3; block++) {
    const untilMs = performance.now() + 100
    while (performance.now() < untilMs);
    await setImmediate()
  }
  const blocked = await delay()
  assert.ok(blocked > 0 && blocked <= (performance.now() - sinceMs) / 1e3, `${blocked} s`)
  assert.equal(await delay(), 0)
})

test('a source that does not respond keeps its last values in the text and delays nothing', async (t) => {
  const metrics = openMetrics({ thread: 'main' })
  const other = openMetrics({ thread: 'other' })
  t.after(metrics.close)
  t.after(other.close)
  let isStuck = false
  const removeSource = metrics.addSource(() =>
    isStuck ? new Promise(() => undefined) : other.snapshot(),
  )
  t.after(removeSource)
  const before = sample(await metrics.text(), delayName('other', '0.5'))
  isStuck = true
  assert.equal(sample(await metrics.text(), delayName('other', '0.5')), before)
})

test('a source that responds leaves no timer, which would keep the program from ending', async (t) => {
  const metrics = openMetrics({ thread: 'writer' })
  t.after(metrics.close)
  const during: number[] = []
  metrics.addSource(async () => {
    during.push(runningTimers())
    return []
  })
  const before = runningTimers()
  await metrics.text()
  await metrics.text()
  assert.deepEqual(during, [before + 1, before + 1])
  assert.equal(runningTimers(), before)
})

test('a source that fails keeps its last values in the text', async (t) => {
  const metrics = openMetrics({ thread: 'main' })
  t.after(metrics.close)
  const source = openMetrics({ thread: 'other' })
  t.after(source.close)
  let fails = false
  metrics.addSource(() => (fails ? Promise.reject(new Error('gone')) : source.snapshot()))
  const before = sample(await metrics.text(), delayName('other', '0.5'))
  fails = true
  assert.notEqual(before, null)
  assert.equal(sample(await metrics.text(), delayName('other', '0.5')), before)
})

test('the main thread alone has the metrics of the process, or which is asked to', async (t) => {
  const has = async (options: Parameters<typeof openMetrics>[0]): Promise<boolean> => {
    const metrics = openMetrics(options)
    t.after(metrics.close)
    return /^process_resident_memory_bytes /m.test(await metrics.text())
  }
  assert.equal(await has({ thread: 'main' }), true)
  assert.equal(await has({ thread: 'writer' }), false)
  assert.equal(await has({ thread: 'main', process: false }), false)
  assert.equal(await has({ thread: 'writer', process: true }), true)
})
