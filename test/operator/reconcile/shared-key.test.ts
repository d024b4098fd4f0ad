/** Two Hosts that are given one keyring key, which would be one peer twice. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host } from '../../../operator/api.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../support/resources/operator-cases.ts'
import { reconcileRoom } from '../support/reconcile-room.ts'

const minimal = readHost('host-minimal')
const { namespace } = minimal.metadata
const secretRef = { name: 'own' }
const spec = { ...minimal.spec, identity: { ...minimal.spec.identity, secretRef } }
const hostNamed = (name: string): Host => ({
  ...minimal,
  metadata: { ...minimal.metadata, name, uid: name },
  spec,
})
const [first, second] = [hostNamed('first'), hostNamed('second')]
const room = reconcileRoom(namespace)

const stalled = (host: Host): string | undefined => room.condition(host, 'Stalled')?.reason
const sets = (): string[] => room.writes().filter((text) => text.includes('statefulsets'))

test('of two Hosts with one key reconciled at once one runs, the other once that is gone', async () => {
  const data = { '0': Buffer.from('a'.repeat(64)).toString('base64') }
  room.server.put(`/api/v1/namespaces/${namespace}/secrets/own`, {
    kind: 'Secret',
    metadata: { namespace, name: 'own' },
    ...{ data },
  } as KubernetesObject)
  await room.put(first)
  await room.put(second)
  await Promise.all([room.reconcile(first), room.reconcile(second)])
  const reasons = [stalled(first), stalled(second)]
  assert.deepEqual(reasons.toSorted(), ['DuplicateKey', undefined])
  const [runs, waits] = reasons[0] === undefined ? [first, second] : [second, first]
  assert.deepEqual(sets(), [`PATCH statefulsets ${runs.metadata.name}-host`])
  assert.match(room.condition(waits, 'Stalled')?.message ?? '', /would have the peer ID/)

  await room.reconcile(waits)
  assert.equal(stalled(waits), 'DuplicateKey')
  await room.remove('Host', runs.metadata.name)
  await room.reconcile(runs)
  await room.reconcile(waits)
  assert.equal(stalled(waits), undefined)
  assert.deepEqual(sets(), [`PATCH statefulsets ${waits.metadata.name}-host`])
})
