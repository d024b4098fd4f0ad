import assert from 'node:assert/strict'
import { test } from 'node:test'
import { observeState } from '../../../../operator/reconcile/evaluate/observed-state.ts'
import { parseHealth } from '../../../../operator/reconcile/observe/health-view.ts'
import { selectorLabels } from '../../../../operator/resources/names/metadata.ts'
import { podName } from '../../../../operator/resources/names/names.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { viewOf } from '../../support/operator-view.ts'

const host = readHost('host-minimal')
const { namespace } = host.metadata
const running: readonly KubernetesObject[] = [
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: podName(host, 0), namespace, uid: 'pod', labels: selectorLabels(host) },
    status: { podIP: '10.0.0.1' },
  } as KubernetesObject,
]
const view = viewOf(running)

test('observing reads what replicas reported last', () => {
  const report = parseHealth(JSON.stringify({ program: 'host', p2p: { self: { id: 'me' } } }))
  const observer = { view: () => report }
  const { pods, views } = observeState({ view, observer, now: () => new Date(0) }, host)
  assert.equal(pods.get(0)?.ip, '10.0.0.1')
  assert.equal(views.get(0)?.peerID, 'me')
})
