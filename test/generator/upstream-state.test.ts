/** A head that stands still is reported: by the time since which it is the head, and by a gauge of its age. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { type UpstreamState, watchUpstream } from '../../src/generator/read/upstream-state.ts'
import { createGeneratorStatus, declareGauges } from '../../src/generator/status.ts'
import { metricValue } from '../support/metric-value.ts'

const node = { mode: () => 'http' as const, failure: () => null }

test('the time of a head is that at which it came, and stays while none follows', (t) => {
  const states: UpstreamState[] = []
  let nowMs = 1_000
  const watch = watchUpstream(
    node,
    (state) => states.push(state),
    () => nowMs,
  )
  t.after(watch.close)
  watch.setHead(5)
  nowMs = 9_000
  watch.setFailure(null)
  watch.setHead(5)
  assert.deepEqual(
    states.map(({ head, headSinceMs }) => [head, headSinceMs]),
    [
      [5, 1_000],
      [5, 9_000],
    ],
    'another block of the same height is another head',
  )
})

test('/health has the time, and /metrics the age, of the head of a node that stands still', async () => {
  const status = createGeneratorStatus({ chainName: 'Local', chainNetwork: 'Devnet' })
  const registry = new Registry()
  declareGauges(status, registry)
  const age = 'viewmesh_generator_source_head_age_seconds'
  assert.equal(status.state().sourceHeadSinceMs, null)
  assert.doesNotMatch(await registry.metrics(), new RegExp(`^${age} `, 'm'))
  const headSinceMs = Date.now() - 120_000
  status.onUpstream({ head: 7, headSinceMs, mode: 'http', error: null })
  const { sourceHead, sourceHeadSinceMs } = status.state()
  assert.deepEqual([sourceHead, sourceHeadSinceMs], [7, headSinceMs])
  assert.ok((await metricValue(registry, age)) >= 120)
})
