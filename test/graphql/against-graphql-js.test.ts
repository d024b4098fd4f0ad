import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type ObjectFieldNode, parse, print, type ValueNode, visit } from 'graphql'
import { type ChainBlock, createChain, shapes } from '../support/chain/block-factory.ts'
import { arbitraryQuery } from './support/arbitrary-query.ts'
import { openGraphqlRoom } from './support/graphql-room.ts'
import { naiveData } from './support/naive-documents.ts'
import { naiveQuery } from './support/naive-graphql.ts'

/** Small blocks of several shapes, an empty one, a gap, and one that two Generators signed. */
function variedChain(): readonly ChainBlock[] {
  const shape = { transactions: 12, logs: 20, entries: 6, calldataBytes: 40 }
  return [
    ...createChain({ from: 5, count: 2 }),
    ...createChain({ from: 7, count: 1, shape: shapes.empty }),
    ...createChain({ from: 10, count: 2, shape }),
    ...createChain({ from: 12, count: 1 }),
  ]
}

const signersOf = (block: ChainBlock): readonly string[] => {
  if (block.number === 6) return []
  return block.number === 10 ? ['generator', 'second'] : ['generator']
}

const numRuns = 120

test('any query returns what graphql-js returns over plain documents', async (t) => {
  const chain = variedChain()
  const room = await openGraphqlRoom(t, { chain, signers: signersOf })
  const data = naiveData(chain, signersOf)
  await fc.assert(
    fc.asyncProperty(arbitraryQuery(data), async (text) => {
      const expected = await naiveQuery(room.graphql.schema, data, text, {})
      assert.deepEqual(await room.query(text), expected, text)
    }),
    { numRuns },
  )
})

test('values in variables return the same as values in the text', async (t) => {
  const chain = variedChain()
  const room = await openGraphqlRoom(t, { chain, signers: signersOf })
  const data = naiveData(chain, signersOf)
  await fc.assert(
    fc.asyncProperty(arbitraryQuery(data), async (text) => {
      const { query, variables } = withVariables(text)
      assert.deepEqual(await room.query(query, variables), await room.query(text), query)
    }),
    { numRuns },
  )
})

const types: Readonly<Record<string, string>> = {
  StringValue: 'String!',
  IntValue: 'Int',
  BooleanValue: 'Boolean!',
}

/** Moves every plain value of a filter into a variable of its own. */
function withVariables(text: string): { query: string; variables: Record<string, unknown> } {
  const variables: Record<string, unknown> = {}
  const definitions: string[] = []
  const move = (value: ValueNode): ValueNode => {
    if (value.kind === 'ListValue') return { ...value, values: value.values.map(move) }
    const type = types[value.kind]
    if (type === undefined || !('value' in value)) return value
    const name = `v${definitions.length}`
    variables[name] = value.kind === 'IntValue' ? Number(value.value) : value.value
    definitions.push(`$${name}: ${type}`)
    return { kind: 'Variable', name: { kind: 'Name', value: name } } as ValueNode
  }
  const document = visit(parse(text), {
    ObjectField: (node: ObjectFieldNode) => ({ ...node, value: move(node.value) }),
  })
  const head = definitions.length === 0 ? 'query' : `query (${definitions.join(', ')})`
  return { query: `${head} ${print(document)}`, variables }
}
