import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCatalog, hostCollections } from '../../../src/graphql/catalog/catalog.ts'
import type { QueryPlan } from '../../../src/graphql/plan/plan.ts'
import { createPlanCache, maxKeptBytes, planFor } from '../../../src/graphql/plan/plan-cache.ts'
import {
  type QueryDocument,
  type QueryOperation,
  readDocument,
} from '../../../src/graphql/plan/query-document.ts'
import { createSchema, entitiesByName } from '../../../src/graphql/schema/schema.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { operatorLimits } from '../support/graphql-room.ts'

const mib = 1024 * 1024

const documentOf = (parts: Partial<QueryDocument>) =>
  ({ bytes: 100, views: new Set(), isIntrospective: false, ...parts }) as QueryDocument
const operationOf = (planBytes: number) => ({ planBytes }) as QueryOperation
const plan = (): QueryPlan => ({ fields: [] })

test('a plan is found again for its operation and the shape of its answer alone', () => {
  const cache = createPlanCache()
  const [first, second] = [operationOf(10), operationOf(10)]
  const plans = [plan(), plan(), plan()] as const
  cache.keepPlan(first, 'a', plans[0])
  cache.keepPlan(first, 'b', plans[1])
  cache.keepPlan(second, 'a', plans[2])
  assert.equal(cache.findPlan(first, 'a'), plans[0])
  assert.equal(cache.findPlan(first, 'b'), plans[1])
  assert.equal(cache.findPlan(second, 'a'), plans[2])
  assert.equal(cache.findPlan(second, 'b'), undefined)
  assert.equal(cache.findPlan(operationOf(10), 'a'), undefined)
})

test('documents about Views that changed are forgotten, and those about the schema', () => {
  const cache = createPlanCache()
  const documents = {
    plain: documentOf({}),
    first: documentOf({ views: new Set(['First']) }),
    both: documentOf({ views: new Set(['First', 'Second']) }),
    third: documentOf({ views: new Set(['Third']) }),
    schema: documentOf({ isIntrospective: true }),
  }
  for (const [text, document] of Object.entries(documents)) cache.keepDocument(text, document)
  cache.dropViews(new Set(['Second', 'Third']))
  for (const text of ['plain', 'first'] as const)
    assert.equal(cache.findDocument(text), documents[text])
  for (const text of ['both', 'third', 'schema']) assert.equal(cache.findDocument(text), undefined)
})

test('what is cached counts with its bytes and 512 more, a plan with its shape as well', () => {
  const cache = createPlanCache()
  cache.keepDocument('x', documentOf({ bytes: 100.5 }))
  assert.equal(cache.bytes(), 512 + 101)
  const operation = operationOf(50.5)
  cache.keepPlan(operation, '', plan())
  const before = cache.bytes()
  assert.ok(before > 2 * 512 + 101 + 51)
  cache.keepPlan(operation, 'x'.repeat(100), plan())
  assert.equal(cache.bytes() - before, before - 512 - 101 + 2 * 100)
})

test('an entry of more than 1 MiB is not cached, and all others stay within their bounds', () => {
  const cache = createPlanCache()
  cache.keepDocument('large', documentOf({ bytes: mib - 511 }))
  assert.equal(cache.findDocument('large'), undefined)
  cache.keepPlan(operationOf(mib - 511), '', plan())
  assert.equal(cache.bytes(), 0)
  for (let index = 0; index < 30; index++) {
    cache.keepDocument(`${index}`, documentOf({ bytes: mib - 512 }))
    cache.keepPlan(operationOf(mib - 1_024), '', plan())
  }
  assert.equal(maxKeptBytes, 24 * mib)
  assert.ok(cache.bytes() > 23 * mib && cache.bytes() <= maxKeptBytes)
  assert.ok(cache.findDocument('29'))
  assert.equal(cache.findDocument('13'), undefined)
})

const catalog = createCatalog(testNetwork, hostCollections)
const served = { catalog, schema: createSchema(catalog), entities: entitiesByName(catalog) }

/** Makes plans of the one operation of a query text. */
function plannerOf(text: string): (variables: Readonly<Record<string, unknown>>) => QueryPlan {
  const parts = {
    ...served,
    network: testNetwork,
    limits: operatorLimits,
    plans: createPlanCache(),
  }
  const document = readDocument(parts, text)
  assert.ok('operations' in document)
  const [operation = assert.fail('there is one')] = document.operations.values()
  return (variables) => planFor(parts, operation, variables)
}

test('an operation is planned once for each shape of its answer, whatever else its variables say', () => {
  const shown = plannerOf(
    'query ($n: Int, $s: Boolean!) { Block(limit: $n) { number hash @include(if: $s) } }',
  )
  const whole = shown({ n: 1, s: true })
  assert.equal(shown({ n: 2, s: true }), whole)
  assert.notEqual(shown({ n: 1, s: false }), whole)
  const grouped = plannerOf('query ($g: [LogField!]) { Log(groupBy: $g) { address } }')
  const byAddress = grouped({ g: ['address'] })
  assert.equal(grouped({ g: ['address', 'address'] }), byAddress)
  assert.notEqual(grouped({ g: ['address', 'data'] }), byAddress)
})

test('an operation is planned by itself where a variable is not given', () => {
  const limited = plannerOf('query ($n: Int) { Block(limit: $n) { number } }')
  const without = limited({})
  assert.equal(limited({}), without)
  assert.notEqual(limited({ n: null }), without)
  assert.equal(limited({ n: 2 }), limited({ n: null }))
})
