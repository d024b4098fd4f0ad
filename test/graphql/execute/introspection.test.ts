import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { executeSync, getIntrospectionQuery, parse } from 'graphql'
import { costOf, openGraphqlRoom, openTestGraphql } from '../support/graphql-room.ts'
import { repeat } from '../support/repeat.ts'

const questions: Readonly<Record<string, { text: string; variables?: Record<string, unknown> }>> = {
  'what GraphiQL asks': { text: getIntrospectionQuery() },
  'everything there is to ask': {
    text: getIntrospectionQuery({
      descriptions: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      schemaDescription: true,
      inputValueDeprecation: true,
      oneOf: true,
    }),
  },
  'types by name, also of one that is not there': {
    text: `query ($name: String!) {
      a: __type(name: $name) { ...t } b: __type(name: "Nothing") { ...t } __typename
    }
    fragment t on __Type { __typename kind name inputFields { name type { ofType { name } } } }`,
    variables: { name: 'StringOperatorBlock' },
  },
  'with and without what is deprecated': {
    text: `query ($all: Boolean!, $names: Boolean!) {
      __type(name: "Ethereum__Mainnet__Block") {
        fields(includeDeprecated: $all) { name @include(if: $names) isDeprecated deprecationReason }
        few: fields { name @skip(if: $names) args(includeDeprecated: true) { name defaultValue } }
      }
      __schema { queryType { name } subscriptionType { name } mutationType { name } directives { name locations } }
    }`,
    variables: { all: true, names: false },
  },
}

for (const [name, { text, variables = {} }] of Object.entries(questions)) {
  test(`introspection returns what graphql-js does: ${name}`, async (t) => {
    const { query, graphql } = await openGraphqlRoom(t)
    const { schema } = graphql
    const { data } = executeSync({ schema, document: parse(text), variableValues: variables })
    assert.deepEqual(await query(text, variables), JSON.parse(JSON.stringify(data)))
  })
}

const many = `{ ${repeat(40, (index) => `s${index}: __schema { types { fields { name type { name } } } }`)} }`

test('introspection lets other queries run in between', async (t) => {
  const { graphql } = await openGraphqlRoom(t)
  let scheduler = 0
  let isDone = false
  const running = graphql.execute({ query: many }).finally(() => {
    isDone = true
  })
  while (!isDone) {
    await setImmediate()
    scheduler++
  }
  assert.equal((await running).errors, undefined)
  assert.ok(scheduler > 2, `${scheduler} turns`)
})

test('introspection counts towards cost and answer size', async (t) => {
  const { store } = await openGraphqlRoom(t)
  const codeWithin = async (limits: object) => {
    const { errors } = await openTestGraphql(store.reader, { limits }).execute({ query: many })
    return errors?.[0]?.extensions['code']
  }
  assert.equal(await codeWithin({}), undefined)
  assert.equal(await codeWithin({ maxCost: 10_000 }), 'GRAPHQL_COST_LIMIT')
  assert.equal(await codeWithin({ maxResultBytes: 100_000 }), 'GRAPHQL_SIZE_LIMIT')
})

test('an answer that was cached is held as long as one that was made for the request', async (t) => {
  const { graphql } = await openGraphqlRoom(t)
  const heldBy = async (): Promise<number> => {
    const account = graphql.memory.openAccount()
    const { data } = await graphql.execute({ query: getIntrospectionQuery() }, undefined, account)
    assert.ok(data !== null)
    const bytes = graphql.memory.heldBytes()
    account.close()
    return bytes
  }
  const made = await heldBy()
  assert.ok(made > 100_000, `${made} bytes`)
  const cached = await heldBy()
  assert.ok(Math.abs(cached - made) < 100, `${cached} and ${made} bytes`)
})

test('only the answer to GraphiQL’s introspection query is cached, once', async (t) => {
  const room = await openGraphqlRoom(t)
  const looked = (text: string) => costOf(room, text)
  const standard = getIntrospectionQuery()
  assert.ok((await looked(standard)) > 1_000)
  assert.equal(await looked(standard), 0)
  assert.equal(await looked(standard.replaceAll(/\s+/g, ' ')), 0, 'however it is laid out')
  const other = getIntrospectionQuery({ descriptions: false })
  assert.equal(await looked(other), await looked(other))
  assert.equal(room.graphql.memory.heldBytes(), 0)
})
