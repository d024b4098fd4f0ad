import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host, ViewResource } from '../../../../operator/api.ts'
import { selectsHost } from '../../../../operator/resources/names/host-selector.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'

type Labels = Readonly<Record<string, string>>

const minimal = readHost('host-minimal')

/** Whether a View that asks for these labels is for a Host with those. */
function selects(matchLabels: Labels | undefined, labels: Labels, namespace = 'apps'): boolean {
  const host: Host = { ...minimal, metadata: { ...minimal.metadata, labels } }
  const hostSelector = matchLabels === undefined ? {} : { matchLabels }
  return selectsHost({ metadata: { namespace }, spec: { hostSelector } } as ViewResource, host)
}

test('a View is for the Hosts of its namespace that have all labels of its selector', () => {
  const labels = { team: 'data', tier: 'one' }
  assert.ok(selects({ team: 'data' }, labels))
  assert.ok(selects({ team: 'data', tier: 'one' }, labels))
  assert.ok(!selects({ team: 'data', tier: 'two' }, labels))
  assert.ok(!selects({ other: 'data' }, labels))
  assert.ok(!selects({ constructor: '' }, {}))
  assert.ok(!selects({ team: 'data' }, labels, 'other'))
})

test('a View without a selector is for all Hosts of its namespace', () => {
  assert.ok(selects(undefined, {}) && selects({}, { team: 'data' }))
  assert.ok(!selects(undefined, {}, 'other'))
})
