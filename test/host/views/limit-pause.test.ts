/**
 * What a View that reaches its limits leaves to others. The lens process is a fake that refuses every job at once,
 * and the clock is the test's: with real ones this takes minutes.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { ServiceError } from '../../../src/errors.ts'
import { createEngineMetrics } from '../../../src/host/views/engine-metrics.ts'
import { openViewRun } from '../../../src/host/views/view-run.ts'
import { visibleHeights } from '../../../src/host/views/view-work.ts'
import { decodeBlockRows } from '../../../src/views/block-rows.ts'
import { openTestStore } from '../../support/test-store.ts'
import { engineChain, hostedView } from './support/engine-room.ts'

test('a View waits longer and longer after limits in a row, and 20 of them quarantine it', async (t) => {
  const store = await openTestStore(t, null)
  for (const block of engineChain(40)) await store.putSealedBlock(block)
  let nowMs = 0
  let jobs = 0
  let woken = Promise.withResolvers<void>()
  const run = openViewRun(hostedView(), -1, {
    log: pino({ enabled: false }),
    reader: store.reader,
    writer: {
      ...store,
      putViewRows: (slot, bytes) => store.putViewRows(slot, decodeBlockRows(bytes)),
    },
    lenses: {
      run: async () => {
        jobs += 1
        throw new ServiceError('LENS_TIME_LIMIT', 'the lenses took more than 2000 ms')
      },
    },
    metrics: createEngineMetrics(new Registry(), () => new Map()),
    onRows: () => undefined,
    wake: () => woken.resolve(),
    nowMs: () => nowMs,
  })
  t.after(() => run.close())
  const stateNow = (): string =>
    store.reader.read((snapshot) => run.state(snapshot, visibleHeights(snapshot)).name)
  /** How many jobs begin now; returns once they have ended. */
  const begin = async (): Promise<number> => {
    const before = jobs
    woken = Promise.withResolvers()
    store.reader.read((snapshot) => run.begin(snapshot, visibleHeights(snapshot)))
    if (jobs > before) await woken.promise
    return jobs - before
  }
  await woken.promise
  const waits: number[] = []
  for (let waitedMs = 0; stateNow() !== 'quarantined'; nowMs += 1_000) {
    waitedMs += 1_000
    if ((await begin()) === 0) continue
    waits.push(waitedMs)
    waitedMs = 0
  }
  assert.ok(jobs < 40, `${jobs} jobs`)
  assert.ok(Math.max(...waits) >= 60_000, `${waits}`)
  nowMs += 3_600_000
  assert.equal(await begin(), 0)
})
