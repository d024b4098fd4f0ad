import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createQueryScheduler } from '../../../src/graphql/budget/query-budget.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import { openGraphqlRoom } from '../support/graphql-room.ts'
import { list } from '../support/repeat.ts'

test('waiting requests resume one after the other, one in each turn of the event loop', async () => {
  const scheduler = createQueryScheduler()
  const resumed: { readonly name: string; readonly turn: number }[] = []
  let turn = 0
  let isOver = false
  const count = (): void => {
    turn++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const budget = async (name: string, slices: number): Promise<void> => {
    for (let slice = 0; slice < slices; slice++) {
      await scheduler.nextTurn()
      resumed.push({ name, turn })
    }
  }
  assert.equal(scheduler.isBusy(), false)
  const all = Promise.all([budget('a', 2), budget('b', 2), budget('c', 1)])
  assert.equal(scheduler.isBusy(), true)
  await all
  isOver = true
  assert.deepEqual(
    resumed.map(({ name }) => name),
    ['a', 'b', 'c', 'a', 'b'],
  )
  assert.equal(new Set(resumed.map((one) => one.turn)).size, resumed.length)
})

const fewLargeRows = createChain({
  count: 1,
  shape: { transactions: 20, logs: 0, entries: 0, calldataBytes: 60_000 },
})
const patterns = {
  f: { _or: list(60, (index) => ({ input: { _like: `%0z${index}%` } })) },
}

/** What takes long for each of a few rows, by what it does. */
const longWork: Readonly<Record<string, string>> = {
  'compares rows': 'Transaction(filter: $f) { hash }',
  'counts all rows': 'COUNT(Transaction: {filter: $f})',
  'counts while it groups': 'Transaction(groupBy: [hash]) { n: COUNT(GROUP: {filter: $f}) }',
  'counts what it has grouped':
    'Transaction(groupBy: [type]) { n: COUNT(GROUP: {filter: $f, offset: 1}) }',
}

for (const [name, field] of Object.entries(longWork)) {
  test(`other requests run while a query ${name} by many patterns`, async (t) => {
    const { graphql } = await openGraphqlRoom(t, { chain: fewLargeRows })
    const query = `query ($f: TransactionFilterArg) { ${field} }`
    let scheduler = 0
    let isDone = false
    const running = graphql.execute({ query, variables: patterns }).finally(() => {
      isDone = true
    })
    while (!isDone) {
      await nextTurn()
      scheduler++
    }
    assert.equal((await running).errors, undefined)
    assert.ok(scheduler > 10, `${scheduler} turns`)
  })
}
