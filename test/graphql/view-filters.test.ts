import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { createChain } from '../support/chain/block-factory.ts'
import { type GraphqlRoom, openGraphqlRoom } from './support/graphql-room.ts'
import { putRows, servedView } from './support/served-views.ts'

/** Pairs of fields with the same values, of which the first has an index. */
const sdl = `type Pair {
  place: Int
  text: String @index text2: String
  key: ID @index key2: ID
  int: Int @index int2: Int
  float: Float @index float2: Float
  big: BigInt @index big2: BigInt
  flag: Boolean @index flag2: Boolean
  texts: [String] @index texts2: [String]
  bigs: [BigInt] @index bigs2: [BigInt]
  json: JSON
}`

const view = servedView(sdl)

/** Few values of each kind, so that conditions find something; the same number in several spellings. */
const texts = ['', '0x', '0xab', '0xAB', '0xaB01', 'word', 'Word', 'wörd "x"\n\\', '%']
const bigs = ['0', '-1', '7', '10', '9007199254740993', '-340282366920938463463374607431768211456']
const ints = [0, 1, -1, 2 ** 40, -(2 ** 53 - 1)]
const floats = [0, 0.5, -2.5, 1e300, 3]

interface Kind {
  readonly name: string
  readonly list: boolean
  readonly values: readonly unknown[]
  /** Operators that compare with one value. */
  readonly operators: readonly string[]
}

const equality = ['_eq', '_neq', '_ne']
const ranges = ['_gt', '_geq', '_ge', '_lt', '_leq']
const kinds: readonly Kind[] = [
  {
    name: 'text',
    list: false,
    values: texts,
    operators: [...equality, '_like', '_ilike', '_nlike'],
  },
  { name: 'key', list: false, values: texts, operators: equality },
  { name: 'int', list: false, values: ints, operators: [...equality, ...ranges] },
  { name: 'float', list: false, values: floats, operators: [...equality, ...ranges] },
  { name: 'big', list: false, values: bigs, operators: [...equality, ...ranges] },
  { name: 'flag', list: false, values: [true, false], operators: equality },
  { name: 'texts', list: true, values: texts, operators: equality },
  { name: 'bigs', list: true, values: bigs, operators: [...equality, ...ranges] },
]

const orNull = (values: readonly unknown[]) => fc.constantFrom(null, ...values)

const arbitraryRow = fc
  .tuple(
    ...kinds.map(({ list, values }) =>
      list ? fc.option(fc.array(orNull(values), { maxLength: 3 })) : orNull(values),
    ),
    fc.jsonValue({ maxDepth: 2 }),
  )
  .map((values) =>
    Object.fromEntries([
      ...kinds.flatMap(({ name }, index) => [
        [name, values[index]],
        [`${name}2`, values[index]],
      ]),
      ['json', values.at(-1)],
    ]),
  )

/** A condition on a field, with `@` in the place of its name. */
const arbitraryCondition = fc.constantFrom(...kinds).chain(({ name, list, values, operators }) => {
  const operand = orNull(values).map((value) => JSON.stringify(value))
  const several = fc
    .array(operand, { minLength: 1, maxLength: 3 })
    .map((all) => `[${all.join(',')}]`)
  const single = fc.oneof(
    fc.tuple(fc.constantFrom(...operators), operand).map((parts) => `${parts.join(': ')}`),
    fc.tuple(fc.constantFrom('_in', '_nin'), several).map((parts) => `${parts.join(': ')}`),
  )
  const whole = fc.tuple(fc.constantFrom('_eq', '_neq'), several).map((parts) => parts.join(': '))
  const element = fc
    .tuple(fc.constantFrom('_any', '_all', '_none'), single)
    .map(([quantifier, part]) => `${quantifier}: {${part}}`)
  const part = list ? fc.oneof(whole, element) : single
  return part.map((text) => ({ name, text }))
})

async function openRows(t: TestContext, rows: readonly object[]): Promise<GraphqlRoom> {
  const room = await openGraphqlRoom(t, { chain: createChain({ count: 5 }) })
  for (const [index, block] of room.chain.entries()) {
    const own = rows.flatMap((row, place) => (place % 5 === index ? [{ ...row, place }] : []))
    if (index !== 2) await putRows(room, view, block, own)
  }
  room.graphql.setViews([view])
  return room
}

test('an index finds the same rows as reading all of them', async (t) => {
  const rows = fc.sample(arbitraryRow, { numRuns: 900, seed: 7 })
  const room = await openRows(t, rows)
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitraryCondition, { minLength: 1, maxLength: 3 }),
      fc.constantFrom('_and', '_or'),
      fc.constantFrom('', ', order: {_blockNumber: DESC}', ', limit: 3'),
      async (conditions, join, rest) => {
        const filter = (ending: string) =>
          `{${join}: [${conditions.map(({ name, text }) => `{${name}${ending}: {${text}}}`).join(', ')}]}`
        const found = await room.query(
          `{ indexed: Pair(filter: ${filter('')}${rest}) { place } read: Pair(filter: ${filter('2')}${rest}) { place } }`,
        )
        assert.deepEqual(found.indexed, found.read)
      },
    ),
    { numRuns: 150 },
  )
})

test('rows are answered with the values that were put', async (t) => {
  const rows = fc.sample(arbitraryRow, { numRuns: 300, seed: 8 })
  const room = await openRows(t, rows)
  const names = kinds.map(({ name }) => name).join(' ')
  const { Pair } = await room.query(`{ Pair { place ${names} json } }`)
  const kept = rows.flatMap((row, place) => {
    if (place % 5 === 2) return []
    const values = [...kinds.map(({ name }) => [name, row[name]]), ['json', row['json']]]
    return [Object.fromEntries([['place', place], ...values])]
  })
  const byPlace = Pair.toSorted((a: { place: number }, b: { place: number }) => a.place - b.place)
  assert.deepEqual(byPlace, JSON.parse(JSON.stringify(kept)))
})

test('whole numbers of any size are compared as numbers', async (t) => {
  const big = fc.bigInt({ min: -(2n ** 300n), max: 2n ** 300n })
  const numbers = [
    ...new Set(
      fc.sample(fc.oneof(big, fc.bigInt({ min: -20n, max: 20n })), { numRuns: 60, seed: 9 }),
    ),
  ]
  const room = await openRows(
    t,
    numbers.map((number) => ({ big: String(number) })),
  )
  const kept = numbers.filter((_, place) => place % 5 !== 2)
  for (const bound of numbers.slice(0, 20)) {
    const found = await room.query(
      `{ less: Pair(filter: {big: {_lt: "${bound}"}}, order: {big: ASC}) { big } most: Pair(filter: {big: {_geq: "${bound}"}}, order: {big: DESC}) { big } }`,
    )
    const rising = kept.toSorted((a, b) => (a < b ? -1 : 1))
    const shown = (all: readonly bigint[]) => all.map((one) => ({ big: String(one) }))
    assert.deepEqual(found.less, shown(rising.filter((one) => one < bound)))
    assert.deepEqual(found.most, shown(rising.filter((one) => one >= bound).toReversed()))
  }
})
