import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type OrderKey, planWithin, rank, rankedOrder } from '../../../src/graphql/filter/order.ts'
import { type Row, rowAt } from '../../../src/graphql/rows/row.ts'
import { documentsRead, openGraphqlRoom } from '../support/graphql-room.ts'

const place = (log: { blockNumber: number; logIndex: number }) => [log.blockNumber, log.logIndex]

interface LinkedLog {
  readonly blockNumber: number
  readonly logIndex: number
  readonly transaction: { readonly hash: string }
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

test('without an order, rows come in chain order, and pages do not overlap', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const { Log } = await query('{ Log { blockNumber logIndex } }')
  const expected = [1, 2, 3, 4, 5, 6].flatMap((block) => [0, 1, 2].map((index) => [block, index]))
  assert.deepEqual(Log.map(place), expected)
  const pages: unknown[] = []
  for (let offset = 0; offset < 20; offset += 4) {
    const page = await query(`{ Log(limit: 4, offset: ${offset}) { blockNumber logIndex } }`)
    pages.push(...page.Log.map(place))
  }
  assert.deepEqual(pages, expected)
})

test('ties of a descending order descend, of an ascending order ascend', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = (order: string) => `{ Log(order: ${order}, limit: 4) { blockNumber logIndex } }`
  const first = async (order: string) => (await query(text(order))).Log.map(place)
  assert.deepEqual(await first('{blockNumber: DESC}'), [
    [6, 2],
    [6, 1],
    [6, 0],
    [5, 2],
  ])
  assert.deepEqual(await first('{blockNumber: ASC}'), [
    [1, 0],
    [1, 1],
    [1, 2],
    [2, 0],
  ])
  assert.deepEqual(await first('[{blockNumber: DESC}, {logIndex: ASC}]'), [
    [6, 0],
    [6, 1],
    [6, 2],
    [5, 0],
  ])
  assert.deepEqual(await first('{block: {number: DESC}}'), [
    [6, 2],
    [6, 1],
    [6, 0],
    [5, 2],
  ])
  assert.deepEqual(await first('{removed: DESC}'), [
    [6, 2],
    [6, 1],
    [6, 0],
    [5, 2],
  ])
  assert.deepEqual(await first('{logIndex: DESC}'), [
    [6, 2],
    [5, 2],
    [4, 2],
    [3, 2],
  ])
})

test('several keys all decide the order', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const { Log } = await query(
    '{ Log(order: [{logIndex: DESC}, {blockNumber: ASC}], limit: 8) { blockNumber logIndex } }',
  )
  assert.deepEqual(Log.map(place), [
    [1, 2],
    [2, 2],
    [3, 2],
    [4, 2],
    [5, 2],
    [6, 2],
    [1, 1],
    [2, 1],
  ])
})

for (const [direction, sign] of [
  ['ASC', 1],
  ['DESC', -1],
] as const)
  test(`rows of a block are in the order of what they link to, ${direction}`, async (t) => {
    const { query } = await openGraphqlRoom(t)
    const order = `[{blockNumber: ASC}, {transaction: {hash: ${direction}}}]`
    const { Log } = await query(
      `{ Log(order: ${order}) { blockNumber logIndex transaction { hash } } }`,
    )
    const sorted = Log.toSorted(
      (a: LinkedLog, b: LinkedLog) =>
        a.blockNumber - b.blockNumber ||
        sign * compareTexts(a.transaction.hash, b.transaction.hash) ||
        sign * (a.logIndex - b.logIndex),
    )
    assert.deepEqual(Log, sorted)
    const hashes = new Set(Log.map(({ transaction }: LinkedLog) => transaction.hash))
    assert.ok(hashes.size > 6, 'a block has logs of several transactions')
  })

test('an order by what all rows of a block share reads no row behind the limit', async (t) => {
  const { query, registry } = await openGraphqlRoom(t)
  for (const key of [
    '{block: {hash: DESC}}',
    '{block: {gasUsed: DESC}}',
    '{transaction: {blockNumber: DESC}}',
    '{transaction: {block: {hash: DESC}}}',
    '{transaction: {_attestations: DESC}}',
  ]) {
    const before = await documentsRead(registry)
    const text = `{ Log(order: [{blockNumber: ASC}, ${key}], limit: 1) { blockNumber logIndex } }`
    assert.deepEqual((await query(text)).Log.map(place), [[1, 2]], key)
    assert.equal((await documentsRead(registry)) - before, 2, key)
  }
})

test('a key without a direction orders by nothing, and the last of repeated ones decides ties', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const first = async (order: string) =>
    (await query(`{ Log(order: ${order}, limit: 3) { blockNumber logIndex } }`)).Log.map(place)
  const start = [
    [1, 0],
    [1, 1],
    [1, 2],
  ]
  for (const order of ['{data: null}', '{_alias: null}', '[{address: null}, {removed: ASC}]'])
    assert.deepEqual(await first(order), start, order)
  assert.deepEqual(await first('[{removed: ASC}, {blockNumber: DESC}, {removed: ASC}]'), [
    [6, 0],
    [6, 1],
    [6, 2],
  ])
})

test('rows that link to rows in the order of the chain may still be in another order', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const order = '[{blockNumber: ASC}, {transaction: {transactionIndex: ASC}}, {logIndex: DESC}]'
  const { Log } = await query(`{ Log(order: ${order}) { blockNumber transactionIndex logIndex } }`)
  type Placed = { blockNumber: number; transactionIndex: number; logIndex: number }
  const sorted = Log.toSorted(
    (a: Placed, b: Placed) =>
      a.blockNumber - b.blockNumber ||
      a.transactionIndex - b.transactionIndex ||
      b.logIndex - a.logIndex,
  )
  assert.deepEqual(Log, sorted)
  assert.notDeepEqual(Log.map(place), Log.map(place).toSorted())
})

test('quantities are ordered as numbers and null is smallest', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = '{ Transaction(order: {maxFeePerGas: ASC}) { maxFeePerGas } }'
  const values = (await query(text)).Transaction.map((one: { maxFeePerGas: string | null }) =>
    one.maxFeePerGas === null ? -1n : BigInt(one.maxFeePerGas),
  )
  assert.deepEqual(
    values,
    [...values].sort((a: bigint, b: bigint) => (a < b ? -1 : Number(a > b))),
  )
  assert.equal(values[0], -1n)
})

test('an order may use an alias, also of an aggregate', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = `{ Transaction(order: [{_alias: {n: DESC}}, {blockNumber: ASC}], limit: 3) {
    blockNumber n: COUNT(logs: {}) } }`
  assert.deepEqual((await query(text)).Transaction, [
    { blockNumber: 1, n: 2 },
    { blockNumber: 2, n: 2 },
    { blockNumber: 3, n: 2 },
  ])
})

test('rows of one block are ordered by aliases of values and of aggregates', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const ordered = async (collection: string, fields: string) =>
    (
      await query(
        `{ ${collection}(order: [{blockNumber: ASC}, {_alias: {it: DESC}}]) { blockNumber ${fields} } }`,
      )
    )[collection]
  const logs = await ordered('Log', 'it: data')
  assert.deepEqual(
    logs,
    (await query('{ Log(order: [{blockNumber: ASC}, {data: DESC}]) { blockNumber it: data } }'))
      .Log,
  )
  const transactions = await ordered('Transaction', 'it: COUNT(accessList: {})')
  type Counted = { blockNumber: number; it: number }
  assert.deepEqual(
    transactions,
    transactions.toSorted((a: Counted, b: Counted) => a.blockNumber - b.blockNumber || b.it - a.it),
  )
})

test('an order by an alias follows the chain where the order by its field does', async (t) => {
  const { query, registry } = await openGraphqlRoom(t)
  const before = await documentsRead(registry)
  const text = '{ Log(order: {_alias: {height: DESC}}, limit: 1) { height: blockNumber } }'
  assert.deepEqual((await query(text)).Log, [{ height: 6 }])
  assert.equal((await documentsRead(registry)) - before, 2)
})

test('an invalid order is refused', async (t) => {
  const { errors } = await openGraphqlRoom(t)
  assert.deepEqual(await errors('{ Log(order: {blockNumber: DESC, logIndex: ASC}) { data } }'), [
    'each order argument can only define one field. Write a list, as in order: [{blockNumber: DESC}, {logIndex: ASC}].',
  ])
  assert.deepEqual(await errors('{ Log(order: {_alias: {x: DESC}}) { data } }'), [
    'field or alias not found. Name: x. Give a field of the same selection this alias.',
  ])
  assert.deepEqual(await errors('{ Log(order: {_alias: {d: DOWN}}) { d: data } }'), [
    'invalid order direction. Write ASC or DESC, as in {_alias: {total: DESC}}.',
  ])
  const several = '{ Log(order: {_alias: {a: ASC, b: ASC}}) { a: data b: address } }'
  assert.deepEqual(await errors(several), [
    'each order argument can only define one field. Write a list, as in order: [{blockNumber: DESC}, {logIndex: ASC}].',
  ])
  for (const field of ['topics', 'transaction { hash }'])
    assert.deepEqual(await errors(`{ Log(order: {_alias: {x: DESC}}) { x: ${field} } }`), [
      'field or alias not found. Name: x. Give a field of the same selection this alias.',
    ])
  const [message = ''] = await errors('{ Log(order: {blockNumber: DOWN}) { data } }')
  assert.match(message, /Value "DOWN" does not exist in "Ordering" enum/)
})

test('limit 0 and null mean no limit, and negative ones are refused', async (t) => {
  const { query, errors } = await openGraphqlRoom(t)
  for (const limit of ['0', 'null', '100']) {
    assert.equal((await query(`{ Log(limit: ${limit}) { data } }`)).Log.length, 18, limit)
  }
  assert.deepEqual((await query('{ Log(offset: 18) { data } }')).Log, [])
  assert.deepEqual(await errors('{ Log(limit: -1) { data } }'), [
    'The limit -1 is negative. Write 0 or more; a limit of 0 means no limit.',
  ])
})

/** A key beside its values in six rows of one block, as its course promises them. */
const keyOfRows = fc
  .record({
    course: fc.constantFrom(undefined, 'place', 'exact-place', 'height'),
    descending: fc.boolean(),
    values: fc.array(fc.nat(2), { minLength: 6, maxLength: 6 }),
  })
  .map(({ course, descending, values }) => {
    const promised = {
      place: values.toSorted(),
      'exact-place': [0, 1, 2, 3, 4, 5],
      height: values.map(() => values[0] ?? 0),
    }
    const found = course === undefined ? values : promised[course]
    const read = ({ position }: Row) => found[position] ?? null
    return { path: 'x', kind: 'int', descending, ofBlock: false, read, course } as OrderKey
  })

test('an order is read off the places of rows only where sorting them says the same', () => {
  const rows = [0, 1, 2, 3, 4, 5].map((position) => rowAt({ height: 1 } as never, position))
  const placesIn = (keys: readonly OrderKey[]): number[] =>
    rows
      .map((row) => rank(row, keys))
      .sort(rankedOrder(keys))
      .map(({ row }) => row.position)
  const followed = { ascending: [0, 1, 2, 3, 4, 5], descending: [5, 4, 3, 2, 1, 0] }
  fc.assert(
    fc.property(fc.array(keyOfRows, { maxLength: 4 }), (keys) => {
      const within = planWithin(keys)
      if (within !== 'sort') assert.deepEqual(placesIn(keys), followed[within])
    }),
    { numRuns: 1_000 },
  )
  const key = (course: OrderKey['course'] | undefined, descending: boolean) =>
    ({ path: 'x', kind: 'int', descending, ofBlock: false, read: () => 0, course }) as OrderKey
  assert.equal(planWithin([]), 'ascending')
  assert.equal(planWithin([key('height', true)]), 'descending')
  assert.equal(planWithin([key('place', true), key('place', true)]), 'descending')
  assert.equal(planWithin([key('place', true), key('exact-place', false)]), 'sort')
  assert.equal(planWithin([key('exact-place', false), key(undefined, true)]), 'ascending')
})
