/** What one request may use up, each bound to the last unit of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  maxHeldRows,
  maxObjectBytes,
  maxRowComparisons,
  maxValues,
  type QueryLimits,
} from '../../../src/graphql/budget/limits.ts'
import { createMemoryPool } from '../../../src/graphql/budget/memory-pool.ts'
import {
  createQueryBudget,
  createQueryScheduler,
  type QueryBudget,
} from '../../../src/graphql/budget/query-budget.ts'
import { operatorLimits } from '../support/graphql-room.ts'

function openBudget(limits: Partial<QueryLimits> = {}, signal?: AbortSignal) {
  const all = { ...operatorLimits, ...limits }
  const memory = createMemoryPool(all)
  const account = memory.openAccount()
  const scheduler = createQueryScheduler()
  return { budget: createQueryBudget(all, { scheduler, account, signal }), memory, scheduler }
}

const code = (name: string) => ({ extensions: { code: `GRAPHQL_${name}` } })

/** Each counter, what it may count to, and the refusal of one more. */
const counters: readonly (readonly [
  Partial<QueryLimits>,
  (budget: QueryBudget, count: number) => void,
  most: number,
  refusal: string,
])[] = [
  [{ maxConditions: 5 }, (budget, count) => budget.addConditions(count), 5, 'SYNTAX_LIMIT'],
  [{}, (budget, count) => budget.addValues(count), maxValues, 'SYNTAX_LIMIT'],
  [{ maxCost: 5 }, (budget, count) => budget.countDocuments(count), 5, 'COST_LIMIT'],
  [{}, (budget, count) => budget.countDocuments(count), maxRowComparisons, 'COST_LIMIT'],
  [{}, (budget, count) => budget.countComparisons(count), maxRowComparisons, 'COST_LIMIT'],
  [{ maxRows: 5 }, (budget, count) => budget.addRows(count), 5, 'ROW_LIMIT'],
  [{ maxResultBytes: 5 }, (budget, count) => budget.addBytes(count), 5, 'SIZE_LIMIT'],
]

test('what is counted adds up to its bound, and one more is refused', () => {
  for (const [limits, count, most, refusal] of counters) {
    const { budget } = openBudget(limits)
    count(budget, most - 1)
    count(budget, 1)
    assert.throws(() => count(budget, 1), code(refusal), `${count}`)
  }
})

test('what is held or written at once is refused beyond its bound', () => {
  const { budget } = openBudget({ maxRows: 5, maxResultBytes: maxObjectBytes + 2 })
  budget.checkHeld(maxHeldRows)
  assert.throws(() => budget.checkHeld(maxHeldRows + 1), code('ROW_LIMIT'))
  budget.checkSorted(11)
  assert.throws(() => budget.checkSorted(12), code('ROW_LIMIT'))
  assert.throws(() => budget.checkSorted(12), /beyond number 10 of a sorted list/)
  budget.addBytes(2)
  budget.checkObject(maxObjectBytes)
  assert.throws(() => budget.checkObject(maxObjectBytes + 1), /One object of the answer/)
  budget.addBytes(1)
  assert.throws(() => budget.checkObject(maxObjectBytes), /The answer is larger/)
})

test('a document counts again for every eight comparisons, and all of them in its row', () => {
  const costOf = (comparisons: number): number => {
    const { budget } = openBudget()
    budget.countDocuments(3, comparisons)
    return budget.usage().cost
  }
  assert.deepEqual([0, 1, 8, 9, 16, 17].map(costOf), [3, 3, 3, 6, 6, 9])
  const { budget } = openBudget()
  budget.countDocuments(10, maxRowComparisons / 10)
  assert.throws(() => budget.countComparisons(1), code('COST_LIMIT'))
})

test('comparisons are those of one row, which ends where others may run', async () => {
  for (const next of ['shouldYield', 'yieldIfDue'] as const) {
    const { budget } = openBudget()
    budget.countComparisons(maxRowComparisons)
    await budget[next]()
    budget.countComparisons(maxRowComparisons)
    assert.throws(() => budget.countComparisons(1), code('COST_LIMIT'))
  }
})

test('memory is held until it is given back, and that of an answer until it was sent', () => {
  for (const isAnswered of [true, false]) {
    const { budget, memory } = openBudget()
    const [first, second] = [budget.openReservation(), budget.openReservation()]
    first.add(100)
    first.add(-30)
    second.add(7)
    budget.addBytes(1_000)
    assert.equal(memory.heldBytes(), 1_077)
    first.release()
    assert.equal(memory.heldBytes(), 1_007)
    first.add(50)
    budget.end(isAnswered)
    assert.equal(memory.heldBytes(), isAnswered ? 1_000 : 0)
  }
})

test('memory is given back also while there is no more, which a reservation is refused', () => {
  const { budget, memory } = openBudget({ maxHeldBytes: 1_000 })
  const reservation = budget.openReservation()
  assert.throws(() => reservation.add(501), code('SIZE_LIMIT'))
  reservation.add(500)
  memory.openAccount().reserve(250)
  reservation.add(0)
  reservation.add(-10)
  assert.equal(memory.heldBytes(), 740)
})

test('a request says what it used up, and for how many rows there is room', () => {
  const { budget } = openBudget({ maxRows: 9 })
  budget.countDocuments(3, 9)
  budget.addRows(2)
  budget.addBytes(5)
  const { elapsedMs, ...used } = budget.usage()
  assert.deepEqual(used, { cost: 6, rows: 2, bytes: 5 })
  assert.ok(elapsedMs >= 0 && budget.leftMs() <= operatorLimits.maxMs)
  assert.equal(budget.maxRows, 9)
})

test('a request ends where its time is over or its client went away, also while it waits', async () => {
  const late = openBudget({ maxMs: 0 }).budget
  assert.equal(late.leftMs(), 0)
  await assert.rejects(late.yieldThread(), code('TIME_LIMIT'))
  const controller = new AbortController()
  const { budget, scheduler } = openBudget({}, controller.signal)
  assert.equal(budget.signal, controller.signal)
  await budget.yieldThread()
  const waiting = budget.yieldThread()
  controller.abort()
  await assert.rejects(waiting, code('ABORTED'))
  const again = budget.yieldThread()
  assert.equal(scheduler.isBusy(), false, 'nor does it wait once more')
  await assert.rejects(again, code('ABORTED'))
})
