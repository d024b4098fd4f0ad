import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addMutatingPolicies } from '../../e2e/cluster/support/admission/admission.ts'
import {
  isLeft,
  removeLeftovers,
  testLabel,
  testLabels,
} from '../../e2e/cluster/support/leftovers.ts'

const group = '/apis/admissionregistration.k8s.io/v1beta1'

test('policies that a killed test left go, also in a cluster that knows no newer version', async () => {
  const deleted: string[] = []
  const labels = { [testLabel]: 'elsewhere.1.1' }
  const removed = await removeLeftovers(async (method, path) => {
    if (method === 'DELETE') deleted.push(path)
    if (!path.startsWith(`${group}/mutating`)) return { status: 404, body: { items: [null] } }
    const items = [{ metadata: { name: 'a', labels, creationTimestamp: '2026-01-01T00:00:00Z' } }]
    return { status: 200, body: { items } }
  })
  const left = ['policybindings', 'policies'].map((one) => `${group}/mutatingadmission${one}/a`)
  assert.deepEqual([removed, deleted], [left, left])
})

test('policies that a test makes say which process made them', async () => {
  const made: { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } }[] = []
  const cluster = { apply: async (_: string, object: never) => made.push(object) }
  await addMutatingPolicies(cluster as never, 'apps', 'v1beta1')
  assert.equal(made.length, 4)
  for (const { metadata } of made) {
    assert.deepEqual(metadata.labels, testLabels())
    assert.equal(isLeft({ metadata }, Date.now()), false)
  }
})
