/** What a Host counts of Views that are computed for queries. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { type ErrorCode, ServiceError } from '../../../src/errors.ts'
import { createStreamMetrics, endOf } from '../../../src/host/streams/metrics.ts'
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

test('a stream ends by its client, a limit, too many others, or its own fault', () => {
  const failed = (code: ErrorCode): string => endOf(new ServiceError(code, 'so it is'))
  const left = new AbortController()
  left.abort()
  assert.equal(endOf(left.signal.reason), 'stopped')
  assert.equal(failed('HOST_VIEW_BUSY'), 'busy')
  assert.deepEqual(
    (['LENS_TIME_LIMIT', 'LENS_OUTPUT_LIMIT', 'VIEWS_SELECTION_TOO_LARGE'] as const).map(failed),
    ['limited', 'limited', 'limited'],
  )
  assert.equal(failed('LENS_TRAPPED'), 'failed')
  const others = [new Error('a mistake'), new DOMException('no clone', 'DataCloneError'), 'text']
  assert.deepEqual(others.map(endOf), ['failed', 'failed', 'failed'])
})
