import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type GraphQLSchema, parse, print } from 'graphql'
import { createCatalog, hostCollections } from '../../../src/graphql/catalog/catalog.ts'
import { viewEntity } from '../../../src/graphql/catalog/view-entity.ts'
import { rewriteDocument } from '../../../src/graphql/plan/rewrite.ts'
import { createSchema } from '../../../src/graphql/schema/schema.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { servedView } from '../support/served-views.ts'

const schema = createSchema(createCatalog(testNetwork, hostCollections))

const rewritten = (text: string): string =>
  print(rewriteDocument(parse(text), schema, testNetwork)).replaceAll(/\s+/g, ' ')
const plain = (text: string): string => print(parse(text)).replaceAll(/\s+/g, ' ')

/** Each query, and what it means in plain GraphQL. */
const cases: readonly (readonly [query: string, meaning: string])[] = [
  ['{ Block(filter: {number: 3}) { number } }', '{ Block(filter: {number: {_eq: 3}}) { number } }'],
  [
    '{ Log(filter: {_or: [{address: "0x"}, {block: {number: 1}}]}) { data } }',
    '{ Log(filter: {_or: [{address: {_eq: "0x"}}, {block: {number: {_eq: 1}}}]}) { data } }',
  ],
  [
    '{ Log(filter: {topics: {_any: "0x"}}) { data } }',
    '{ Log(filter: {topics: {_any: {_eq: "0x"}}}) { data } }',
  ],
  [
    'query ($n: Int) { Block(filter: {number: $n}) { number } }',
    'query ($n: Int) { Block(filter: {number: {_eq: $n}}) { number } }',
  ],
  [
    'query ($f: BlockFilterArg) { ...x } fragment x on Block { number }',
    `query ($f: ${testNetwork}__BlockFilterArg) { ...x } fragment x on ${testNetwork}__Block { number }`,
  ],
  [
    'query ($k: [BlockField!]!) { Block(groupBy: $k) { ... on Block { number } } }',
    `query ($k: [${testNetwork}__BlockField!]!) { Block(groupBy: $k) { ... on ${testNetwork}__Block { number } } }`,
  ],
]

for (const [query, meaning] of cases) {
  test(`"${query}" is made plain GraphQL`, () => {
    assert.equal(rewritten(query), plain(meaning))
  })
}

/** What is plain already, or has no meaning that could be written out. */
const asTheyAre: readonly string[] = [
  '{ Block(filter: {number: {_eq: 3}}) { number } }',
  '{ Block(filter: {number: null}, limit: 3) { number } }',
  '{ Block(order: {number: DESC}, groupBy: [number]) { number } }',
  'query ($b: IntOperatorBlock) { Block(filter: {number: $b}) { number } }',
  '{ Block(filter: {number: $unknown}) { number } }',
  '{ Block(filter: {other: 3}) { number } }',
  `query ($f: ${testNetwork}__BlockFilterArg, $s: String, $o: Other) { Block { number } }`,
]

for (const query of asTheyAre) {
  test(`"${query}" stays as it is`, () => {
    assert.equal(rewritten(query), plain(query))
  })
}

test('the name of a View is its own type, also where it looks like a type of another', () => {
  const views = ['Transfer', 'TransferField'].map((name, slot) =>
    viewEntity(servedView(`type ${name} { n: Int }`, undefined, slot), null),
  )
  const entities = views.map((view) => [view.name, view] as const)
  const both = createSchema(new Map([...createCatalog(testNetwork, hostCollections), ...entities]))
  const [view] = entities
  assert.ok(view !== undefined)
  const alone = createSchema(new Map([...createCatalog(testNetwork, hostCollections), view]))
  const text = 'query ($k: [TransferField!]) { Transfer(groupBy: $k) { n } }'
  const named = (schema: GraphQLSchema): string =>
    /\w+(?=!)/.exec(print(rewriteDocument(parse(text), schema, testNetwork)))?.[0] ?? ''
  assert.deepEqual([both, alone].map(named), ['TransferField', 'Transfer__Field'])
})
