/** Ends of the lens process that its program decides on, by a clock that the test lets go on. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { openLenses } from './support/open-lenses.ts'

const describeThread = { does: 'describe' } as const

/** Lenses whose timers stand still, and what lets time go on. */
function openStill(t: TestContext, options: Parameters<typeof openLenses>[1] = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const lenses = openLenses(t, options)
  const untilEnded = async (): Promise<void> => {
    while (lenses.ends() === 0) await setImmediate()
  }
  return { lenses, untilEnded, pass: (ms: number) => t.mock.timers.tick(ms) }
}

test('a job that is asked for while the idle process ends is done by the next one', async (t) => {
  const { lenses, untilEnded, pass } = openStill(t, { idleMs: 1_000 })
  const first = Object(await lenses.command(describeThread))
  pass(999)
  assert.deepEqual(await lenses.command(describeThread), first)
  pass(1)
  assert.deepEqual(await lenses.command(describeThread), first, 'its idle time begins again')
  pass(1_000)
  const second = lenses.command(describeThread)
  await untilEnded()
  pass(1)
  assert.notEqual(Object(await second).pid, first.pid)
  assert.deepEqual(lenses.warnings, [])
})

test('an idle process that ended is started for the next job, and not before', async (t) => {
  const { lenses, untilEnded, pass } = openStill(t, { idleMs: 1_000 })
  await lenses.command(describeThread)
  pass(1_000)
  await untilEnded()
  pass(60_000)
  assert.equal(await lenses.metric('viewmesh_lens_process_restarts_total'), 0)
  await lenses.command(describeThread)
  assert.equal(await lenses.metric('viewmesh_lens_process_restarts_total'), 1)
})

test('a process is not idle while a job runs, however long that takes and whatever waits', async (t) => {
  const { lenses, pass } = openStill(t, { idleMs: 1_000 })
  const first = await lenses.command(describeThread)
  const began = Promise.withResolvers<void>()
  const controller = new AbortController()
  const limits = { processorMs: 60_000, wallMs: 60_000 }
  const job = { onPiece: () => began.resolve(), signal: controller.signal, ...limits }
  const asking = lenses.command({ does: 'pieces', count: 1, stays: 'asking' }, job)
  await began.promise
  pass(50_000)
  const waiting = lenses.command(describeThread)
  pass(1_000)
  controller.abort()
  await assert.rejects(asking, { name: 'AbortError' })
  assert.deepEqual(await waiting, first)
})

test('the idle time of a process that died does not end the next one', async (t) => {
  const { lenses, untilEnded, pass } = openStill(t, { idleMs: 1_000 })
  const { pid } = Object(await lenses.command(describeThread))
  process.kill(pid, 'SIGKILL')
  await untilEnded()
  pass(999)
  const next = lenses.command(describeThread)
  pass(1)
  assert.notEqual(Object(await next).pid, pid)
  assert.equal(lenses.ends(), 1)
})

test('a process that is not ready within 30 s is ended, and its jobs fail', async (t) => {
  const { lenses, untilEnded, pass } = openStill(t)
  const failed = assert.rejects(lenses.command(describeThread), {
    code: 'LENS_PROCESS_DIED',
    message: 'the lens process ended: it did not start in time',
  })
  pass(29_999)
  assert.equal(await lenses.metric('viewmesh_lens_waiting_jobs'), 1)
  pass(1)
  await untilEnded()
  await failed
  assert.equal(lenses.warnings[0]?.['cause'], 'start')
})

test('the time that a process had to become ready does not end the next one', async (t) => {
  const { lenses, pass } = openStill(t, { refuses: true })
  const refused = {
    code: 'LENS_PROCESS_DIED',
    message: 'the lens process ended: a thread in it did not start',
  }
  await assert.rejects(lenses.command(describeThread), refused)
  pass(29_999)
  const next = assert.rejects(lenses.command(describeThread), refused)
  pass(1)
  await next
})

test('a process that is silent about a job for 5 s too long is ended, and the job fails', async (t) => {
  const { lenses, pass } = openStill(t)
  const began = Promise.withResolvers<void>()
  const job = { onPiece: () => began.resolve(), processorMs: 60_000, wallMs: 60_000 }
  const failed = assert.rejects(lenses.command({ does: 'pieces', count: 1, stays: 'deaf' }, job), {
    code: 'LENS_TIME_LIMIT',
    message: 'the lens process did not respond in time',
    remedy: 'See that each lens comes to an end, and that the machine has time to spare.',
  })
  await began.promise
  pass(65_000)
  await failed
  assert.equal(lenses.warnings[0]?.['cause'], 'silent')
})

test('after a death the next process waits, twice as long after each in a row', async (t) => {
  t.mock.method(Math, 'random', () => 1)
  const { lenses, pass } = openStill(t)
  const die = async (waitMs: number): Promise<void> => {
    const before = lenses.ends()
    const dying = lenses.command({ does: 'die', when: '/' })
    if (waitMs > 0) {
      pass(waitMs - 1)
      assert.equal(await lenses.metric('viewmesh_lens_process_restarts_total'), before - 1)
      pass(1)
      assert.equal(await lenses.metric('viewmesh_lens_process_restarts_total'), before)
    }
    await assert.rejects(dying, { code: 'LENS_PROCESS_DIED' })
  }
  for (const waitMs of [0, 100, 200, 400]) await die(waitMs)
  const done = lenses.command(describeThread)
  pass(800)
  await done
  await die(0)
  await die(100)
})

test('Views that ended the process wait for the next one, and others do not', async (t) => {
  const { lenses } = openStill(t)
  const restarts = () => lenses.metric('viewmesh_lens_process_restarts_total')
  const die = (view: string) =>
    assert.rejects(lenses.command({ does: 'die', when: '/' }, { view }), {
      code: 'LENS_PROCESS_DIED',
    })
  await die('a')
  await die('b')
  assert.equal(await restarts(), 1, 'it was started at once for another View')
  const waiting = die('a')
  assert.equal(await restarts(), 1, 'it is not for one that ended it')
  await lenses.command(describeThread, { view: 'c' })
  await waiting
})

test('a process that cannot start is not started at once for another View', async (t) => {
  const { lenses, pass } = openStill(t, { refuses: true })
  const ask = (view: string) => lenses.command(describeThread, { view })
  const refused = { code: 'LENS_PROCESS_DIED' }
  await assert.rejects(ask('a'), refused)
  const next = assert.rejects(ask('b'), refused)
  pass(49)
  assert.equal(await lenses.metric('viewmesh_lens_process_restarts_total'), 0)
  pass(51)
  await next
})
