import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSchema, parse } from 'graphql'
import { validateDocument } from '../../../src/graphql/plan/validation.ts'

const positions = [
  ...['Int', 'Int!', 'String', 'String!', 'ID', 'ID!', 'Quantity', 'Other', '[ID!]', '[Int]'],
  ...['[[Int!]]', 'StringOperatorBlock', 'IDOperatorBlock', 'IntOperatorBlock', 'OtherFilter'],
  ...['QuantityOperatorBlock', 'IDSomethingElse'],
]
const schema = buildSchema(`
  scalar Quantity
  scalar Other
  input StringOperatorBlock { _eq: String }
  input IDOperatorBlock { _eq: ID }
  input IntOperatorBlock { _eq: Int }
  input QuantityOperatorBlock { _eq: Quantity }
  input OtherFilter { name: String }
  input StringSomethingElse { _eq: String }
  input IDSomethingElse { _eq: ID }
  type Query { ${positions.map((type, index) => `a${index}(x: ${type}): Int`).join('\n')} }
`)

for (const type of Object.values(schema.getTypeMap()))
  if (type.name.endsWith('OperatorBlock')) type.extensions = { operatorBlock: true }

const messages = (text: string): readonly string[] =>
  validateDocument(schema, parse(text)).map(({ message }) => message)

/** The positions that take a variable of a type, which may have a default. */
const takenBy = (type: string): readonly string[] =>
  positions.filter((position, index) => {
    const found = messages(`query ($v: ${type}) { a${index}(x: $v) }`)
    const [declared = ''] = type.split(' ')
    const expected = `Variable "$v" of type "${declared}" used in position expecting type "${position}".`
    if (found.length > 0) assert.deepEqual(found, [expected])
    return found.length === 0
  })

test('a variable fits where its value has only one meaning', () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    Int: ['Int', 'Quantity', '[Int]'],
    'Int!': ['Int', 'Int!', 'Quantity', '[Int]', '[[Int!]]'],
    'Int = 1': ['Int', 'Int!', 'Quantity', '[Int]', '[[Int!]]'],
    'Int = null': ['Int', 'Quantity', '[Int]'],
    String: ['String', 'ID', 'Quantity'],
    'String!': ['String', 'String!', 'ID', 'ID!', 'Quantity', '[ID!]'],
    'ID = "x"': ['String', 'String!', 'ID', 'ID!', 'Quantity', '[ID!]'],
    Other: ['Other'],
    '[ID]': [],
    '[String!]': ['[ID!]'],
    '[ID] = ["x"]': [],
    '[Int!]': ['[Int]', '[[Int!]]'],
    '[[Int!]!]!': ['[[Int!]]'],
    StringOperatorBlock: ['StringOperatorBlock', 'IDOperatorBlock', 'QuantityOperatorBlock'],
    IDOperatorBlock: ['StringOperatorBlock', 'IDOperatorBlock', 'QuantityOperatorBlock'],
    IntOperatorBlock: ['IntOperatorBlock', 'QuantityOperatorBlock'],
    QuantityOperatorBlock: ['QuantityOperatorBlock'],
    OtherFilter: ['OtherFilter'],
    StringSomethingElse: [],
  }
  for (const [type, expected] of Object.entries(cases))
    assert.deepEqual(takenBy(type), expected, type)
})

test('variables need not be used, and those of one operation are not those of another', () => {
  assert.deepEqual(messages('query ($v: Int) { a0 }'), [])
  assert.deepEqual(messages('query a($v: Int) { a0(x: $v) } query b($v: ID) { a4(x: $v) }'), [])
  assert.deepEqual(messages('query a($v: Int) { a0(x: $v) } query b { a0(x: $v) }'), [
    'Variable "$v" is not defined by operation "b".',
  ])
})

test('a variable is looked at where fragments use it as well', () => {
  const text = 'query ($v: Other) { ...f } fragment f on Query { a0(x: $v) }'
  assert.deepEqual(messages(text), [
    'Variable "$v" of type "Other" used in position expecting type "Int".',
  ])
})

test('after 20 errors of a query no more are looked for', () => {
  const many = (count: number) =>
    messages(`{ ${Array.from({ length: count }, (_, index) => `z${index}`).join(' ')} }`)
  assert.equal(many(20).length, 20)
  const found = many(30)
  assert.equal(found.length, 21)
  assert.equal(found.at(-1), 'Too many validation errors, error limit reached. Validation aborted.')
})
