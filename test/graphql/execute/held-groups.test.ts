import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attribute } from '../../../src/graphql/catalog/entity.ts'
import { rootGroups } from '../../../src/graphql/execute/group.ts'
import type { Run } from '../../../src/graphql/execute/run.ts'
import { everyRow } from '../../../src/graphql/filter/list-request.ts'
import type { ArgumentSource, GroupField, GroupListPlan } from '../../../src/graphql/plan/plan.ts'
import { allHeights } from '../../../src/primitives/height-ranges.ts'
import { createChain } from '../../support/chain/block-factory.ts'
import { createTestBudget, openGraphqlRoom } from '../support/graphql-room.ts'
import { fields, numberedScan } from '../support/numbered-rows.ts'

const noArguments = {
  field: { args: [] },
  node: {},
  isConstant: false,
} as unknown as ArgumentSource

const count: GroupField = {
  ...{ type: 'aggregate', key: 'n', fold: 'COUNT', source: noArguments },
  targets: [{ type: 'group', argument: 'GROUP', members: null }],
}

/** Groups 7 rows, by a number that three neighbours share where nothing else is said; what that held, row by row, and reserved. */
async function holdingsOf(
  also: (list: GroupListPlan) => readonly GroupField[],
  key: Attribute = fields.third,
) {
  const held: number[] = []
  let reserved = 0
  const budget = { ...createTestBudget(), checkHeld: (things: number) => void held.push(things) }
  const { scan } = numberedScan(new Map([[1, 7]]), { budget })
  const { entity, session } = scan
  const listOf = (fields_: readonly GroupField[]): GroupListPlan => ({
    ...{ type: 'groups', entity, source: noArguments },
    selection: { entity, keys: [key], fields: fields_ },
  })
  const run: Run = { session, catalog: new Map(), variables: {}, window: allHeights, known: [] }
  const groups = await rootGroups(run, listOf(also(listOf([]))), everyRow, {
    add: (bytes) => {
      reserved += bytes
    },
    release: () => assert.fail('the caller releases it'),
  })
  const members = groups.map(({ rows }) => rows.map(({ position }) => position))
  return { held, reserved, members }
}

const empty = [[], [], []]

test('grouping holds its groups, and an aggregate of each', async () => {
  const groups = await holdingsOf(() => [])
  assert.deepEqual(groups.held, [1, 1, 1, 2, 2, 2, 3])
  assert.deepEqual(groups.members, empty)
  const { held, reserved, members } = await holdingsOf(() => [count, count])
  assert.deepEqual(held, [3, 3, 3, 6, 6, 6, 9])
  assert.deepEqual(members, empty)
  assert.equal(reserved - groups.reserved, 3 * 2 * 64, 'bytes of aggregates')
})

test('grouping holds the members of groups where they are asked for', async () => {
  const groups = await holdingsOf(() => [])
  const { held, reserved, members } = await holdingsOf((list) => [
    { type: 'members', key: 'GROUP', list },
  ])
  assert.deepEqual(held, [2, 3, 4, 6, 7, 8, 10])
  assert.deepEqual(members, [[0, 1, 2], [3, 4, 5], [6]])
  assert.equal(reserved - groups.reserved, 7 * 64, 'bytes of members')
})

test('grouping holds the text of the key of each group', async () => {
  const textOf = (length: number): Attribute => ({
    ...{ ...fields.third, kind: 'string' },
    read: (row) => String(fields.third.read(row)).repeat(length),
  })
  const short = await holdingsOf(() => [], textOf(1))
  const long = await holdingsOf(() => [], textOf(101))
  assert.equal(long.reserved - short.reserved, 3 * 2 * 100)
})

const manyGroups: Readonly<Record<string, string>> = {
  'of one list': `{ a: Log(filter: {blockNumber: 1}, groupBy: [data]) { data }
    b: Log(filter: {blockNumber: 1}, groupBy: [data]) { data } }`,
  'under rows': '{ Transaction { logs(groupBy: [data]) { data } } }',
  'under groups': '{ Log(groupBy: [transactionHash]) { GROUP(groupBy: [data]) { data } } }',
  'that an aggregate is over': `{ Log(groupBy: [transactionHash]) {
    SUM(GROUP: {field: COUNT}) GROUP(groupBy: [data], limit: 1) { COUNT(GROUP: {}) } } }`,
}

for (const [which, query] of Object.entries(manyGroups))
  test(`groups ${which} are held until the next ones are made`, async (t) => {
    const shape = { transactions: 300, logs: 2_000, entries: 0, calldataBytes: 4 }
    const { graphql } = await openGraphqlRoom(t, {
      chain: createChain({ count: 2, shape }),
      limits: { maxHeldBytes: 5 * 1024 * 1024 },
    })
    assert.equal((await graphql.execute({ query })).errors, undefined)
    assert.equal(graphql.memory.heldBytes(), 0)
  })
