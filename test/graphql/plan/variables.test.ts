import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ArgumentNode, Kind, parse, print } from 'graphql'
import { hasVariable, pruneArguments, shapeVariables } from '../../../src/graphql/plan/variables.ts'
import { openGraphqlRoom } from '../support/graphql-room.ts'

test('an omitted variable drops the condition it stands in', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = `query($n: Int, $m: Int) {
    plain: COUNT(Block: {filter: {number: {_eq: $n}}})
    bare: COUNT(Block: {filter: {number: $n}})
    range: COUNT(Block: {filter: {number: {_gt: $n, _lt: $m}}})
    list: COUNT(Block: {filter: {number: {_in: [$n, $m]}}})
    inverse: COUNT(Block: {filter: {_not: {number: $n}}})
    choice: COUNT(Block: {filter: {_or: [{number: $n}, {number: $m}]}})
    linked: COUNT(Log: {filter: {block: {number: $n}}})
    alias: Block(filter: {_alias: {n: {_eq: $n}}}) { n: number }
  }`
  const none = await query(text)
  assert.deepEqual(
    { ...none, alias: none.alias.length },
    { plain: 6, bare: 6, range: 6, list: 6, inverse: 6, choice: 6, linked: 18, alias: 6 },
  )
  const some = await query(text, { m: 3 })
  assert.deepEqual(
    { ...some, alias: some.alias.length },
    { plain: 6, bare: 6, range: 2, list: 1, inverse: 6, choice: 1, linked: 18, alias: 6 },
  )
  const both = await query(text, { n: 2, m: 3 })
  assert.deepEqual(
    { ...both, alias: both.alias.length },
    { plain: 1, bare: 1, range: 0, list: 2, inverse: 5, choice: 2, linked: 3, alias: 1 },
  )
})

test('a variable that is null means "no value", unlike one that is omitted', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = 'query($n: Int) { COUNT(Block: {filter: {number: {_eq: $n}}}) }'
  assert.equal((await query(text, { n: null })).COUNT, 0)
  assert.equal((await query(text)).COUNT, 6)
})

test('omitted limits, offsets, orders and docIDs have no effect', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = `query($l: Int, $o: Int, $r: [BlockOrderArg], $d: [ID!]) {
    Block(limit: $l, offset: $o, order: $r, docID: $d) { number } }`
  assert.equal((await query(text)).Block.length, 6)
  const { Block } = await query(text, { l: 2, o: 1, r: [{ number: 'DESC' }] })
  assert.deepEqual(Block, [{ number: 5 }, { number: 4 }])
})

test('a query that is sent again takes its new variables, also beside arguments that stay', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = `query($n: Int, $m: Int) { page: Block(limit: 1, offset: $n) { number }
    few: Block(filter: {number: {_in: [2, $m]}}, limit: 9) { number }
    COUNT(Block: {filter: {number: {_leq: 4}}}, Log: {limit: $n}) }`
  for (const [n, m] of [
    [1, 3],
    [4, 6],
  ] as const)
    assert.deepEqual(await query(text, { n, m }), {
      page: [{ number: n + 1 }],
      few: [{ number: 2 }, { number: m }],
      COUNT: 4 + n,
    })
})

test('a variable with a default is never omitted', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = 'query($n: Int = 4) { Block(filter: {number: $n}) { number } }'
  assert.deepEqual((await query(text)).Block, [{ number: 4 }])
})

/** The arguments of `{ f(...) }`. */
function argumentsOf(text: string): readonly ArgumentNode[] {
  const [operation] = parse(`{ f(${text}) }`).definitions
  assert.ok(operation?.kind === Kind.OPERATION_DEFINITION)
  const [field] = operation.selectionSet.selections
  assert.ok(field?.kind === Kind.FIELD)
  return field.arguments ?? []
}

const written = (args: readonly ArgumentNode[]): string => args.map(print).join(', ')

test('what depends on omitted variables alone goes, as far up as nothing else is in it', () => {
  const cases: readonly [text: string, left: string, ofAggregate?: string][] = [
    ['a: $x, b: 1', 'b: 1', 'a: {}, b: 1'],
    ['a: {b: $x, c: $y}', 'a: {c: $y}'],
    ['a: {b: {c: $x}, d: 2}', 'a: {d: 2}'],
    ['a: {b: [$x, {c: $x}]}', '', 'a: {}'],
    ['a: [[$x], 1, $y]', 'a: [1, $y]'],
    ['a: {}, b: []', 'a: {}, b: []'],
    ['a: null, b: "x"', 'a: null, b: "x"'],
  ]
  const omitted = new Set(['x'])
  for (const [text, left, ofAggregate = left] of cases) {
    assert.equal(written(pruneArguments(argumentsOf(text), omitted, false)), left)
    assert.equal(written(pruneArguments(argumentsOf(text), omitted, true)), ofAggregate)
  }
  const all = argumentsOf('a: $x')
  assert.equal(pruneArguments(all, new Set(), false), all)
  assert.deepEqual(pruneArguments(undefined, omitted, true), [])
})

test('a variable is found wherever it stands in a value', () => {
  const has = (value: string) => argumentsOf(`a: ${value}`).map((one) => hasVariable(one.value))
  for (const value of ['$x', '[1, $x]', '{a: 1, b: [{c: $x}]}'])
    assert.deepEqual(has(value), [true])
  for (const value of ['1', '"$x"', '[]', '{a: [1, {}]}']) assert.deepEqual(has(value), [false])
})

test('variables of directives, groupBy and format decide the shape of an answer, no others', () => {
  const document =
    parse(`query($a: Boolean!, $b: F, $c: [F], $d: String, $e: Int, $f: Boolean!, $g: F) {
    Log(groupBy: [data, $b, $c], limit: $e) @include(if: $a) { data }
    Block(filter: {groupBy: $e}) { delta(format: $d) ...more } }
    fragment more on Block { logs(groupBy: $g) @skip(if: $f) { data(limit: $e) } }`)
  assert.deepEqual([...shapeVariables(document)].sort(), ['a', 'b', 'c', 'd', 'f', 'g'])
})
