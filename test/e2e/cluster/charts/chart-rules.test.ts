import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RenderedObject, refusalOf, renderChart } from '../support/helm.ts'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly runbook_url?: string }
}

/** The alerts of the operator's chart with these values. */
async function rulesOf(values: object = {}): Promise<readonly Rule[]> {
  const objects = await renderChart(
    'operator',
    { name: 'op', namespace: 'viewmesh' },
    {
      global: { imageRegistry: 'localhost' },
      metrics: { rules: { enabled: true, runbookUrl: 'https://example.org/alerts.md' } },
      ...values,
    },
  )
  const found = objects.find(({ kind }) => kind === 'PrometheusRule') as RenderedObject & {
    readonly spec: { readonly groups: readonly [{ readonly rules: readonly Rule[] }] }
  }
  return found.spec.groups[0].rules
}

test('that no operator leads is an alert about this release alone, also where none runs at all', async () => {
  const rule = (await rulesOf()).find(({ alert }) => alert === 'ViewmeshOperatorLeaderless')
  const lease = '{namespace="viewmesh",name="op-viewmesh-operator"}'
  assert.equal(
    rule?.expr,
    `sum by (namespace) (leader_election_master_status${lease}) == 0 or absent(leader_election_master_status${lease})`,
  )
})

test('without election nobody is expected to lead', async () => {
  const names = (await rulesOf({ leaderElection: { enabled: false } })).map(({ alert }) => alert)
  assert.equal(names.includes('ViewmeshOperatorLeaderless'), false)
  assert.equal(names.includes('ViewmeshStalled'), true)
})

test('alerts have no link without a runbook URL, and an invalid URL is refused', async () => {
  for (const { annotations } of await rulesOf({ metrics: { rules: { enabled: true } } })) {
    assert.deepEqual(Object.keys(annotations), ['summary'])
  }
  const rules = { enabled: true, runbookUrl: 'alerts.md' }
  assert.match(await refusalOf('operator', { metrics: { rules } }), /runbookUrl/)
})

test('every alert leads to its explanation', async () => {
  for (const { alert, annotations } of await rulesOf()) {
    assert.equal(annotations.runbook_url, `https://example.org/alerts.md#${alert.toLowerCase()}`)
  }
})
