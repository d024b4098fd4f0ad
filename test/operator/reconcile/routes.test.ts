import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routeChanges } from '../../../operator/reconcile/routes.ts'
import type { KubernetesObject } from '../../../operator/runtime/kubernetes-object.ts'
import { viewOf } from '../../support/operator-view.ts'

function hostOf(name: string, observedGeneration?: number): KubernetesObject {
  return {
    apiVersion: 'viewmesh.io/v1alpha1',
    kind: 'Host',
    metadata: { namespace: 'apps', name, generation: 2 },
    status: { observedGeneration },
  } as KubernetesObject
}

test('an operator that starts begins with what was changed while none was at work', () => {
  const added: string[] = []
  const add = (key: string, urgency: string): void => void added.push(`${key} ${urgency}`)
  const view = viewOf([hostOf('level', 2), hostOf('edited', 1), hostOf('new')])
  routeChanges(view, { Generator: { add }, Host: { add } })
  assert.deepEqual(added, ['apps/level resync', 'apps/edited user', 'apps/new user'])
})
