import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSchema, GraphQLError, parse } from 'graphql'
import { withSuggestion } from '../../../src/graphql/plan/suggestions.ts'

const letters = (count: number, last = ''): string => 'n'.repeat(count - last.length) + last
const manyNames = Array.from({ length: 500 }, (_, index) => `other${index}`)
const schema = buildSchema(`
  interface Named { address: String }
  type Query { address(order: String, limit: Int): Int, ${letters(32)}: Int, ${letters(33)}: Int }
  type Long { ${letters(33)}: Int }
  type Lots { ${[...manyNames, 'address'].map((name) => `${name}: Int`).join('\n')} }
  type Few { ${[...manyNames.slice(1), 'address'].map((name) => `${name}: Int`).join('\n')} }
  input Filter { address: String }
  enum Ordering { ASC DESC }
  scalar Quantity
`)

/** What an error says once it has its suggestion. */
function suggested(message: string): string {
  const [error] = withSuggestion(schema, [new GraphQLError(message)])
  return error?.message ?? ''
}

test('a misspelt name is told what it most likely means, wherever it stands', () => {
  const cases: Readonly<Record<string, string | null>> = {
    'Cannot query field "adress" on type "Query".': 'address',
    'Cannot query field "adress" on type "Named".': 'address',
    'Field "adress" is not defined by type "Filter".': 'address',
    'Value "DECS" does not exist in "Ordering" enum.': 'DESC',
    'Unknown argument "ordr" on field "Query.address".': 'order',
    'Unknown argument "ordr" on field "Query.other".': null,
    'Cannot query field "adress" on type "Quantity".': null,
    'Cannot query field "adress" on type "Other".': null,
    'Cannot query field "nothing" on type "Query".': null,
    'Something about "adress" that nobody knows.': null,
  }
  for (const [message, name] of Object.entries(cases))
    assert.equal(suggested(message), name === null ? message : `${message} Did you mean "${name}"?`)
})

test('only names of up to 32 letters are compared, and 500 names of a type', () => {
  const field = (name: string, type = 'Query'): string =>
    `Cannot query field "${name}" on type "${type}".`
  const near = letters(32, 'x')
  assert.equal(suggested(field(near)), `${field(near)} Did you mean "${letters(32)}"?`)
  assert.equal(suggested(field(letters(33, 'x'))), field(letters(33, 'x')))
  assert.equal(suggested(field(letters(32), 'Long')), field(letters(32), 'Long'))
  assert.equal(
    suggested(field('adress', 'Few')),
    `${field('adress', 'Few')} Did you mean "address"?`,
  )
  assert.equal(suggested(field('adress', 'Lots')), field('adress', 'Lots'))
})

test('the first error alone gets a suggestion, and keeps its place and its code', () => {
  const [node] = parse('{\n  adress }').definitions
  assert.ok(node !== undefined)
  const message = 'Cannot query field "adress" on type "Query".'
  const errors = [
    new GraphQLError(message, { nodes: node, extensions: { code: 'X' } }),
    new GraphQLError(message),
  ]
  const [first, second, ...more] = withSuggestion(schema, errors)
  assert.deepEqual(first?.toJSON(), {
    message: `${message} Did you mean "address"?`,
    locations: [{ line: 1, column: 1 }],
    extensions: { code: 'X' },
  })
  assert.equal(second, errors[1])
  assert.deepEqual(more, [])
  assert.deepEqual(withSuggestion(schema, []), [])
})
