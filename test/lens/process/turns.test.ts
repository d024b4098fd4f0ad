import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTurns, type Priority, type Turns } from '../../../src/lens/process/turns.ts'

interface Job {
  readonly view: string
  readonly priority: Priority
}

const job = (view: string, priority: Priority = 'live'): Job => ({ view, priority })

/** Adds jobs and returns the Views of all in the order of their turns, each taking so many ms. */
function order(turns: Turns<Job>, jobs: readonly Job[], costs: Record<string, number> = {}) {
  for (const each of jobs) turns.add(each)
  const views: string[] = []
  for (let next = turns.next([]); next !== undefined; next = turns.next([])) {
    turns.charge(next.view, costs[next.view] ?? 1)
    views.push(next.view)
  }
  return views
}

test('live blocks come before queries, and these before back-fill', () => {
  const jobs = [job('a', 'backfill'), job('b', 'query'), job('c', 'live'), job('d', 'query')]
  assert.deepEqual(order(createTurns(1), jobs), ['c', 'b', 'd', 'a'])
})

test('the View that took the least processor time is next, however much it has waiting', () => {
  const jobs = [...Array.from({ length: 5 }, () => job('slow')), job('quick'), job('quick')]
  assert.deepEqual(order(createTurns(1), jobs, { slow: 2_000, quick: 2 }).slice(0, 4), [
    'slow',
    'quick',
    'quick',
    'slow',
  ])
})

test('a new View comes before one that has used any time, however little', () => {
  const turns = createTurns<Job>(1)
  turns.charge('old', 0.5)
  assert.deepEqual(order(turns, [job('old'), job('new')]), ['new', 'old'])
})

test('a View that comes back has no credit from the time in which it had nothing to do', () => {
  const turns = createTurns<Job>(1)
  order(turns, [job('rare')])
  order(
    turns,
    Array.from({ length: 100 }, () => job('busy')),
  )
  const jobs = [job('new'), job('busy'), job('new'), job('busy'), job('new'), job('busy')]
  assert.deepEqual(order(turns, jobs), ['new', 'new', 'busy', 'new', 'busy', 'busy'])
  const back = [job('rare'), job('rare'), job('rare'), job('busy'), job('busy'), job('busy')]
  assert.deepEqual(order(turns, back), ['rare', 'rare', 'busy', 'rare', 'busy', 'busy'])
})

describe('of several threads one stays free', () => {
  test('of what can wait', () => {
    const turns = createTurns<Job>(2)
    const running = [job('a', 'backfill')]
    for (const each of [job('b', 'backfill'), job('c', 'query')]) turns.add(each)
    assert.equal(turns.next(running), undefined)
    turns.add(job('d'))
    assert.equal(turns.next(running)?.view, 'd')
    assert.equal(turns.next([job('e')])?.view, 'c')
  })

  test('of the jobs of any one View', () => {
    const turns = createTurns<Job>(3)
    const running = [job('a'), job('a')]
    turns.add(job('a'))
    assert.equal(turns.next(running), undefined)
    turns.add(job('b'))
    assert.equal(turns.next(running)?.view, 'b')
    assert.equal(turns.next([job('a')])?.view, 'a')
  })

  test('but the only one does everything', () => {
    const turns = createTurns<Job>(1)
    turns.add(job('a', 'backfill'))
    assert.equal(turns.next([])?.view, 'a')
  })
})

test('the time of the thousand Views that worked last is remembered, and no longer one', () => {
  for (const [others, expected] of [
    [999, ['new', 'old']],
    [1_000, ['old', 'new']],
  ] as const) {
    const turns = createTurns<Job>(1)
    turns.charge('0', 1)
    turns.charge('old', 100)
    for (let view = 0; view < others; view += 1) turns.charge(`${view}`, 1)
    assert.deepEqual(order(turns, [job('old'), job('new')]), expected)
  }
})

test('a View that is forgotten counts as having used what the one chosen last had', () => {
  const turns = createTurns<Job>(1)
  turns.charge('busy', 50)
  order(turns, [job('busy')])
  turns.charge('forgotten', 1)
  assert.deepEqual(order(turns, [job('forgotten'), job('new')]), ['new', 'forgotten'])
})

test('a View that waited long does not lower where others begin', () => {
  const turns = createTurns<Job>(1)
  turns.add(job('patient', 'backfill'))
  for (const costs of [100, 1]) {
    turns.add(job('busy'))
    assert.equal(turns.next([])?.view, 'busy')
    turns.charge('busy', costs)
  }
  assert.equal(turns.next([])?.view, 'patient')
  const jobs = [job('new'), job('new'), job('busy')]
  assert.deepEqual(order(turns, jobs, { new: 2 }), ['new', 'busy', 'new'])
})

test('a job that waits can be taken out, once', () => {
  const turns = createTurns<Job>(1)
  const [first, second] = [job('a'), job('a')]
  turns.add(first)
  turns.add(second)
  assert.equal(turns.remove(first), true)
  assert.equal(turns.remove(first), false)
  assert.equal(turns.size, 1)
  assert.deepEqual(turns.clear(), [second])
  assert.equal(turns.size, 0)
  assert.equal(turns.next([]), undefined)
})

test('a thousand jobs of a View wait, and one more is refused', () => {
  const turns = createTurns<Job>(1)
  for (let count = 0; count < 1_000; count += 1) turns.add(job('a', 'query'))
  assert.throws(() => turns.add(job('a')), {
    code: 'LENS_BUSY',
    message: '1000 jobs of one View wait for its lenses',
  })
  turns.add(job('b'))
  assert.equal(turns.next([])?.view, 'b')
  assert.equal(turns.next([])?.view, 'a')
  turns.add(job('a'))
})
