import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, type TestContext, test } from 'node:test'
import { type ErrorCode, ServiceError } from '../../../src/errors.ts'
import type { FromChild, JobOutcome, ToChild } from '../../../src/lens/child/messages.ts'
import { createLensJobs, type LensJob, type LensJobs } from '../../../src/lens/process/lens-jobs.ts'
import { toPlainError } from '../../../src/plain-error.ts'

const payload = Uint8Array.of(1)
const bytes = Uint8Array.of(2)
const definition = Uint8Array.of(3)
const result: JobOutcome = { kind: 'result', bytes }
const missing: JobOutcome = { kind: 'missing' }
const death = new ServiceError('LENS_PROCESS_DIED', 'the process ended', { remedy: 'Wait.' })

interface Opened {
  readonly jobs: LensJobs
  /** What was sent, in short: the ID of a job and its thread. */
  readonly sent: () => string[]
  readonly messages: ToChild[]
  /** How jobs ended, as it is counted. */
  readonly counted: unknown[][]
  readonly silences: () => number
  /** Adds a job and gives it to a thread that is free. */
  add(view: string, job?: Partial<LensJob>): ReturnType<LensJobs['add']>
  finish(thread: number, id: number, outcome: JobOutcome, end?: Partial<End>): void
  /** Lets the clock go on. */
  pass(ms: number): void
}

type End = Pick<Extract<FromChild, { kind: 'outcome' }>, 'processorMs' | 'isFree'>

/** Jobs for threads that the test plays, with its own clock, which begins at 1,000 ms. */
function openJobs(t: TestContext, threads = 1): Opened {
  let now = 1_000
  let silences = 0
  const messages: ToChild[] = []
  const counted: unknown[][] = []
  t.mock.timers.enable({ apis: ['setTimeout'] })
  t.mock.method(performance, 'now', () => now)
  const jobs = createLensJobs(threads, {
    metrics: {
      job: (...end) => void counted.push(end),
      restarted: () => undefined,
      watch: () => undefined,
    },
    send: (message) => void messages.push(message),
    onSilent: () => {
      silences += 1
    },
  })
  for (let thread = 0; thread < threads; thread += 1) jobs.free(thread)
  return {
    jobs,
    messages,
    counted,
    silences: () => silences,
    sent: () =>
      messages
        .splice(0)
        .flatMap((message) =>
          message.kind === 'job' ? [`${message.job.id} to ${message.thread}`] : [message.kind],
        ),
    add(view, job = {}) {
      const base = { view, definition: () => definition, priority: 'live', payload } as const
      const added = jobs.add({ ...base, ...job })
      jobs.begin()
      return added
    },
    finish(thread, id, outcome, { processorMs = 1, isFree = true } = {}) {
      jobs.finish({ kind: 'outcome', thread, id, outcome, processorMs, isFree })
      jobs.begin()
    },
    pass(ms) {
      now += ms
      t.mock.timers.tick(ms)
    },
  }
}

describe('a job is sent to its thread', () => {
  const limits: readonly [string, Partial<LensJob>, { processorMs: number; wallMs: number }][] = [
    ['2 s of processor time and 10 s by the clock', {}, { processorMs: 2_000, wallMs: 10_000 }],
    ['limits of its own', { processorMs: 7, wallMs: 8 }, { processorMs: 7, wallMs: 8 }],
    [
      'the time until it is to end',
      { endsAt: 1_250.4, wallMs: 8 },
      { processorMs: 2_000, wallMs: 250 },
    ],
    ['1 ms where it should have ended', { endsAt: 900 }, { processorMs: 2_000, wallMs: 1 }],
  ]
  for (const [what, job, expected] of limits)
    test(`with ${what}`, (t) => {
      const { add, messages } = openJobs(t)
      void add('a', job)
      const whole = { id: 1, view: 'a', definition: null, payload, isPieced: false, ...expected }
      assert.deepEqual(messages, [{ kind: 'job', thread: 0, job: whole }])
    })

  test('once more with the definition where the View is missing, and its times add up', async (t) => {
    const { add, finish, messages, counted, jobs } = openJobs(t)
    const added = add('a', { onPiece: () => undefined })
    finish(0, 1, missing, { processorMs: 5 })
    assert.equal(jobs.running, 1)
    const [first, second, ...others] = messages
    assert.ok(first?.kind === 'job' && second?.kind === 'job')
    assert.deepEqual([first.job.definition, first.job.isPieced, others], [null, true, []])
    assert.deepEqual(second, { ...first, job: { ...first.job, definition } })
    finish(0, 1, result, { processorMs: 7 })
    assert.deepEqual(await added, { bytes, processorMs: 12 })
    assert.deepEqual(counted, [['live', 'done', 12]])
    assert.equal(jobs.running, 0)
  })

  test('and fails where its View has no definition any more, which frees the thread', async (t) => {
    const { add, finish, sent, jobs } = openJobs(t)
    const gone = new Error('the View was removed')
    const definition = (): never => {
      throw gone
    }
    const failed = add('a', { definition })
    void add('b')
    finish(0, 1, missing)
    await assert.rejects(failed, gone)
    assert.deepEqual([sent(), jobs.running], [['1 to 0', '2 to 0'], 1])
  })

  test('when one is free, which none is that was ended until it says so', (t) => {
    const { add, finish, sent, jobs } = openJobs(t)
    for (const view of ['a', 'b']) add(view).catch(() => undefined)
    assert.deepEqual([sent(), jobs.waiting, jobs.running], [['1 to 0'], 1, 1])
    finish(0, 1, { kind: 'failure', error: toPlainError(death) }, { isFree: false })
    assert.deepEqual([sent(), jobs.waiting, jobs.running], [[], 1, 0])
    jobs.free(0)
    jobs.begin()
    assert.deepEqual([sent(), jobs.waiting, jobs.running], [['2 to 0'], 0, 1])
  })
})

test('Views of jobs under way are named once each, the first 8 of them', (t) => {
  const { add, finish, jobs } = openJobs(t, 10)
  for (const view of ['a', 'a', 'b']) void add(view)
  assert.deepEqual(jobs.viewsUnderWay(), ['a', 'b'])
  for (const view of ['c', 'd', 'e', 'f', 'g', 'h']) void add(view)
  assert.deepEqual(jobs.viewsUnderWay(), ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
  void add('i')
  assert.deepEqual(jobs.viewsUnderWay(), ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
  finish(2, 3, result)
  assert.deepEqual(jobs.viewsUnderWay(), ['a', 'c', 'd', 'e', 'f', 'g', 'h', 'i'])
})

test('the View whose job took the least processor time is next', (t) => {
  const { add, finish, sent } = openJobs(t)
  for (const view of ['slow', 'slow', 'quick']) void add(view)
  finish(0, 1, result, { processorMs: 300 })
  assert.deepEqual(sent(), ['1 to 0', '3 to 0'])
})

describe('a thread is taken for lost', () => {
  test('5 s after it should have ended its job, counted again with a definition', (t) => {
    const { add, finish, pass, silences } = openJobs(t)
    void add('a')
    pass(14_999)
    finish(0, 1, missing)
    pass(14_999)
    assert.equal(silences(), 0)
    pass(1)
    assert.equal(silences(), 1)
  })

  test('never where the job is over, in whatever way', async (t) => {
    const { add, finish, pass, silences, jobs } = openJobs(t, 3)
    const ended = [add('a'), add('b', { onPiece: () => undefined }), add('c')]
    finish(0, 1, result)
    jobs.died(death, true)
    assert.equal(jobs.waiting, 1)
    pass(60_000)
    assert.equal(silences(), 0, 'nor where it is to be done again')
    jobs.failAll(death, 'died')
    await Promise.allSettled(ended)
    pass(60_000)
    assert.equal(silences(), 0)
  })
})

describe('what a thread says of a job that it no longer has is ignored', () => {
  test('be it an outcome or a piece', (t) => {
    const { add, finish, counted, jobs } = openJobs(t)
    const pieces: number[] = []
    void add('a', { onPiece: (piece) => void pieces.push(...piece) })
    finish(0, 2, result)
    finish(1, 1, result)
    jobs.piece({ kind: 'piece', thread: 0, id: 2, bytes: Uint8Array.of(7) })
    jobs.piece({ kind: 'piece', thread: 1, id: 1, bytes: Uint8Array.of(8) })
    jobs.piece({ kind: 'piece', thread: 0, id: 1, bytes: Uint8Array.of(9) })
    assert.deepEqual([counted, jobs.running, pieces], [[], 1, [9]])
  })
})

test('a piece that is taken is reported to the thread', (t) => {
  const { add, messages, jobs } = openJobs(t)
  void add('a', { onPiece: (_, taken) => taken() })
  jobs.piece({ kind: 'piece', thread: 0, id: 1, bytes })
  assert.deepEqual(messages.slice(1), [{ kind: 'taken', thread: 0, id: 1 }])
})

describe('an aborted job', () => {
  test('that runs is ended, gets no more pieces and no definition, and frees its thread', async (t) => {
    const { add, finish, messages, sent, counted, jobs } = openJobs(t)
    const controller = new AbortController()
    const onPiece = (): void => assert.fail('nobody waits for it')
    const added = add('a', { signal: controller.signal, onPiece })
    controller.abort(new Error('enough'))
    await assert.rejects(added, { message: 'enough' })
    assert.deepEqual(messages.splice(0).slice(1), [{ kind: 'abort', thread: 0, id: 1 }])
    jobs.piece({ kind: 'piece', thread: 0, id: 1, bytes })
    void add('b')
    finish(0, 1, missing)
    assert.deepEqual(sent(), ['2 to 0'])
    assert.deepEqual(counted, [['live', 'aborted', 0]])
  })

  test('that runs is ended in its own thread, beside others', async (t) => {
    const { add, messages } = openJobs(t, 2)
    const controller = new AbortController()
    void add('a')
    const added = add('b', { signal: controller.signal })
    controller.abort(new Error('enough'))
    await assert.rejects(added, { message: 'enough' })
    assert.deepEqual(messages.slice(2), [{ kind: 'abort', thread: 1, id: 2 }])
  })

  test('that waits, also to be done again, is never sent', async (t) => {
    const { add, sent, jobs } = openJobs(t, 2)
    const controller = new AbortController()
    const { signal } = controller
    const aborted = [add('a', { signal }), add('b', { signal })]
    jobs.died(death, true)
    aborted.push(add('c', { signal }))
    sent()
    assert.equal(jobs.waiting, 3)
    controller.abort(new Error('enough'))
    for (const each of aborted) await assert.rejects(each, { message: 'enough' })
    jobs.free(0)
    jobs.begin()
    assert.deepEqual([sent(), jobs.waiting, jobs.running], [[], 0, 0])
  })

  test('that waits takes no other one with it that is to be done again', async (t) => {
    const { add, sent, jobs } = openJobs(t, 2)
    const controller = new AbortController()
    const { signal } = controller
    const aborted = [add('a', { signal })]
    void add('b')
    jobs.died(death, false)
    aborted.push(add('c', { signal }))
    controller.abort(new Error('enough'))
    for (const each of aborted) await assert.rejects(each, { message: 'enough' })
    sent()
    jobs.free(0)
    jobs.begin()
    assert.deepEqual(sent(), ['2 to 0'])
  })

  test('is not done again where the process ends before its thread', async (t) => {
    const { add, jobs } = openJobs(t)
    const controller = new AbortController()
    const added = add('a', { signal: controller.signal })
    controller.abort(new Error('enough'))
    await assert.rejects(added, { message: 'enough' })
    jobs.died(death, false)
    assert.equal(jobs.waiting, 0)
  })

  test('that was over before stays as it was, and its signal is let go', async (t) => {
    const { add, finish, sent, counted } = openJobs(t)
    const controller = new AbortController()
    const added = add('a', { signal: controller.signal })
    finish(0, 1, result)
    controller.abort()
    assert.deepEqual(await added, { bytes, processorMs: 1 })
    assert.deepEqual([sent(), counted], [['1 to 0'], [['live', 'done', 1]]])
    assert.deepEqual(getEventListeners(controller.signal, 'abort'), [])
  })
})

describe('where the process ends', () => {
  test('the only job fails where it is to blame, and is done again where it is not', async (t) => {
    const { add, finish, sent, counted, jobs } = openJobs(t)
    const blamed = add('a')
    jobs.died(death, true)
    await assert.rejects(blamed, death)
    assert.deepEqual(counted, [['live', 'died', 0]])
    jobs.free(0)
    const innocent = add('b')
    jobs.died(death, false)
    assert.deepEqual([jobs.waiting, jobs.running], [1, 0])
    sent()
    jobs.begin()
    assert.deepEqual(sent(), [])
    jobs.free(0)
    jobs.begin()
    assert.deepEqual(sent(), ['2 to 0'])
    finish(0, 2, result)
    assert.deepEqual(await innocent, { bytes, processorMs: 1 })
  })

  test('none of its threads takes a job any more, also of those that were free', (t) => {
    const { add, sent, jobs } = openJobs(t, 2)
    void add('a')
    jobs.died(death, false)
    void add('b')
    assert.deepEqual([sent(), jobs.waiting, jobs.running], [['1 to 0'], 2, 0])
  })

  test('several are done again, each alone and before all others; one in pieces fails', async (t) => {
    const { add, finish, sent, jobs } = openJobs(t, 3)
    const pieced = add('a', { onPiece: () => undefined })
    for (const view of ['b', 'c', 'd']) void add(view)
    assert.deepEqual(sent(), ['1 to 0', '2 to 1', '3 to 2'])
    jobs.died(death, true)
    await assert.rejects(pieced, death)
    assert.equal(jobs.waiting, 3)
    for (const thread of [0, 1, 2]) jobs.free(thread)
    jobs.begin()
    assert.deepEqual(sent(), ['2 to 0'])
    finish(0, 2, result)
    assert.deepEqual(sent(), ['3 to 1'])
    void add('e')
    assert.deepEqual(sent(), [])
    finish(1, 3, result)
    assert.deepEqual(sent(), ['4 to 2', '5 to 0'])
  })

  test('the View whose job was under way has used the time that passed', (t) => {
    const { add, pass, sent, jobs } = openJobs(t)
    add('slow').catch(() => undefined)
    pass(300)
    jobs.died(death, true)
    for (const view of ['slow', 'quick']) void add(view)
    sent()
    jobs.free(0)
    jobs.begin()
    assert.deepEqual(sent(), ['3 to 0'])
  })
})

test('all jobs can be failed together: those that run, wait and are to be done again', async (t) => {
  const { add, counted, jobs } = openJobs(t)
  const all = [add('a')]
  jobs.died(death, false)
  jobs.free(0)
  all.push(add('b'))
  jobs.died(death, false)
  jobs.free(0)
  jobs.begin()
  all.push(add('c'))
  const error = new Error('closed')
  assert.deepEqual([jobs.running, jobs.waiting], [1, 2])
  jobs.failAll(error, 'aborted')
  for (const each of all) await assert.rejects(each, error)
  assert.equal(jobs.waiting, 0)
  assert.deepEqual(
    counted.map(([, outcome]) => outcome),
    ['aborted', 'aborted', 'aborted'],
  )
})

describe('a failure is counted', () => {
  const outcomes: readonly [string, ErrorCode | null][] = [
    ['limited', 'LENS_TIME_LIMIT'],
    ['limited', 'LENS_MEMORY_LIMIT'],
    ['died', 'LENS_PROCESS_DIED'],
    ['failed', 'LENS_TRAPPED'],
    ['failed', null],
  ]
  for (const [outcome, code] of outcomes)
    test(`as ${outcome} where it is ${code ?? 'of no code'}`, async (t) => {
      const { add, finish, counted } = openJobs(t)
      const failed = add('a', { priority: 'query' })
      const message = 'what went wrong'
      const error = code === null ? new Error(message) : new ServiceError(code, message)
      finish(0, 1, { kind: 'failure', error: toPlainError(error) }, { processorMs: 4 })
      await assert.rejects(failed, error)
      assert.deepEqual(counted, [['query', outcome, 4]])
    })
})
