import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type GraphQLInputType, GraphQLList, GraphQLNonNull, isInputType } from 'graphql'
import { createCatalog, hostCollections } from '../../../src/graphql/catalog/catalog.ts'
import { createSchema } from '../../../src/graphql/schema/schema.ts'
import { expandValue, mayHoldShorthand } from '../../../src/graphql/schema/shorthand.ts'

const schema = createSchema(createCatalog('Ethereum__Mainnet', hostCollections))

function typeOf(name: string): GraphQLInputType {
  const type = schema.getType(name)
  return isInputType(type) ? type : assert.fail(name)
}

const filter = typeOf('Ethereum__Mainnet__LogFilterArg')
const block = typeOf('IntOperatorBlock')
const order = typeOf('Ethereum__Mainnet__LogOrderArg')
const filters = new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(filter)))

test('a bare value of a variable means equality wherever operators belong, at any depth', () => {
  const cases: readonly (readonly [value: unknown, type: GraphQLInputType, expanded: unknown])[] = [
    [3, block, { _eq: 3 }],
    [[3], block, { _eq: [3] }],
    [3, new GraphQLNonNull(block), { _eq: 3 }],
    [{ logIndex: 3 }, filter, { logIndex: { _eq: 3 } }],
    [{ logIndex: 3 }, filters, { logIndex: { _eq: 3 } }],
    [
      [{ logIndex: 3 }, { block: { number: 4 } }],
      filters,
      [{ logIndex: { _eq: 3 } }, { block: { number: { _eq: 4 } } }],
    ],
    [{ _not: { logIndex: 3 } }, filter, { _not: { logIndex: { _eq: 3 } } }],
  ]
  for (const [value, type, expanded] of cases) assert.deepEqual(expandValue(value, type), expanded)
})

test('what is written in full, or is nothing that could be, stays as it is', () => {
  const cases: readonly (readonly [value: unknown, type: GraphQLInputType])[] = [
    [null, block],
    [undefined, block],
    [{ _gt: 3 }, block],
    [{ logIndex: null, other: 3 }, filter],
    [3, filter],
    [{ logIndex: 'DESC' }, order],
    [3, typeOf('Int')],
    [{ any: 1 }, typeOf('JSON')],
  ]
  for (const [value, type] of cases) assert.deepEqual(expandValue(value, type), value)
})

test('only values of input objects may hold a shorthand', () => {
  assert.ok([filter, filters, block, order].every(mayHoldShorthand))
  const others = [typeOf('Int'), typeOf('Ordering'), new GraphQLList(typeOf('String'))]
  assert.deepEqual(others.filter(mayHoldShorthand), [])
})
