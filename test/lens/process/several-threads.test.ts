/** Jobs beside each other: when threads start, and what becomes of a job whose process ends because of another one. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { testDirectory } from '../../support/test-store.ts'
import { greedy } from '../support/hostile-lenses.ts'
import { openLenses } from './support/open-lenses.ts'

const megabytes = 1024 * 1024
const limits = { processorMs: 60_000, wallMs: 60_000 }
const asking = { does: 'pieces', count: 1, stays: 'asking' } as const

type Lenses = ReturnType<typeof openLenses>

/** Lenses with a thread that is free, and a job in pieces in the other, which has begun. */
async function openBusy(t: TestContext, memoryBytes: number) {
  const lenses = openLenses(t, { threads: 2, memoryBytes })
  const { pid } = Object(await lenses.command({ does: 'describe' }))
  return { lenses, pid, ...(await beginLong(lenses, 'a')) }
}

/** A job in pieces, which has begun and goes on until it is aborted. */
async function beginLong(lenses: Lenses, view: string) {
  const controller = new AbortController()
  const began = Promise.withResolvers<void>()
  const job = { ...limits, view, signal: controller.signal, onPiece: () => began.resolve() }
  const pieced = lenses.command(asking, job)
  pieced.catch(() => undefined)
  await began.promise
  return { pieced, abort: () => controller.abort() }
}

test('threads are started as they are needed, one ahead, up to those that there may be', async (t) => {
  const lenses = openLenses(t, { threads: 4 })
  const used = new Set<unknown>()
  for (let job = 0; job < 50; job += 1)
    used.add(Object(await lenses.command({ does: 'describe' })).threadId)
  assert.ok(used.size <= 2, `${used.size} threads`)
  for (const view of ['a', 'b', 'c', 'd']) await beginLong(lenses, view)
  assert.equal(await lenses.metric('viewmesh_lens_running_jobs'), 4)
})

test('a process that is to free its memory lets its jobs end, and begins none', async (t) => {
  const { lenses, pid, pieced, abort } = await openBusy(t, 600 * megabytes)
  const resident = () => lenses.metric('viewmesh_lens_process_resident_bytes')
  const bytes = 525 * megabytes - (await resident())
  await lenses.command({ does: 'keep', bytes }, { ...limits, view: 'b' })
  while ((await resident()) < 460 * megabytes) await setImmediate()
  const waiting = lenses.command({ does: 'describe' }, { view: 'c' })
  assert.equal(await lenses.metric('viewmesh_lens_waiting_jobs'), 1)
  abort()
  await assert.rejects(pieced, { name: 'AbortError' })
  assert.notEqual(Object(await waiting).pid, pid)
  assert.deepEqual([lenses.ends(), lenses.warnings], [1, []])
})

test('where memory runs out under two jobs no place is named, and under one its own', async (t) => {
  const memoryBytes = 300 * megabytes
  const { lenses, pieced } = await openBusy(t, memoryBytes)
  const documents = Array.from({ length: 10_000 }, () => '{}')
  const job = { ...limits, documents, copies: 4 }
  await assert.rejects(lenses.run('b', greedy, job), /, at last in lens [1-4]$/)
  await assert.rejects(pieced, {
    code: 'LENS_MEMORY_LIMIT',
    message: `the lens process took more than ${memoryBytes} bytes of memory`,
    facts: { memoryBytes },
  })
})

test('a thread that cannot be stopped ends the process, which is not held against others', async (t) => {
  const lenses = openLenses(t, { threads: 2 })
  const pipe = join(testDirectory(t), 'pipe')
  execFileSync('mkfifo', [pipe])
  const first = join(testDirectory(t), 'first')
  const controller = new AbortController()
  const other = lenses.command({ does: 'wait', first }, { ...limits, view: 'a' })
  const job = { ...limits, view: 'b', signal: controller.signal, onPiece: () => controller.abort() }
  await assert.rejects(lenses.command({ does: 'block', pipe }, job), { name: 'AbortError' })
  assert.equal(await other, 'wait')
  const [{ cause, err } = {}] = lenses.warnings
  assert.equal(cause, 'stuck')
  assert.equal(Object(err).message, 'the lens process ended: a thread in it could not be stopped')
  assert.deepEqual([lenses.ends(), lenses.warnings.length], [1, 1])
})
