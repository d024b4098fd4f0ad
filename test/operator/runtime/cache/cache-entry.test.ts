import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cacheEntry, isSelected } from '../../../../operator/runtime/cache/cache-entry.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { builtinTypes } from '../../../../operator/runtime/client/resource-type.ts'

const type = builtinTypes.StatefulSet
const whole = (object: KubernetesObject): KubernetesObject => object

test('an object is kept with its kind, and without what is large and never read', () => {
  const metadata = {
    name: 'a',
    namespace: 'apps',
    uid: 'uid-a',
    resourceVersion: '7',
    managedFields: [{ manager: 'kubectl' }],
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', own: 'kept' },
  }
  const { managedFields: _, ...rest } = metadata
  const value = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { ...rest, annotations: { own: 'kept' } },
  }
  const identity = { key: 'apps/a', uid: 'uid-a', resourceVersion: '7' }
  assert.deepEqual(cacheEntry(type, whole, { metadata }), { ...identity, value })
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' }
  const bare = cacheEntry(type, whole, { metadata: { name: 'a', annotations } })
  assert.deepEqual(bare.value.metadata, { name: 'a' })
  assert.deepEqual([bare.key, bare.uid, bare.resourceVersion], ['a', '', ''])
})

test('an object is selected by its namespace and its labels, as far as they are asked for', () => {
  const object = { metadata: { name: 'a', namespace: 'apps', labels: { app: 'x' } } }
  for (const selection of [
    { type },
    { type, namespace: 'apps' },
    { type, labelSelector: 'app=x' },
    { type, namespace: 'apps', labelSelector: 'app in (x,y)' },
  ])
    assert.ok(isSelected(selection, object), JSON.stringify(selection))
  for (const selection of [
    { type, namespace: 'other' },
    { type, labelSelector: 'app=y' },
    { type, namespace: 'other', labelSelector: 'app=x' },
  ])
    assert.ok(!isSelected(selection, object), JSON.stringify(selection))
})
