import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  maxFieldPairs,
  maxFragments,
  maxLines,
  maxNameLength,
  maxNesting,
  maxSameFields,
  maxSelections,
  maxTokens,
} from '../../../src/graphql/budget/limits.ts'
import { openGraphqlRoom } from '../support/graphql-room.ts'
import { list, repeat } from '../support/repeat.ts'

test('a query is refused beyond the limits of tokens, open brackets and fields', async (t) => {
  const { graphql, query, errors } = await openGraphqlRoom(t)
  const ids = (count: number) => `{ Log(docID: [${Array(count).fill('"x"').join(' ')}]) { data } }`
  const otherTokens = 12
  assert.deepEqual((await query(ids(maxTokens - otherTokens))).Log, [])
  assert.match(
    (await errors(ids(maxTokens - otherTokens + 1)))[0] ?? '',
    /^The query has more than 10000 tokens/,
  )
  const nested = (depth: number) =>
    `{ Log(filter: ${'{_not: '.repeat(depth)}{}${'}'.repeat(depth)}) { data } }`
  assert.ok(await query(nested(maxNesting - 3)))
  assert.match(
    (await errors(nested(maxNesting - 2)))[0] ?? '',
    /^The query has more than 64 brackets open at once/,
  )
  const fields = (count: number) =>
    `{ Block(limit: 1) { ${Array.from({ length: count }, (_, index) => `f${index}: number`).join(' ')} } }`
  assert.ok(await query(fields(maxSelections - 1)))
  assert.match(
    (await errors(fields(maxSelections)))[0] ?? '',
    /^The query selects more than 1000 fields/,
  )
  const half = repeat(maxSelections / 2, (index) => `f${index}: __typename`)
  const both = (more: string) =>
    graphql.execute({
      query: `query a { ${half} } query b { ${half} ${more} }`,
      operationName: 'a',
    })
  assert.equal((await both('')).errors, undefined)
  assert.match((await both('more: __typename')).errors?.[0]?.message ?? '', /more than 1000 fields/)
})

test('a query is refused beyond the limits of lines, comments included, and of name length', async (t) => {
  const { query, errors } = await openGraphqlRoom(t)
  const lines = (count: number, end: string) =>
    `{ Block(limit: 1) { number } }${`# ${end}`.repeat(count - 1)}`
  for (const end of ['\n', '\r', '\r\n']) {
    assert.ok(await query(lines(maxLines, end)))
    assert.deepEqual(await errors(lines(maxLines + 1, end)), [
      'The query has more than 10000 lines. Leave out comments and empty lines, or pass long lists as variables.',
    ])
  }
  const long = 'x'.repeat(maxNameLength + 1)
  assert.ok(await query(`{ Block(docID: "${long}") { number } }`), 'a text is no name')
  const name = (length: number) => `{ ${'a'.repeat(length)}: __typename }`
  assert.ok(await query(name(maxNameLength)))
  assert.deepEqual(await errors(name(maxNameLength + 1)), [
    'The query has a name of more than 256 characters. No field has such a name; choose shorter aliases, and write values in quotes.',
  ])
})

test('a query is refused with too many pairs of fields to compare, through all fragments', async (t) => {
  const { query, errors } = await openGraphqlRoom(t)
  const fragments = 20
  const pairs = (fields: number) => (fields * (fields - 1)) / 2
  const inFragment = 9
  const most = fragments * inFragment
  assert.ok(pairs(most) + fragments * pairs(inFragment) <= maxFieldPairs)
  assert.ok(pairs(most + fragments) + fragments * pairs(inFragment + 1) > maxFieldPairs)
  const same = (fields: number) => {
    const names = list(fragments, (index) => `f${index}`)
    const definitions = names.map(
      (name) => `fragment ${name} on Block { ${repeat(fields, () => 'number')} }`,
    )
    return `{ Block(limit: 1) { ${names.map((name) => `...${name}`).join(' ')} } } ${definitions.join(' ')}`
  }
  assert.deepEqual((await query(same(inFragment))).Block, [{ number: 1 }])
  assert.deepEqual(await errors(same(inFragment + 1)), [
    'The query selects fields of one name in one place so often that more than 20000 pairs of them would have to be compared. Select each field once, give others an alias of their own, or split the query.',
  ])
})

test('the limits of graphql-js itself are reported with limit and remedy as well', async (t) => {
  const { errors } = await openGraphqlRoom(t)
  const operations = repeat(60, (index) => `query q${index}($d: ID!) { ...f }`)
  const ids = repeat(1_000, () => '$d')
  assert.deepEqual(
    await errors(`${operations} fragment f on Query { Log(docID: [${ids}]) { data } }`),
    [
      'Going from each operation of the query through its fragments and their variables takes more than 50000 steps. Send fewer operations in one query, or write some fragments out.',
    ],
  )
  const types = '{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }'
  assert.deepEqual(await errors(types), [
    'Introspection lists fields, interfaces, possible types or input fields in more than 2 levels. Ask for the types by their names instead, as in { __type(name: "Query") { fields { name } } }.',
  ])
})

test('a query is refused beyond the limits of equal fields in one place, and of fragments', async (t) => {
  const { query, errors } = await openGraphqlRoom(t)
  const same = (count: number) => `{ Block(limit: 1) { ${'number '.repeat(count)} hash } }`
  assert.deepEqual(Object.keys((await query(same(maxSameFields))).Block[0]), ['number', 'hash'])
  assert.deepEqual(await errors(same(maxSameFields + 1)), [
    'The query selects number more than 20 times in one place. Select it once, or give each an alias of its own.',
  ])
  const fragments = (count: number) => {
    const names = Array.from({ length: count }, (_, index) => `f${index}`)
    const spreads = names.map((name) => `...${name}`).join(' ')
    const definitions = names.map((name) => `fragment ${name} on Block { number }`).join(' ')
    return `{ Block(limit: 1) { ${spreads} } } ${definitions}`
  }
  assert.deepEqual((await query(fragments(maxFragments))).Block, [{ number: 1 }])
  assert.deepEqual(await errors(fragments(maxFragments + 1)), [
    'The query has more than 50 fragments. Write some of them out.',
  ])
})

test('fields are counted with their fragments spread', async (t) => {
  const { errors } = await openGraphqlRoom(t)
  const doubling = Array.from(
    { length: 10 },
    (_, index) =>
      `fragment f${index} on Block { a${index}: transactions { block { ...f${index + 1} } } b${index}: transactions { block { ...f${index + 1} } } }`,
  )
  const text = `{ Block { ...f0 } } ${doubling.join(' ')} fragment f10 on Block { number }`
  assert.match(
    (await errors(text))[0] ?? '',
    /^The operations of the query have more than 20000 fields and fragments, all fragments spread/,
  )
})

test('the alias __proto__ is refused', async (t) => {
  const { errors } = await openGraphqlRoom(t)
  assert.deepEqual(await errors('{ __proto__: __typename }'), [
    'The alias __proto__ is reserved. Choose another alias.',
  ])
})

test('variables nest no deeper than brackets may', async (t) => {
  const { query, errors } = await openGraphqlRoom(t)
  const text = 'query($f: BlockFilterArg) { Block(filter: $f) { number } }'
  const nested = (depth: number): unknown => (depth === 0 ? {} : { _not: nested(depth - 1) })
  assert.ok(await query(text, { f: nested(maxNesting) }))
  assert.match(
    (await errors(text, { f: nested(maxNesting + 1) }))[0] ?? '',
    /^The variables nest deeper than 64 levels/,
  )
  let hostile: unknown = {}
  for (let depth = 0; depth < 200_000; depth++) hostile = { _not: hostile }
  assert.match((await errors(text, { f: hostile }))[0] ?? '', /^The variables nest deeper/)
})
