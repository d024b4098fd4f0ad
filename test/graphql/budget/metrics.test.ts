/** What is counted of GraphQL requests. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { createGraphqlMetrics } from '../../../src/graphql/budget/metrics.ts'
import { metricValue } from '../../support/metric-value.ts'

test('a finished request is counted by its outcome, with its seconds, rows and documents', async () => {
  const registry = new Registry()
  const metrics = createGraphqlMetrics(registry, { heldBytes: () => 7, planBytes: () => 8 })
  const value = (name: string, labels?: Readonly<Record<string, string>>): Promise<number> =>
    metricValue(registry, `viewmesh_graphql_${name}`, labels)
  metrics.finish('ok', { cost: 50, rows: 20, bytes: 900, elapsedMs: 1_500 })
  metrics.finish('refused', { cost: 3, rows: 0, bytes: 80, elapsedMs: 500 })
  assert.equal(await value('requests_total', { outcome: 'ok' }), 1)
  assert.equal(await value('requests_total', { outcome: 'refused' }), 1)
  assert.equal(await value('request_duration_seconds_sum'), 2)
  assert.equal(await value('rows_total'), 20)
  assert.equal(await value('documents_total'), 53)
})

test('plans, requests without memory and clients that were cut off are counted', async () => {
  const registry = new Registry()
  const held = { heldBytes: 7, planBytes: 8 }
  const metrics = createGraphqlMetrics(registry, {
    heldBytes: () => held.heldBytes,
    planBytes: () => held.planBytes,
  })
  metrics.planned('text')
  metrics.planned('cache')
  metrics.planned('cache')
  metrics.busy()
  metrics.cutOff()
  const read = async (name: string): Promise<number> =>
    metricValue(registry, `viewmesh_graphql_${name}`)
  assert.equal(await metricValue(registry, 'viewmesh_graphql_plans_total', { from: 'cache' }), 2)
  assert.deepEqual([await read('busy_total'), await read('slow_readers_total')], [1, 1])
  assert.deepEqual([await read('held_bytes'), await read('plan_bytes')], [7, 8])
  held.heldBytes = 9
  assert.equal(await read('held_bytes'), 9, 'as it is at each scrape')
})
