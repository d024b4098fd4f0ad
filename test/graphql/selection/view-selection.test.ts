import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { Kind, parse, print } from 'graphql'
import { defaultQueryLimits, maxSameFields } from '../../../src/graphql/budget/limits.ts'
import {
  createViewSelector,
  type SelectedDocument,
  type SelectionOptions,
} from '../../../src/graphql/selection/view-selection.ts'
import { parseViewQuery } from '../../../src/views/view-query.ts'
import { createChain, shapes } from '../../support/chain/block-factory.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { arbitraryQuery } from '../support/arbitrary-query.ts'
import { type GraphqlRoom, openGraphqlRoom } from '../support/graphql-room.ts'
import { naiveData } from '../support/naive-documents.ts'
import { repeat } from '../support/repeat.ts'

const selector = createViewSelector(testNetwork)

function compile(text: string) {
  const query = parseViewQuery(text, testNetwork)
  assert.ok('selection' in query)
  return selector.compile(query)
}

/** The documents that a query selects from one height to another. */
async function select(
  room: GraphqlRoom,
  text: string,
  [from, to]: readonly [number, number],
  options?: SelectionOptions,
): Promise<SelectedDocument[]> {
  const selection = compile(text)
  const snapshot = room.store.reader.snapshot()
  try {
    const documents: SelectedDocument[] = []
    for await (const batch of selection.documents(snapshot, { from, to }, options))
      documents.push(...batch)
    return documents
  } finally {
    snapshot.release()
  }
}

const texts = (documents: readonly SelectedDocument[]) =>
  documents.map(({ json }) => Buffer.from(json).toString())

const firstNumber = ({ chain }: GraphqlRoom): number => chain[0]?.number ?? -1

async function openRoom(t: TestContext): Promise<GraphqlRoom> {
  return await openGraphqlRoom(t, { chain: createChain({ count: 4, shape: shapes.sparse }) })
}

test('documents are compact JSON in the order of the query, absent values null', async (t) => {
  const room = await openGraphqlRoom(t)
  const number = firstNumber(room)
  const found = texts(
    await select(
      room,
      'Transaction(filter: {transactionIndex: 0}) { to: hash n: blockNumber block { number } logs(limit: 1, order: {logIndex: DESC}) { topics } maxFeePerGas }',
      [number, number],
    ),
  )
  const { Transaction } = await room.query(
    `{ Transaction(filter: {transactionIndex: 0, blockNumber: ${number}}) { to: hash n: blockNumber block { number } logs(limit: 1, order: {logIndex: DESC}) { topics } maxFeePerGas } }`,
  )
  assert.deepEqual(
    found,
    Transaction.map((row: unknown) => JSON.stringify(row)),
  )
  assert.equal(found.length, 1)
})

test('what a View reads of a block is what the engine answers for it, whatever the query', async (t) => {
  const room = await openRoom(t)
  await fc.assert(
    fc.asyncProperty(
      arbitraryQuery(naiveData(room.chain, () => ['generator'])),
      fc.constantFrom(...room.chain),
      async (query, { number }) => {
        const written = listOf(query)
        fc.pre(written !== null)
        const heights = { from: number, to: number }
        const engine = await room.graphql.executeAt({ query: `{ rows: ${written} }` }, heights)
        const mine = await select(room, written, [number, number]).then(texts, String)
        if (engine.data === null) assert.equal(typeof mine, 'string')
        else assert.equal(`{"rows":[${String(mine)}]}`, engine.data.join(''))
      },
    ),
    { numRuns: 150 },
  )
})

/** The first list of a query, as a View would write it; null where there is none. */
function listOf(query: string): string | null {
  const [operation] = parse(query).definitions
  assert.ok(operation?.kind === Kind.OPERATION_DEFINITION)
  for (const field of operation.selectionSet.selections) {
    assert.ok(field.kind === Kind.FIELD)
    const { alias: _, ...plain } = field
    if (field.selectionSet !== undefined) return print(plain)
  }
  return null
}

test('over several blocks, filters, orders and groups of the query apply to all of them', async (t) => {
  const room = await openRoom(t)
  const [first, second] = room.chain.map(({ number }) => number) as [number, number]
  const newest = await select(room, 'Log(order: {blockNumber: DESC}, limit: 3) { logIndex }', [
    first,
    second,
  ])
  assert.deepEqual(
    newest.map(({ height }) => height),
    [second, second, second],
  )
  const groups = await select(
    room,
    'Log(groupBy: [blockNumber], order: {blockNumber: ASC}) { blockNumber }',
    [first, second],
  )
  assert.deepEqual(groups, [
    { height: null, json: Buffer.from(`{"blockNumber":${first}}`) },
    { height: null, json: Buffer.from(`{"blockNumber":${second}}`) },
  ])
})

test('a height without a block has no documents', async (t) => {
  const room = await openGraphqlRoom(t)
  assert.deepEqual(await select(room, 'Block { number }', [9_999, 9_999]), [])
})

test('a selection beyond its limits is refused with a code', async (t) => {
  const room = await openRoom(t)
  const number = firstNumber(room)
  const limits = { ...defaultQueryLimits, maxRows: 2 }
  await assert.rejects(select(room, 'Log { data }', [number, number], { limits }), {
    code: 'VIEWS_SELECTION_TOO_LARGE',
  })
})

test('documents that were handed over are no longer held', async (t) => {
  const shape = { transactions: 20, logs: 60, entries: 0, calldataBytes: 4 }
  const room = await openGraphqlRoom(t, { chain: createChain({ count: 12, shape }) })
  const text = `Log { ${repeat(10, (index) => `t${index}: topics`)} }`
  const found = texts(await select(room, text, [1, 12]))
  assert.equal(found.length, 12 * 60)
  const bytes = found.join('').length
  const limits = { ...defaultQueryLimits, maxHeldBytes: 2 * 0.9 * bytes }
  assert.equal((await select(room, text, [1, 12], { limits })).length, found.length)
})

test('a selection that is stopped ends with the reason of its signal', async (t) => {
  const room = await openRoom(t)
  const number = firstNumber(room)
  const signal = AbortSignal.abort(new Error('no longer wanted'))
  const selection = compile('Log { data }')
  const snapshot = room.store.reader.snapshot()
  t.after(() => snapshot.release())
  const documents = selection.documents(snapshot, { from: number, to: number }, { signal })
  await assert.rejects(documents.next(), /no longer wanted/)
})

test('a selection that is stopped while it runs ends with the reason of its signal', async (t) => {
  const room = await openRoom(t)
  const number = firstNumber(room)
  const controller = new AbortController()
  const selection = compile('Log { data }')
  const snapshot = room.store.reader.snapshot()
  t.after(() => snapshot.release())
  const heights = { from: number, to: number }
  const found = selection.documents(snapshot, heights, { signal: controller.signal }).next()
  controller.abort(new Error('no longer wanted'))
  keepThread()
  await assert.rejects(found, /no longer wanted/)
})

/** For longer than a selection may run before it looks at its signal. */
function keepThread(): void {
  for (const start = performance.now(); performance.now() - start < 10; );
}

/** Under their first names. */
const logFields =
  '_docID, address, data, transactionHash, blockHash, removed, topics, blockNumber, transactionIndex, logIndex, block_id, transaction_id'

/** What stands before that which a View with stored rows may not ask for. */
const computed = 'and with @materialized\\(if: false\\)'

describe('a query that does not fit the schema is refused with place and what is accepted', () => {
  const cases: readonly [string, string, RegExp, RegExp][] = [
    [
      'an unknown field',
      'Log {\n data\n inputData }',
      /^the query, line 3, column 2: Cannot query field "inputData"/,
      new RegExp(
        `^Accepted are ${logFields}, block, transaction, ${computed} _attestations, _version, _proof\\.$`,
      ),
    ],
    [
      'an unknown field to group by',
      'Log(groupBy: [sender]) { data }',
      /column 15: Value "sender" does not exist/,
      new RegExp(`^Accepted are ${logFields}, _attestations, block, transaction\\.$`),
    ],
    [
      'an unknown field below',
      'Log { transaction { sender } }',
      /column 21: /,
      /Accepted are _docID, hash/,
    ],
    [
      'a relation without fields',
      'Log { block }',
      /column 7: /,
      /Select fields of it: _docID, hash/,
    ],
    [
      'fields of a value',
      'Log { data { x } }',
      /line 1, column 12: /,
      /^It is a value: leave the braces out\.$/,
    ],
    [
      'an argument where none is',
      'Log { logIndex(x: 1) }',
      /column 16: Unknown argument "x"/,
      /^Compare it with docs\/graphql\.md\.$/,
    ],
    [
      'an unknown argument',
      'Log(where: 1) { data }',
      /column 5: /,
      new RegExp(
        `^Accepted are docID, filter, order, showDeleted, ${computed} cid, groupBy, limit, offset\\.$`,
      ),
    ],
    [
      'an unknown field in a filter',
      'Log(filter: {sender: {_eq: "0x1"}}) { data }',
      /column 14: /,
      /Accepted are _and, _or, _not.*address/,
    ],
    [
      'an unknown operator',
      'Log(filter: {address: {_is: "0x1"}}) { data }',
      /column 24: /,
      /Accepted are _eq, _neq/,
    ],
    [
      'a wrong value',
      'Log(filter: {logIndex: {_eq: "x"}}) { data }',
      /column 30: /,
      /Accepted is Int/,
    ],
    [
      'a wrong direction',
      'Log(order: {logIndex: UP}) { data }',
      /column 23: /,
      /Accepted are ASC, DESC/,
    ],
    ['hex that is none', 'Log(filter: {address: "me"}) { data }', /column 1: .*hex/, /./],
    [
      'hex that is none below',
      'Block { transactions(filter: {to: "me"}) { hash } }',
      /column 9: .*hex/,
      /./,
    ],
    [
      'two keys in one order',
      'Log(order: {logIndex: ASC, address: ASC}) { data }',
      /one field/,
      /./,
    ],
    ['hex that is none in a relation', 'Log { block(filter: {hash: "me"}) { hash } }', /hex/, /./],
    [
      'hex that is none in a count',
      'Block { COUNT(transactions: {filter: {to: "me"}}) }',
      /hex/,
      /./,
    ],
    [
      'hex that is none in what a relation links to',
      'Log { transaction { block(filter: {hash: "me"}) { hash } } }',
      /hex/,
      /./,
    ],
    [
      'hex that is none before groups are made',
      'Log(groupBy: [address], filter: {address: "me"}) { address }',
      /hex/,
      /./,
    ],
    [
      'hex that is none among the members of a group',
      'Log(groupBy: [address]) { GROUP(filter: {address: "me"}) { data } }',
      /hex/,
      /./,
    ],
    [
      'hex that is none in a count of members',
      'Log(groupBy: [address]) { COUNT(GROUP: {filter: {address: "me"}}) }',
      /hex/,
      /./,
    ],
    ['a negative limit', 'Log(limit: -1) { data }', /negative/, /./],
    ['groups without groupBy', 'Log { _group { data } }', /groupBy/, /./],
    [
      'too many levels',
      `Log { ${'transaction { logs { '.repeat(8)} data ${'} }'.repeat(8)} }`,
      /levels/,
      /./,
    ],
    [
      'one field many times',
      `Log { ${'data '.repeat(maxSameFields + 1)} }`,
      /selects data more than 20 times in one place/,
      /./,
    ],
    ['two meanings of one alias', 'Log { a: data a: address }', /conflict/, /./],
  ]
  for (const [what, text, message, remedy] of cases) {
    test(`one with ${what}`, () => {
      assert.throws(
        () => compile(text),
        (error: { code: string; message: string; remedy: string }) => {
          assert.equal(error.code, 'VIEWS_QUERY_INVALID')
          assert.match(error.message, message)
          assert.match(error.remedy, remedy)
          return true
        },
      )
    })
  }
})
