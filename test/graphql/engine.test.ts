import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Registry } from 'prom-client'
import { ServiceError } from '../../src/errors.ts'
import { hostCollections } from '../../src/graphql/catalog/catalog.ts'
import { openGraphql } from '../../src/graphql/graphql.ts'
import { captureLog } from '../support/captured-log.ts'
import { createChain } from '../support/chain/block-factory.ts'
import { testNetwork } from '../support/chain/sealed-blocks.ts'
import { metricValue } from '../support/metric-value.ts'
import { openGraphqlRoom, operatorLimits, readData, signedBlock } from './support/graphql-room.ts'

/** Reads all logs many times. */
const once = 'Log(filter: {data: {_like: "%nothing%"}}) { data }'
const long = `{ ${Array.from({ length: 40 }, (_, index) => `a${index}: ${once}`).join(' ')} }`
const shape = { transactions: 20, logs: 60, entries: 0, calldataBytes: 4 }
const longChain = () => createChain({ count: 12, shape })

test('a long query lets other queries run in between', async (t) => {
  const { graphql } = await openGraphqlRoom(t, { chain: longChain() })
  let scheduler = 0
  let isDone = false
  const running = graphql.execute({ query: long }).finally(() => {
    isDone = true
  })
  while (!isDone) {
    await setImmediate()
    scheduler++
  }
  assert.equal((await running).errors, undefined)
  assert.ok(scheduler > 2, `${scheduler} turns`)
})

test('a query that comes while others wait for the thread has its turn after them', async (t) => {
  const { graphql } = await openGraphqlRoom(t)
  const query = '{ __typename }'
  await graphql.execute({ query })
  const done: string[] = []
  await Promise.all([
    graphql.scheduler.nextTurn().then(() => done.push('first')),
    graphql.scheduler.nextTurn().then(() => done.push('second')),
    graphql.execute({ query }).then(() => done.push('query')),
  ])
  assert.deepEqual(done, ['first', 'second', 'query'])
})

test('a query stops when its client disconnects', async (t) => {
  const { graphql } = await openGraphqlRoom(t, { chain: longChain() })
  const controller = new AbortController()
  const running = graphql.execute({ query: long }, controller.signal)
  controller.abort()
  const { data, errors } = await running
  assert.equal(data, null)
  assert.equal(errors?.[0]?.extensions['code'], 'GRAPHQL_ABORTED')
})

test('a request reads one snapshot of the store', async (t) => {
  const { graphql, query, store, chain } = await openGraphqlRoom(t)
  const running = graphql.execute({
    query: '{ a: COUNT(Block: {}) Log { blockNumber } b: COUNT(Block: {}) }',
  })
  const [next] = createChain({ count: 1, parent: chain.at(-1) as never })
  await store.putSealedBlock(signedBlock(next as never, ['generator']))
  const { a, b } = readData(await running)
  assert.equal(a, b)
  assert.deepEqual(await query('{ COUNT(Block: {}) }'), { COUNT: 7 })
})

test('a request gives back the snapshot that it read, also where it fails', async (t) => {
  const { store } = await openGraphqlRoom(t)
  const held = new Set<object>()
  const reader = {
    snapshot() {
      const snapshot = store.reader.snapshot()
      held.add(snapshot)
      const release = (): void => {
        snapshot.release()
        held.delete(snapshot)
      }
      return { ...snapshot, release }
    },
  }
  const graphql = openGraphql(
    { network: testNetwork, limits: operatorLimits, collections: hostCollections },
    { reader, registry: new Registry(), log: captureLog().log },
  )
  for (const [query, isAnswered] of [
    ['{ Log { data } }', true],
    ['{ Log(limit: -1) { data } }', false],
  ] as const) {
    const { data } = await graphql.execute({ query })
    assert.deepEqual([data !== null, held.size], [isAnswered, 0], query)
  }
})

test('a query text is planned once for all values of its variables', async (t) => {
  const { query, registry } = await openGraphqlRoom(t)
  const text =
    'query($n: Int, $all: Boolean!) { Block(filter: {number: $n}) { number hash @include(if: $all) } }'
  const keys = async (variables: object) =>
    Object.keys((await query(text, { ...variables })).Block[0])
  assert.deepEqual(await keys({ n: 2, all: false }), ['number'])
  assert.deepEqual(await keys({ n: 3, all: true }), ['number', 'hash'])
  assert.deepEqual(await keys({ all: false }), ['number'])
  const metric = await registry.getSingleMetric('viewmesh_graphql_plans_total')?.get()
  assert.deepEqual(
    metric?.values.map(({ labels, value }) => [labels['from'], value]),
    [
      ['text', 1],
      ['cache', 2],
    ],
  )
})

test('requests are counted by outcome, with seconds, rows of the answer and documents read', async (t) => {
  const { query, errors, registry } = await openGraphqlRoom(t)
  const metric = (name: string, labels = {}) => metricValue(registry, name, labels)
  await query('{ Log(limit: 5) { data } Block(limit: 2) { number } }')
  assert.equal(await metric('viewmesh_graphql_requests_total', { outcome: 'ok' }), 1)
  assert.equal(await metric('viewmesh_graphql_request_duration_seconds_count'), 1)
  assert.ok((await metric('viewmesh_graphql_request_duration_seconds_sum')) > 0)
  assert.equal(await metric('viewmesh_graphql_rows_total'), 7)
  assert.ok((await metric('viewmesh_graphql_documents_total')) >= 7)
  await errors('{ Block { nothing } }')
  assert.equal(await metric('viewmesh_graphql_requests_total', { outcome: 'refused' }), 1)
  assert.equal(await metric('viewmesh_graphql_requests_total'), 2)
  assert.equal(await metric('viewmesh_graphql_request_duration_seconds_count'), 2)
  assert.equal(await metric('viewmesh_graphql_rows_total'), 7)
})

test('the fields of one answer keep the order of the query, also through fragments', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = `query Q { z: __typename Block(limit: 1) { transactions(limit: 1) { hash } number ...f } a: COUNT(Block: {}) }
    fragment f on Ethereum__Mainnet__Block { hash transactions(limit: 1) { from } ... on Block { miner } }`
  const data = await query(text)
  assert.deepEqual(Object.keys(data), ['z', 'Block', 'a'])
  assert.deepEqual(Object.keys(data.Block[0]), ['transactions', 'number', 'hash', 'miner'])
  assert.deepEqual(Object.keys(data.Block[0].transactions[0]), ['hash', 'from'])
})

test('an operation is chosen by name, and unused variables are accepted', async (t) => {
  const { graphql, errors } = await openGraphqlRoom(t)
  const query = 'query A($unused: Int) { __typename } query B { b: __typename }'
  const chosen = await graphql.execute({ query, operationName: 'B' })
  assert.deepEqual(readData(chosen), { b: 'Query' })
  assert.deepEqual(await errors(query), [
    'Must provide operation name if query contains multiple operations. Set operationName to one of A, B.',
  ])
  const wrong = await graphql.execute({ query, operationName: 'C' })
  assert.equal(
    wrong.errors?.[0]?.message,
    'Unknown operation named "C". Set operationName to one of A, B.',
  )
})

test('a subscription is answered for the heights of an event, and refused as a query', async (t) => {
  const { graphql, errors } = await openGraphqlRoom(t)
  const query = 'subscription { Log(filter: {logIndex: {_gt: 0}}) { blockNumber logIndex } }'
  assert.equal(graphql.operationKind({ query }), 'subscription')
  assert.equal(graphql.operationKind({ query: '{ __typename }' }), 'query')
  assert.equal(graphql.operationKind({ query: '{ nothing }' }), null)
  const { Log } = readData(await graphql.executeAt({ query }, { from: 4, to: 4 }))
  assert.deepEqual(Log, [
    { blockNumber: 4, logIndex: 1 },
    { blockNumber: 4, logIndex: 2 },
  ])
  assert.deepEqual(await errors(query), [
    'This is a subscription: ask for it with the header "Accept: text/event-stream".',
  ])
})

test('a request that is not valid, or names no operation of several, has no kind and no View', async (t) => {
  const { graphql } = await openGraphqlRoom(t)
  for (const request of [
    { query: '{' },
    { query: 'query A { __typename } subscription B { Log { data } }' },
    { query: 'subscription B { Log { data } }', operationName: 'C' },
  ])
    assert.deepEqual(
      [graphql.operationKind(request), graphql.subscribedView(request)],
      [null, null],
      request.query,
    )
  const query = 'query A { __typename } subscription B { Log { data } }'
  assert.equal(graphql.operationKind({ query, operationName: 'A' }), 'query')
  assert.equal(graphql.operationKind({ query, operationName: 'B' }), 'subscription')
})

test('a failure with a code says what happened and what to do, any other where to look', async () => {
  const { log, lines } = captureLog()
  const answerOf = async (error: Error) => {
    const reader = { snapshot: () => assert.fail(error) }
    const graphql = openGraphql(
      { network: testNetwork, limits: operatorLimits, collections: hostCollections },
      { reader, registry: new Registry(), log },
    )
    const { data, errors } = await graphql.execute({ query: '{ Block { number } }' })
    return [data, errors?.map(({ message, extensions }) => ({ message, ...extensions }))]
  }
  const code = 'STORE_NOT_OPEN'
  const closed = new ServiceError(code, 'It was closed.', { remedy: 'Open it.' })
  assert.deepEqual(await answerOf(closed), [null, [{ message: 'It was closed. Open it.', code }]])
  const bare = new ServiceError(code, 'It was closed.')
  assert.deepEqual(await answerOf(bare), [null, [{ message: 'It was closed.', code }]])
  const message = 'The query failed inside the service; its log says why.'
  assert.deepEqual(await answerOf(new Error('a secret')), [null, [{ message }]])
  assert.equal(lines.filter(({ msg }) => msg === 'query failed').length, 3)
})

test('listeners are notified of new heights until they unsubscribe', async (t) => {
  const { graphql } = await openGraphqlRoom(t)
  const heard: unknown[] = []
  const stop = graphql.onHeight((height, view) => heard.push([height, view]))
  graphql.notify(7)
  graphql.notifyRows('Payment', 6)
  stop()
  graphql.notify(8)
  graphql.notifyRows('Payment', 8)
  assert.deepEqual(heard, [
    [7, null],
    [6, 'Payment'],
  ])
})

test('an empty store returns empty lists', async (t) => {
  const { query } = await openGraphqlRoom(t, { chain: [] })
  const text =
    '{ Block { number } Log(order: {data: ASC}) { data } n: COUNT(Transaction: {}) AttestationRecord { vote_count } SnapshotSignature { startBlock } }'
  assert.deepEqual(await query(text), {
    Block: [],
    Log: [],
    n: 0,
    AttestationRecord: [],
    SnapshotSignature: [],
  })
})
