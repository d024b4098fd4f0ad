/** What a Host counts of Views that are computed for queries. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { createStreamMetrics } from '../../../src/host/streams/metrics.ts'
import { metricValue } from '../../support/metric-value.ts'

test('rows, values that became null and ends of streams are counted', async () => {
  const registry = new Registry()
  const metrics = createStreamMetrics(registry)
  metrics.rows(4)
  metrics.mismatches(2)
  metrics.ended('limited', 0.3)
  assert.equal(await metricValue(registry, 'viewmesh_host_view_stream_rows_total'), 4)
  assert.equal(await metricValue(registry, 'viewmesh_host_view_stream_mismatches_total'), 2)
  const ended = await metricValue(registry, 'viewmesh_host_view_stream_seconds_count', {
    outcome: 'limited',
  })
  assert.equal(ended, 1)
})
