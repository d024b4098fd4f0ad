import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  createJobScheduler,
  type JobScheduler,
  type Priority,
} from '../../../src/lens/process/job-scheduler.ts'

interface Job {
  readonly view: string
  readonly priority: Priority
}

const job = (view: string, priority: Priority = 'live'): Job => ({ view, priority })

/** Adds jobs and returns the Views of all in the order in which they run, each taking so many ms. */
function order(
  scheduler: JobScheduler<Job>,
  jobs: readonly Job[],
  costs: Record<string, number> = {},
) {
  for (const each of jobs) scheduler.add(each)
  const views: string[] = []
  for (let next = scheduler.next([]); next !== undefined; next = scheduler.next([])) {
    scheduler.charge(next.view, costs[next.view] ?? 1)
    views.push(next.view)
  }
  return views
}

test('live blocks come before queries, and these before back-fill', () => {
  const jobs = [job('a', 'backfill'), job('b', 'query'), job('c', 'live'), job('d', 'query')]
  assert.deepEqual(order(createJobScheduler(1), jobs), ['c', 'b', 'd', 'a'])
})

test('the View that took the least processor time is next, however much it has waiting', () => {
  const jobs = [...Array.from({ length: 5 }, () => job('slow')), job('quick'), job('quick')]
  assert.deepEqual(order(createJobScheduler(1), jobs, { slow: 2_000, quick: 2 }).slice(0, 4), [
    'slow',
    'quick',
    'quick',
    'slow',
  ])
})

test('a new View comes before one that has used any time, however little', () => {
  const scheduler = createJobScheduler<Job>(1)
  scheduler.charge('old', 0.5)
  assert.deepEqual(order(scheduler, [job('old'), job('new')]), ['new', 'old'])
})

test('a View that comes back has no credit from the time in which it had nothing to do', () => {
  const scheduler = createJobScheduler<Job>(1)
  order(scheduler, [job('rare')])
  order(
    scheduler,
    Array.from({ length: 100 }, () => job('busy')),
  )
  const jobs = [job('new'), job('busy'), job('new'), job('busy'), job('new'), job('busy')]
  assert.deepEqual(order(scheduler, jobs), ['new', 'new', 'busy', 'new', 'busy', 'busy'])
  const back = [job('rare'), job('rare'), job('rare'), job('busy'), job('busy'), job('busy')]
  assert.deepEqual(order(scheduler, back), ['rare', 'rare', 'busy', 'rare', 'busy', 'busy'])
})

test('of Views that have used as much, a quick one waits for none that takes long', () => {
  const scheduler = createJobScheduler<Job>(1)
  const slow = ['a', 'b', 'c', 'd', 'e'].map((view) => job(view))
  const costs = { ...Object.fromEntries(slow.map(({ view }) => [view, 2_000])), quick: 5 }
  order(scheduler, [...slow, job('quick')], costs)
  for (const each of slow) scheduler.add(each)
  for (const underWay of ['a', 'b', 'c', 'd']) {
    assert.equal(scheduler.next([])?.view, underWay)
    scheduler.charge(underWay, 2_000)
    scheduler.add(job('quick'))
    assert.equal(scheduler.next([])?.view, 'quick')
    scheduler.charge('quick', 5)
  }
})

test('a View that takes long has its turn among quick ones that never rest', () => {
  const scheduler = createJobScheduler<Job>(1)
  order(scheduler, [job('slow')], { slow: 100 })
  const jobs = [...Array.from({ length: 500 }, () => job('quick')), job('slow')]
  const turn = order(scheduler, jobs, { slow: 100, quick: 1 }).indexOf('slow')
  assert.equal(turn, 200)
})

describe('of several threads one stays free', () => {
  test('of what can wait', () => {
    const scheduler = createJobScheduler<Job>(2)
    const running = [job('a', 'backfill')]
    for (const each of [job('b', 'backfill'), job('c', 'query')]) scheduler.add(each)
    assert.equal(scheduler.next(running), undefined)
    scheduler.add(job('d'))
    assert.equal(scheduler.next(running)?.view, 'd')
    assert.equal(scheduler.next([job('e')])?.view, 'c')
  })

  test('of the jobs of any one View', () => {
    const scheduler = createJobScheduler<Job>(3)
    const running = [job('a'), job('a')]
    scheduler.add(job('a'))
    assert.equal(scheduler.next(running), undefined)
    scheduler.add(job('b'))
    assert.equal(scheduler.next(running)?.view, 'b')
    assert.equal(scheduler.next([job('a')])?.view, 'a')
  })

  test('but the only one does everything', () => {
    const scheduler = createJobScheduler<Job>(1)
    scheduler.add(job('a', 'backfill'))
    assert.equal(scheduler.next([])?.view, 'a')
  })
})

test('the time of the thousand Views that worked last is remembered, and no longer one', () => {
  for (const [others, expected] of [
    [999, ['new', 'old']],
    [1_000, ['old', 'new']],
  ] as const) {
    const scheduler = createJobScheduler<Job>(1)
    scheduler.charge('0', 1)
    scheduler.charge('old', 100)
    for (let view = 0; view < others; view += 1) scheduler.charge(`${view}`, 1)
    assert.deepEqual(order(scheduler, [job('old'), job('new')]), expected)
  }
})

test('a View that is forgotten counts as having used what the one chosen last had', () => {
  const scheduler = createJobScheduler<Job>(1)
  scheduler.charge('busy', 50)
  order(scheduler, [job('busy')])
  scheduler.charge('forgotten', 1)
  assert.deepEqual(order(scheduler, [job('forgotten'), job('new')]), ['new', 'forgotten'])
})

test('a View that waited long does not lower where others begin', () => {
  const scheduler = createJobScheduler<Job>(1)
  scheduler.add(job('patient', 'backfill'))
  for (const costs of [100, 1]) {
    scheduler.add(job('busy'))
    assert.equal(scheduler.next([])?.view, 'busy')
    scheduler.charge('busy', costs)
  }
  assert.equal(scheduler.next([])?.view, 'patient')
  const jobs = [job('new'), job('new'), job('busy')]
  assert.deepEqual(order(scheduler, jobs, { new: 2 }), ['new', 'busy', 'new'])
})

test('a job that waits can be taken out, once', () => {
  const scheduler = createJobScheduler<Job>(1)
  const [first, second] = [job('a'), job('a')]
  scheduler.add(first)
  scheduler.add(second)
  assert.equal(scheduler.remove(first), true)
  assert.equal(scheduler.remove(first), false)
  assert.equal(scheduler.size, 1)
  assert.deepEqual(scheduler.clear(), [second])
  assert.equal(scheduler.size, 0)
  assert.equal(scheduler.next([]), undefined)
})

test('a thousand jobs of a View wait, and one more is refused', () => {
  const scheduler = createJobScheduler<Job>(1)
  for (let count = 0; count < 1_000; count += 1) scheduler.add(job('a', 'query'))
  assert.throws(() => scheduler.add(job('a')), {
    code: 'LENS_BUSY',
    message: '1000 jobs of one View wait for its lenses',
  })
  scheduler.add(job('b'))
  assert.equal(scheduler.next([])?.view, 'b')
  assert.equal(scheduler.next([])?.view, 'a')
  scheduler.add(job('a'))
})
