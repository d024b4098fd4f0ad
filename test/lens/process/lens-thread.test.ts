/** One thread, whose watch and timers go on when the test lets them. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { openLensThread } from '../../../src/lens/child/lens-thread.ts'
import type { FromChild, ThreadJob } from '../../../src/lens/child/messages.ts'
import { buildLens } from '../support/lens.ts'
import type { Command } from './support/open-lenses.ts'

const definition = Buffer.from([1, ...buildLens()])
const url = new URL('./support/lens-worker.ts', import.meta.url)
const deaf: Command = { does: 'pieces', count: 1, stays: 'deaf' }
const asking: Command = { does: 'pieces', count: 1, stays: 'asking' }

/** Every thread that the test starts ends with it. */
function endWorkersAfter(t: TestContext): void {
  const workers: Worker[] = []
  const note = (worker: Worker): void => void workers.push(worker)
  process.on('worker', note)
  t.after(async () => {
    // Of a thread that was started just now the program hears in the next turn.
    await nextTurn()
    process.off('worker', note)
    // Nobody starts another one in its place.
    for (const worker of workers) worker.removeAllListeners('exit')
    await Promise.all(workers.map((worker) => worker.terminate()))
  })
}

function openThread(t: TestContext, worker = url) {
  endWorkersAfter(t)
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  let now = 1_000
  t.mock.method(performance, 'now', () => now)
  const messages: FromChild[] = []
  const thread = openLensThread(
    { number: 3, url: worker, data: { refuses: false, feed: null } },
    (message) => messages.push(message),
  )
  const kinds = () => messages.map(({ kind }) => kind)
  /** Waits for the next message and takes it. */
  const next = async <K extends FromChild['kind']>(kind: K) => {
    while (messages.length === 0) await nextTurn()
    const message = messages.shift()
    assert.equal(message?.kind, kind)
    return message as Extract<FromChild, { kind: K }>
  }
  return {
    ...{ thread, kinds, next },
    run(id: number, command: Command, job: Partial<ThreadJob> = {}) {
      const limits = { processorMs: 60_000, wallMs: 60_000 }
      const payload = Buffer.from(JSON.stringify(command))
      const isPieced = command.does === 'pieces'
      thread.run({ id, view: 'a', definition, payload, isPieced, ...limits, ...job })
    },
    pass(ms: number) {
      now += ms
      t.mock.timers.tick(ms)
    },
    /** Lets everything happen that needs no time. */
    async settle() {
      for (let turn = 0; turn < 50; turn++) await nextTurn()
    },
  }
}

const aborted = { kind: 'failure', error: { name: 'AbortError' } }
const failed = (code: string, message: string) => ({
  kind: 'failure',
  error: { code, message },
})
const small: Command = { does: 'large', bytes: 1 }

test('a thread is busy with a job until its outcome, and then free', async (t) => {
  const { thread, next, run } = openThread(t)
  assert.deepEqual(await next('ready'), { kind: 'ready', thread: 3 })
  assert.equal(thread.isBusy(), false)
  run(1, small, { definition: null })
  assert.equal(thread.isBusy(), true)
  assert.deepEqual((await next('outcome')).outcome, { kind: 'missing' })
  assert.equal(thread.isBusy(), false)
  run(2, small)
  const { outcome, processorMs, ...rest } = await next('outcome')
  assert.deepEqual(rest, { kind: 'outcome', thread: 3, id: 2, isFree: true })
  assert.ok(outcome.kind === 'result' && Buffer.from(outcome.bytes).toString() === '"x"')
  assert.ok(processorMs >= 0)
})

test('a job costs the processor time that it took, not that of the thread before it', async (t) => {
  const { next, run } = openThread(t)
  await next('ready')
  run(1, { does: 'work', processorMs: 400 })
  const first = await next('outcome')
  run(2, small)
  const second = await next('outcome')
  assert.ok(first.processorMs >= 400)
  assert.ok(second.processorMs < 400, `${second.processorMs} ms for nothing`)
})

test('a job that is aborted stops by itself where it can, which spares its thread', async (t) => {
  const { thread, next, run, pass, kinds, settle } = openThread(t)
  await next('ready')
  run(1, asking)
  await next('piece')
  thread.abort(2)
  thread.abort(1)
  const { isFree, outcome } = await next('outcome')
  assert.equal(isFree, true)
  assert.partialDeepStrictEqual(outcome, aborted)
  run(2, deaf)
  await next('piece')
  pass(250)
  await settle()
  assert.deepEqual([kinds(), thread.isBusy()], [[], true], 'the next job goes on')
})

test('a job that does not stop within 250 ms is ended with its thread, and another one begins', async (t) => {
  const { thread, next, run, pass, kinds, settle } = openThread(t)
  await next('ready')
  run(1, deaf)
  await next('piece')
  thread.abort(1)
  pass(249)
  assert.deepEqual([kinds(), thread.isBusy()], [[], true])
  pass(1)
  const ended = await next('outcome')
  const expected = { kind: 'outcome', thread: 3, id: 1, outcome: aborted, processorMs: 0 }
  assert.partialDeepStrictEqual(ended, { ...expected, isFree: false })
  assert.deepEqual(await next('ready'), { kind: 'ready', thread: 3 })
  pass(2_000)
  run(2, small)
  assert.equal((await next('outcome')).outcome.kind, 'result')
  await settle()
  assert.deepEqual(kinds(), [])
})

test('a piece that is taken of another job, or of one that is over, lets none go', async (t) => {
  const { thread, next, run, kinds, settle } = openThread(t)
  await next('ready')
  run(1, { does: 'pieces', count: 5 })
  for (let piece = 0; piece < 4; piece++) await next('piece')
  thread.taken(2)
  await settle()
  assert.deepEqual(kinds(), [])
  thread.taken(1)
  await next('piece')
  assert.equal((await next('outcome')).isFree, true)
  thread.taken(1)
  assert.equal(thread.isBusy(), false)
})

test('a job without pieces is ended with its thread at once', async (t) => {
  const { thread, next, run } = openThread(t)
  await next('ready')
  run(1, { does: 'work', processorMs: 60_000 })
  thread.abort(2)
  assert.equal(thread.isBusy(), true)
  thread.abort(1)
  assert.equal((await next('outcome')).isFree, false)
})

test('a thread that has not ended after 2 s is stuck', async (t) => {
  const { thread, next, run, pass, kinds } = openThread(t)
  await next('ready')
  run(1, { does: 'work', processorMs: 60_000 })
  thread.abort(1)
  await next('outcome')
  pass(1_999)
  assert.deepEqual(kinds(), [])
  pass(1)
  assert.deepEqual(await next('stuck'), { kind: 'stuck', thread: 3 })
})

test('a job may take as long by the clock as it was given, and is ended at the next look', async (t) => {
  const { next, run, pass, kinds } = openThread(t)
  await next('ready')
  run(1, deaf, { wallMs: 100 })
  await next('piece')
  pass(100)
  assert.deepEqual(kinds(), [])
  pass(50)
  const { outcome, processorMs, isFree } = await next('outcome')
  assert.partialDeepStrictEqual(
    outcome,
    failed('LENS_TIME_LIMIT', 'the lenses took more than 100 ms of time'),
  )
  assert.match(JSON.stringify(outcome), /See that each lens comes to an end; .* in the lenses\."/)
  assert.deepEqual([processorMs, isFree], [150, false])
  await next('ready')
  pass(10_000)
  assert.deepEqual(kinds(), [], 'it is not ended twice')
})

test('a job that waits may take longer than its processor time', async (t) => {
  const { thread, next, run, pass, kinds, settle } = openThread(t)
  await next('ready')
  run(1, { does: 'work', processorMs: 400 })
  await next('outcome')
  run(2, asking, { processorMs: 400, wallMs: 10_000 })
  await next('piece')
  pass(9_000)
  await settle()
  assert.deepEqual(kinds(), [])
  thread.abort(2)
  assert.equal((await next('outcome')).isFree, true)
})

test('a thread that ends by itself fails its job, and is replaced', async (t) => {
  const { next, run } = openThread(t)
  await next('ready')
  run(1, { does: 'exit' })
  const { outcome, processorMs, isFree } = await next('outcome')
  const message = 'the thread of the lenses ended: exit code 3'
  const remedy =
    'See that the machine has memory to spare, and leave out the lens that was at work.'
  assert.partialDeepStrictEqual(outcome, {
    kind: 'failure',
    error: { code: 'LENS_PROCESS_DIED', message, remedy },
  })
  assert.deepEqual([processorMs, isFree], [0, false])
  await next('ready')
  run(2, small)
  assert.equal((await next('outcome')).outcome.kind, 'result')
})

test('a thread whose module is not there is refused with the reason', async (t) => {
  const { next, thread } = openThread(t, new URL('./support/none.ts', import.meta.url))
  const { error } = await next('refused')
  assert.match(error.message, /support\/none\.ts/)
  assert.equal(thread.isBusy(), false)
})
