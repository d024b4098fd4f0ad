import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GraphQLSchema, validateSchema } from 'graphql'
import { ServiceError } from '../../src/errors.ts'
import { hostCollections } from '../../src/graphql/catalog/catalog.ts'
import type { ServedView } from '../../src/graphql/catalog/view-entity.ts'
import type { Graphql } from '../../src/graphql/graphql.ts'
import { createSchemaKeeper } from '../../src/graphql/served-schema.ts'
import { parseRowType } from '../../src/views/rows/row-type.ts'
import { createChain } from '../support/chain/block-factory.ts'
import { testNetwork } from '../support/chain/sealed-blocks.ts'
import { metricValue } from '../support/metric-value.ts'
import { openEventReader } from './support/event-reader.ts'
import { openGraphqlRoom } from './support/graphql-room.ts'
import { openTestApi } from './support/graphql-server.ts'
import { putRows, servedView } from './support/served-views.ts'

/** Serves Views and waits until they are. */
async function serve(graphql: Graphql, views: readonly ServedView[]): Promise<void> {
  await new Promise<void>((resolve) => {
    const stop = graphql.onViews(() => {
      stop()
      resolve()
    })
    graphql.setViews(views)
  })
}

const numbers = servedView('type Numbers { n: Int }', 'Log { address }', 1)
const words = servedView('type Words { word: String }', 'Log { data }', 2)

test('Views come and go while the engine runs, each with its types', async (t) => {
  const { graphql, query, errors } = await openGraphqlRoom(t)
  assert.match((await errors('{ Numbers { n } }'))[0] ?? '', /Cannot query field "Numbers"/)
  await serve(graphql, [numbers])
  assert.deepEqual(await query('{ Numbers { n } }'), { Numbers: [] })
  await serve(graphql, [words])
  assert.match((await errors('{ Numbers { n } }'))[0] ?? '', /Cannot query field "Numbers"/)
  const text = `query($filter: WordsFilterArg, $order: [WordsOrderArg], $by: [WordsField!]) {
    Words(filter: $filter, order: $order) { word }
    groups: Words(groupBy: $by) { word }
  }`
  const variables = { filter: { word: 'x' }, order: [{ word: 'ASC' }], by: ['word'] }
  assert.deepEqual(await query(text, variables), { Words: [], groups: [] })
})

test('a View that takes the name of a removed one is read with its own fields', async (t) => {
  const room = await openGraphqlRoom(t)
  const [block] = room.chain
  assert.ok(block !== undefined)
  const next = servedView('type Numbers { n: String }', 'Log { address }', 9)
  await putRows(room, numbers, block, [{ n: 1 }])
  await putRows(room, next, block, [{ n: 'one' }])
  const text = '{ Numbers { n } }'
  await serve(room.graphql, [numbers])
  assert.deepEqual(await room.query(text), { Numbers: [{ n: 1 }] })
  await serve(room.graphql, [next])
  assert.deepEqual(await room.query(text), { Numbers: [{ n: 'one' }] })
})

test('a View with the same fields is read under the name and from the slot that it has now', async (t) => {
  const room = await openGraphqlRoom(t)
  const [block] = room.chain
  assert.ok(block !== undefined)
  const moved = { ...numbers, slot: 9 }
  await putRows(room, numbers, block, [{ n: 1 }])
  await putRows(room, moved, block, [{ n: 2 }])
  await serve(room.graphql, [numbers])
  assert.deepEqual(await room.query('{ Numbers { n } }'), { Numbers: [{ n: 1 }] })
  await serve(room.graphql, [moved])
  assert.deepEqual(await room.query('{ Numbers { n } }'), { Numbers: [{ n: 2 }] })
  await serve(room.graphql, [{ ...moved, name: 'Figures' }])
  assert.deepEqual(await room.query('{ Figures { n } }'), { Figures: [{ n: 2 }] })
})

test('queries of other collections and other Views stay compiled', async (t) => {
  const room = await openGraphqlRoom(t)
  const known = () => metricValue(room.registry, 'viewmesh_graphql_plans_total', { from: 'cache' })
  await serve(room.graphql, [numbers])
  const texts = [
    '{ Block(filter: {number: 1}) { number transactions { hash } } }',
    '{ Numbers { n } }',
  ]
  for (const text of texts) await room.query(text)
  const before = await known()
  await serve(room.graphql, [numbers, words])
  for (const text of texts) await room.query(text)
  assert.equal((await known()) - before, 2)
})

test('a query goes on with the View that was removed while it ran', async (t) => {
  const room = await openGraphqlRoom(t, { chain: createChain({ count: 40 }) })
  for (const block of room.chain) await putRows(room, numbers, block, manyRows)
  await serve(room.graphql, [numbers])
  const running = room.graphql.execute({
    query: '{ Numbers(order: {n: DESC}, limit: 1) { n } COUNT(Numbers: {filter: {n: {_gt: 1}}}) }',
  })
  const gone = serve(room.graphql, [])
  const cleared = room.store.clearView(numbers.slot)
  const { data } = await running
  await Promise.all([gone, cleared])
  assert.deepEqual(JSON.parse(data?.join('') ?? 'null'), { Numbers: [{ n: 199 }], COUNT: 40 * 198 })
})

const manyRows = Array.from({ length: 200 }, (_, n) => ({ n }))

test('introspection and its cached answer follow what is served', async (t) => {
  const { graphql, query } = await openGraphqlRoom(t)
  const names = async (): Promise<string[]> => {
    const { __schema } = await query('{ __schema { queryType { fields { name } } } }')
    return __schema.queryType.fields.map(({ name }: { name: string }) => name)
  }
  assert.ok(!(await names()).includes('Numbers'))
  await serve(graphql, [numbers])
  assert.ok((await names()).includes('Numbers'))
  await serve(graphql, [])
  assert.ok(!(await names()).includes('Numbers'))
})

test('changes that follow each other make one schema, with the last of them', async (t) => {
  const { graphql, query } = await openGraphqlRoom(t)
  await serve(graphql, [numbers])
  let changes = 0
  const stop = graphql.onViews(() => changes++)
  for (const views of [[], [words], [numbers], [numbers, words]]) graphql.setViews(views)
  await serve(graphql, [numbers, words])
  stop()
  assert.equal(changes, 1)
  assert.deepEqual(await query('{ Numbers { n } Words { word } }'), { Numbers: [], Words: [] })
})

test('the schema is built at most twice a second, however often Views change', (t) => {
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const builtAt: number[] = []
  const keeper = createSchemaKeeper({
    network: testNetwork,
    collections: hostCollections,
    onChange: () => void builtAt.push(nowMs),
    onLeftOut: () => assert.fail('both can be served'),
  })
  for (; nowMs < 2_000; nowMs += 10) {
    keeper.setViews(nowMs % 20 === 0 ? [numbers] : [words])
    t.mock.timers.tick(10)
  }
  assert.deepEqual(builtAt.slice(0, 1), [0])
  const between = builtAt.slice(1).map((atMs, index) => atMs - (builtAt[index] ?? 0))
  assert.equal(between.length, 4)
  for (const ms of between) assert.ok(ms >= 490, `${builtAt}`)
})

test('Views that are set again as they are change nothing', (t) => {
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  let changes = 0
  const keeper = createSchemaKeeper({
    network: testNetwork,
    collections: hostCollections,
    onChange: () => changes++,
    onLeftOut: () => assert.fail('all can be served'),
  })
  const set = (...views: readonly ServedView[]): unknown => {
    nowMs += 500
    keeper.setViews(views)
    return keeper.now()
  }
  const alone = { ...words, query: null }
  const first = set(numbers, alone)
  assert.ok(set({ ...numbers }, { ...alone }) === first)
  assert.equal(changes, 1)
  assert.ok(set(numbers, words) !== first, 'what one of them reads is known now')
  const sources = [...keeper.now().catalog.values()].flatMap(({ view }) => view ?? [])
  assert.ok(sources.every(({ selection }) => selection !== null))
  assert.equal(changes, 2)
})

/** A keeper that serves Views at once, as nothing was built before; and those that it left out. */
function servedAtOnce(
  views: readonly ServedView[],
  times = 1,
): [served: string[], leftOut: string[]] {
  const leftOut: string[] = []
  const keeper = createSchemaKeeper({
    network: testNetwork,
    collections: hostCollections,
    onChange: () => undefined,
    onLeftOut: ({ name }) => void leftOut.push(name),
  })
  for (let count = 0; count < times; count++) keeper.setViews(views)
  return [keeper.views().map(({ name }) => name), leftOut]
}

test('Views whose names are those of types of others are served beside these', () => {
  const ends = [...endings, 'Selector', 'CountSelector', '_NumericSelector', 'Block']
  const views = ends
    .flatMap((first) => ends.map((second) => `Foo${first}${second}`))
    .filter((name, index, all) => all.indexOf(name) === index)
    .flatMap((name, index) =>
      accepted(`type ${name} { n: Int a: [String] Field: [Int] Count__x: Int }`, index + 1),
    )
  const names = views.map(({ name }) => name)
  assert.ok(names.includes('Foo') && names.includes('FooField') && names.length > 30)
  assert.deepEqual(servedAtOnce(views), [names, []])
  assert.deepEqual(servedAtOnce(views.toReversed()), [names.toReversed(), []])
})

test('a View with which no schema can be built is left out, and all others are served', () => {
  const broken = (name: string, slot: number): ServedView => {
    const view = servedView(`type ${name} { n: Int }`, undefined, slot)
    const fields = view.rowType.fields.map((field) => ({ ...field, name: 'null' }))
    return { ...view, rowType: { ...view.rowType, fields } }
  }
  const views = [numbers, broken('First', 3), words, broken('Second', 4)]
  assert.deepEqual(servedAtOnce(views), [
    ['Numbers', 'Words'],
    ['First', 'Second'],
  ])
  assert.deepEqual(servedAtOnce(views.slice(1, 2)), [[], ['First']])
  assert.deepEqual(servedAtOnce(views.slice(1, 2), 3), [[], ['First']], 'and said to be so once')
})

/** Names that belong, or nearly belong, to something else. */
const temptingNames = fc.oneof(
  fc.constantFrom(
    'Block',
    'LogField',
    'Transfer',
    'COUNT',
    'GROUP',
    'Query',
    'constructor',
    'toString',
    'hasOwnProperty',
    'Numbers',
    'Int',
    'Float',
    'JSON',
    'on',
    'fragment',
    'Ethereum',
    'Mainnet',
  ),
  fc.stringMatching(/^[A-Za-z][A-Za-z0-9]{0,3}$/),
)
const endings = [
  '',
  'Field',
  'FilterArg',
  'OrderArg',
  'NumericFieldsArg',
  'OperatorBlock',
  'ListOperatorBlock',
  '_',
  '__Field',
  '_CountSelector',
]

test('whatever Views are called, the schema is valid and the collections are as before', async (t) => {
  const { graphql, query } = await openGraphqlRoom(t)
  const collections = [
    '{ Block(limit: 1, filter: {number: {_gt: 0}}) { number } }',
    'query($f: LogFilterArg, $by: [LogField!]) { Log(filter: $f, groupBy: $by) { address } }',
  ]
  const variables = { f: { logIndex: 0 }, by: ['address'] }
  const expected = await Promise.all(collections.map((text) => query(text, variables)))
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(
        fc.tuple(temptingNames, fc.constantFrom(...endings)).map((parts) => parts.join('')),
        { minLength: 1, maxLength: 6 },
      ),
      fc.constantFrom('filter', 'constructor', 'toString', 'COUNTS', 'data', 'Query'),
      fc.constantFrom('String', '[Int]', '[JSON]', 'BigInt', 'Float', '[ID]'),
      async (names, field, type) => {
        const views = names.flatMap((name, slot) =>
          accepted(`type ${name} { ${field}: ${type} x: Int }`, slot + 1),
        )
        fc.pre(views.length > 0)
        const room = await openGraphqlRoom(t, { chain: createChain({ count: 1 }) })
        await serve(room.graphql, views)
        const { schema } = room.graphql
        assert.deepEqual(
          validateSchema(new GraphQLSchema({ ...schema.toConfig(), assumeValid: false })),
          [],
        )
        for (const { name } of views)
          assert.deepEqual(
            await room.query(`{ ${name} { ${field} x _docID } COUNT(${name}: {}) }`),
            { [name]: [], COUNT: 0 },
          )
      },
    ),
    { numRuns: 20 },
  )
  await serve(graphql, [numbers])
  assert.deepEqual(await Promise.all(collections.map((text) => query(text, variables))), expected)
})

/** The View of an SDL; none where it is refused. */
function accepted(sdl: string, slot: number): ServedView[] {
  try {
    parseRowType(sdl)
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === 'VIEWS_SDL_INVALID')
    return []
  }
  return [servedView(sdl, 'Log { address }', slot)]
}

test('a subscription to a View gets its rows when they are there, not with their block', async (t) => {
  const api = await openTestApi(t)
  await serve(api.graphql, [numbers])
  const query = 'subscription { Numbers(filter: {n: {_gt: 1}}) { n _blockNumber } }'
  const reader = await openEventReader(api.url, { query })
  const [first, second] = createChain({ count: 2 })
  assert.ok(first !== undefined && second !== undefined)
  for (const block of [first, second]) {
    await api.add(block)
    await putRows(api, numbers, block, [{ n: block.number }, { n: 5 }])
    api.graphql.notifyRows('Words', block.number)
    api.graphql.notifyRows('Numbers', block.number)
  }
  const event = (rows: readonly object[]) => ({ event: 'next', data: { data: { Numbers: rows } } })
  assert.deepEqual(await reader.next(), event([{ n: 5, _blockNumber: 1 }]))
  assert.deepEqual(
    await reader.next(),
    event([
      { n: 2, _blockNumber: 2 },
      { n: 5, _blockNumber: 2 },
    ]),
  )
})

test('a subscription to a View ends with an error when the View is removed', async (t) => {
  const api = await openTestApi(t)
  await serve(api.graphql, [numbers, words])
  const gone = await openEventReader(api.url, { query: 'subscription { Numbers { n } }' })
  const kept = await openEventReader(api.url, { query: 'subscription { Words { word } }' })
  await serve(api.graphql, [words])
  const last = (await gone.next()) as { data: { errors: { extensions: { code: string } }[] } }
  assert.equal(last.data.errors[0]?.extensions.code, 'GRAPHQL_VIEW_GONE')
  const [block] = createChain({ count: 1 })
  assert.ok(block !== undefined)
  await api.add(block)
  await putRows(api, words, block, [{ word: 'still here' }])
  api.graphql.notifyRows('Words', block.number)
  assert.deepEqual((await kept.next())?.data, { data: { Words: [{ word: 'still here' }] } })
})
