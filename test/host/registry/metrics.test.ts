/** What a Host counts of the Views of the registry chain. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { createHostRegistryMetrics } from '../../../src/host/registry/metrics.ts'
import type { RegistryState } from '../../../src/registry/follow.ts'
import type { RegistryHealthReport } from '../../../src/service/contract.ts'
import { metricValue } from '../../support/metric-value.ts'

const report: RegistryHealthReport = {
  state: 'live',
  last_listed: null,
  listed: 5,
  served: 3,
  over_limit: 2,
  denied: 0,
  refused: 0,
  foreign: 0,
}

test('figures of the registry chain say how it is followed and what became of its Views', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 })
  const metrics = new Registry()
  let state: RegistryState = {
    stream: 'live',
    listedAtMs: Date.now() - 60_000,
    listed: 5,
    listFailure: null,
    streamFailure: null,
  }
  const fetched = createHostRegistryMetrics(metrics, {
    following: () => state,
    report: () => report,
  })
  fetched('served')
  fetched('refused')
  fetched('refused')
  const fetchedViews = 'viewmesh_registry_fetched_views_total'
  assert.equal(await metricValue(metrics, fetchedViews, { outcome: 'served' }), 1)
  assert.equal(await metricValue(metrics, fetchedViews, { outcome: 'refused' }), 2)
  assert.equal(await metricValue(metrics, 'viewmesh_registry_subscribed'), 1)
  assert.equal(await metricValue(metrics, 'viewmesh_registry_served_views'), 3)
  assert.equal(await metricValue(metrics, 'viewmesh_registry_over_limit_views'), 2)
  assert.equal(await metricValue(metrics, 'viewmesh_registry_list_age_seconds'), 60)
  t.mock.timers.tick(7_000)
  state = { ...state, stream: 'connecting', listedAtMs: null }
  assert.equal(await metricValue(metrics, 'viewmesh_registry_subscribed'), 0)
  assert.equal(await metricValue(metrics, 'viewmesh_registry_list_age_seconds'), 7)
  state = { ...state, stream: 'off' }
  assert.doesNotMatch(await metrics.metrics(), /^viewmesh_registry_subscribed/m)
})

test('without a registry chain its figures are absent, and not zero', async () => {
  const metrics = new Registry()
  createHostRegistryMetrics(metrics, { following: () => null, report: () => null })
  assert.doesNotMatch(await metrics.metrics(), /^viewmesh_registry_(?!fetched)/m)
})
