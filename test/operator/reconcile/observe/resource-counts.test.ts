import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import type { Host } from '../../../../operator/api.ts'
import { declareResourceCounts } from '../../../../operator/reconcile/observe/resource-counts.ts'
import { metricValue } from '../../../support/metric-value.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'

const host = readHost('host-minimal')

function withReasons(reasons: Readonly<Record<string, string>>): { readonly value: Host } {
  const conditions = Object.entries(reasons).map(([type, reason]) => ({
    type,
    reason,
    status: 'True' as const,
    lastTransitionTime: '2026-01-01T00:00:00Z',
    message: '',
  }))
  return { value: { ...host, status: { conditions } } }
}

test('resources are counted by kind, condition and reason, as they are at the scrape', async () => {
  const registry = new Registry()
  const known = [
    withReasons({ Ready: 'AllReady' }),
    withReasons({ Ready: 'Stalled', Stalled: 'Forbidden' }),
    withReasons({ Ready: 'Stalled', Stalled: 'Forbidden' }),
    { value: host },
  ]
  declareResourceCounts(registry, [{ list: () => known }])
  const count = async (condition: string, reason: string): Promise<number> =>
    await metricValue(registry, 'viewmesh_operator_resources', { kind: 'Host', condition, reason })
  assert.equal(await count('Stalled', 'Forbidden'), 2)
  assert.equal(await count('Ready', 'AllReady'), 1)
  known.splice(1, 2)
  assert.equal(await count('Stalled', 'Forbidden'), 0)
  assert.equal((await registry.metrics()).includes('Forbidden'), false)
})

test('conditions and reasons that are not in the table become no labels', async () => {
  const registry = new Registry()
  const known = [withReasons({ Ready: 'Invented', Invented: 'AllReady', Stalled: 'toString' })]
  declareResourceCounts(registry, [{ list: () => known }])
  assert.equal(await metricValue(registry, 'viewmesh_operator_resources'), 0)
})
