/**
 * When a View waits before it goes on. The lens process is a fake that ends every job at once, and the clock is the
 * test's: with real ones this takes minutes.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { ServiceError } from '../../../../src/errors.ts'
import { encodeResult } from '../../../../src/host/views/engine/block-job.ts'
import { createEngineMetrics } from '../../../../src/host/views/engine/engine-metrics.ts'
import { failureAt } from '../../../../src/host/views/engine/failures/block-failure.ts'
import type { ViewState } from '../../../../src/host/views/engine/view-engine.ts'
import { openViewRun } from '../../../../src/host/views/engine/view-run.ts'
import { readVisible, visibleHeights } from '../../../../src/host/views/engine/visible-blocks.ts'
import { eachHeight } from '../../../../src/primitives/height-ranges.ts'
import { decodeBlockRows, encodeBlockRows } from '../../../../src/views/rows/block-rows.ts'
import { openTestStore } from '../../../support/test-store.ts'
import { engineChain, hostedView } from './support/engine-room.ts'

interface Waiting {
  /** Jobs so far. */
  jobs(): number
  /** How many jobs begin now; returns once they have ended. */
  begin(): Promise<number>
  pass(ms: number): void
  /** Asks for another try; returns once that is noted. */
  retry(): Promise<void>
  /** Jobs find their blocks gone from now on, which is no error. */
  goWell(): void
  state(): ViewState
  /** Attempts at blocks that failed. */
  attempts(): number
  /** Begins with what is stored, as after a start. */
  restart(): Promise<void>
}

const nothing = { outcomes: [], seen: 0, rows: encodeBlockRows([]) }

/** A View with 40 blocks to do, each of whose jobs ends with this error. */
async function openWaiting(t: TestContext, error: Error): Promise<Waiting> {
  const store = await openTestStore(t, null)
  for (const block of engineChain(40)) await store.putSealedBlock(block)
  let nowMs = 0
  let jobs = 0
  let goesWell = false
  let woken = Promise.withResolvers<void>()
  const view = hostedView()
  const parts: Parameters<typeof openViewRun>[2] = {
    log: pino({ enabled: false }),
    reader: store.reader,
    writer: {
      ...store,
      putViewRows: (slot, bytes) => store.putViewRows(slot, decodeBlockRows(bytes)),
    },
    lenses: {
      run: async () => {
        jobs += 1
        if (!goesWell) throw error
        return { bytes: encodeResult(nothing), processorMs: 1 }
      },
    },
    metrics: createEngineMetrics(new Registry()),
    onRows: () => undefined,
    wake: () => woken.resolve(),
    nowMs: () => nowMs,
  }
  let run = openViewRun(view, -1, parts)
  t.after(() => run.close())
  await woken.promise
  return {
    jobs: () => jobs,
    begin: async () => {
      const before = jobs
      woken = Promise.withResolvers()
      store.reader.read((snapshot) => run.begin(snapshot, readVisible(snapshot), () => false))
      if (jobs > before) await woken.promise
      return jobs - before
    },
    pass: (ms) => {
      nowMs += ms
    },
    retry: async () => {
      woken = Promise.withResolvers()
      run.retry()
      await woken.promise
    },
    goWell: () => {
      goesWell = true
    },
    state: () => store.reader.read((snapshot) => run.state(snapshot, visibleHeights(snapshot))),
    attempts: () =>
      store.reader.read((snapshot) =>
        [...eachHeight(snapshot.viewFailures(view.slot))]
          .map((height) => failureAt(snapshot, view.slot, height)?.attempts ?? 0)
          .reduce((sum, each) => sum + each, 0),
      ),
    restart: async () => {
      await run.close()
      woken = Promise.withResolvers()
      run = openViewRun(view, -1, parts)
      await woken.promise
    },
  }
}

test('a View waits longer and longer after limits in a row, and 20 of them quarantine it', async (t) => {
  const limit = new ServiceError('LENS_TIME_LIMIT', 'the lenses took more than 2000 ms')
  const view = await openWaiting(t, limit)
  const waits: number[] = []
  for (let waitedMs = 0; view.state().name !== 'quarantined'; view.pass(1_000)) {
    waitedMs += 1_000
    if ((await view.begin()) === 0) continue
    waits.push(waitedMs)
    waitedMs = 0
  }
  assert.ok(view.jobs() < 40, `${view.jobs()} jobs`)
  assert.ok(Math.max(...waits) >= 30_000, `${waits}`)
  view.pass(3_600_000)
  assert.equal(await view.begin(), 0)
})

test('20 limits in a row quarantine a View however often the Host is started again', async (t) => {
  const limit = new ServiceError('LENS_TIME_LIMIT', 'the lenses took more than 2000 ms')
  const view = await openWaiting(t, limit)
  for (let restarts = 0; view.state().name !== 'quarantined'; view.pass(60_000)) {
    await view.begin()
    if (view.attempts() < 3 * (restarts + 1)) continue
    assert.ok(view.attempts() < 20, `${view.attempts()} attempts`)
    await view.restart()
    restarts += 1
  }
  assert.equal(view.attempts(), 20)
})

test('a View that is held up by something else says by what, and is never quarantined', async (t) => {
  const view = await openWaiting(t, new Error('no thread can be made'))
  for (let second = 0; second < 3_600; second += 1) {
    await view.begin()
    view.pass(1_000)
  }
  const { name, failure, blocksFailed } = view.state()
  assert.deepEqual([name, blocksFailed], ['waiting', 0])
  assert.deepEqual(failure, {
    code: 'HOST_VIEW_DELAYED',
    message: 'Error: no thread can be made',
    block: null,
  })
})

const memory = new ServiceError('LENS_MEMORY_LIMIT', 'the lens process took more than 5 bytes', {
  remedy: 'Keep less.',
})
const shown = {
  code: 'LENS_MEMORY_LIMIT',
  message: 'the lens process took more than 5 bytes',
  remedy:
    'Keep less. It is tried again later, unless the View is quarantined; if this stays, remove the View.',
}

test('a View says at what limit several blocks failed, until it is tried with each of them', async (t) => {
  const view = await openWaiting(t, memory)
  await view.begin()
  const { name, failure, blocksFailed } = view.state()
  assert.deepEqual([name, blocksFailed, failure], ['waiting', 0, { ...shown, block: null }])
  view.pass(60_000)
  await view.begin()
  const after = view.state()
  assert.deepEqual([after.blocksFailed, after.failure], [1, { ...shown, block: 139 }])
})

test('a View no longer says at what limit several blocks failed once it goes well', async (t) => {
  const view = await openWaiting(t, memory)
  await view.begin()
  view.goWell()
  assert.deepEqual(view.state().failure, { ...shown, block: null })
  view.pass(60_000)
  await view.begin()
  assert.equal(view.state().failure, null)
})

test('a View that is to be tried again says nothing of what held it up before', async (t) => {
  const view = await openWaiting(t, memory)
  await view.begin()
  assert.notEqual(view.state().failure, null)
  await view.retry()
  assert.equal(view.state().failure, null)
})
