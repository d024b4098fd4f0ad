/** Two Hosts that are given one keyring key, which would be one peer twice, and one that only says it had another's. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { labels, records } from '../../../operator/api/annotations.ts'
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

test('a Host whose claim has other keys hears of that before of a key that another one has', async () => {
  const data = { '0': Buffer.from('a'.repeat(64)).toString('base64') }
  const secret = { kind: 'Secret', metadata: { namespace, name: 'own' }, ...{ data } }
  await room.put(secret as KubernetesObject)
  await room.put(first)
  await room.reconcile(first)
  const claim = {
    ...{ namespace, name: 'keys-second-host-0' },
    labels: { [labels.name]: 'host', [labels.instance]: 'second', [labels.holds]: 'keys' },
    annotations: { [records.keyringFingerprint]: 'f'.repeat(16) },
  }
  await room.put(second)
  await room.reconcile(second)
  assert.equal(stalled(second), 'DuplicateKey')
  await room.put({ kind: 'PersistentVolumeClaim', metadata: claim })
  await room.reconcile(second)
  assert.equal(stalled(second), 'IdentityConflict')
})

test('a claim that was marked with the fingerprint of another Host takes its key from nobody', async () => {
  const [victim, thief] = ['victim', 'a-thief'].map((name): Host => {
    const { metadata, spec: wanted } = minimal
    return { ...minimal, metadata: { ...metadata, name, uid: name }, spec: wanted }
  }) as [Host, Host]
  const run = async (): Promise<void> => {
    await room.reconcile(thief)
    await room.reconcile(victim)
  }
  await room.put(victim)
  await room.reconcile(victim)
  await room.start(victim)
  await room.reconcile(victim)
  const [node] = room.read<Host>('Host', 'victim').status?.nodes ?? []
  const fingerprint = node?.keyringFingerprint ?? assert.fail('the victim has no key')

  await room.put(thief)
  await room.put({
    kind: 'Secret',
    metadata: { namespace, name: 'a-thief-host-keyring' },
    ...{ data: { '0': Buffer.from('b'.repeat(64)).toString('base64') } },
  } as KubernetesObject)
  await room.put({
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...{ namespace, name: 'keys-a-thief-host-0' },
      labels: { [labels.name]: 'host', [labels.instance]: 'a-thief', [labels.holds]: 'keys' },
      annotations: { [records.keyringFingerprint]: fingerprint },
    },
  })
  await run()
  room.restart()
  await run()
  assert.deepEqual([stalled(thief), stalled(victim)], ['IdentityConflict', undefined])

  await room.remove('Host', 'victim')
  await run()
  await room.put({ ...victim, metadata: { ...victim.metadata, uid: 'again' } })
  await run()
  assert.deepEqual([stalled(thief), stalled(victim)], ['IdentityConflict', undefined])
})
