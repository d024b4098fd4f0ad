/** A Host whose keys are lost with their claim, while its pods still run, and claims that are not what they were. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Pod } from '@kubernetes/client-node'
import type { Host } from '../../../operator/api.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { readHost } from '../../support/resources/operator-cases.ts'
import { send, status } from '../support/kubernetes-server.ts'
import { reconcileRoom } from '../support/reconcile-room.ts'

const host = readHost('host-minimal')
const room = reconcileRoom(host.metadata.namespace)

async function started(): Promise<void> {
  await room.put(host)
  await room.reconcile(host)
  await room.start(host)
  await room.reconcile(host)
  room.writes()
}

test('its StatefulSet goes before it can make an empty claim, and its pods stay with the Host', async () => {
  await started()
  await room.remove('PersistentVolumeClaim', 'keys-mainnet-host-0')
  await room.reconcile(host)
  assert.equal(room.condition(host, 'Stalled')?.reason, 'KeysClaimMissing')
  assert.deepEqual(room.writes(), [
    'PATCH configmaps mainnet-host-config',
    'DELETE statefulsets mainnet-host',
    'PATCH pods mainnet-host-0',
  ])
  const [owner] =
    room.read<V1Pod & KubernetesObject>('Pod', 'mainnet-host-0').metadata?.ownerReferences ?? []
  assert.equal(owner?.kind, 'Host')
  assert.deepEqual(
    room.events.filter((text) => text.startsWith('StatefulSetRemoved ')),
    [
      'StatefulSetRemoved StatefulSet mainnet-host was removed without its pods, which go on running.',
    ],
  )
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [], 'nothing more is done until the claim is back')
})

test('why the Host is stopped is said also where its pods may not be given an owner', async () => {
  await started()
  await room.remove('PersistentVolumeClaim', 'keys-mainnet-host-0')
  await room.remove('StatefulSet', 'mainnet-host')
  room.server.faults.add(({ method, path }, response) => {
    if (method !== 'PATCH' || !path.includes('/pods/')) return false
    send(response, 403, status(403, 'Forbidden', 'no'))
    return true
  })
  await room.reconcile(host)
  assert.equal(room.condition(host, 'Stalled')?.reason, 'KeysClaimMissing')
})

test('why the Host is stopped is said also while its StatefulSet cannot be removed', async () => {
  await started()
  await room.remove('PersistentVolumeClaim', 'keys-mainnet-host-0')
  room.server.faults.add(({ method }, response) => {
    if (method !== 'DELETE') return false
    send(response, 500, status(500, 'InternalError', 'no'))
    return true
  })
  for (const _ of [1, 2])
    await assert.rejects(room.reconcile(host), { code: 'OPERATOR_API_FAILED' })
  assert.equal(room.condition(host, 'Stalled')?.reason, 'KeysClaimMissing')
  assert.deepEqual(room.log.messages('warn'), [])
})

test('what is to outlive the Host follows its policies meanwhile, and the advice follows that', async () => {
  const { identity, storage } = host.spec
  const spec = (policy: 'Delete' | 'Retain', ofData: 'Delete' | 'Retain'): object => ({
    identity: { ...identity, deletionPolicy: policy },
    storage: { ...storage, data: { ...storage.data, deletionPolicy: ofData } },
  })
  const change = async (more: object): Promise<string[]> => {
    await room.edit<Host>('Host', 'mainnet', (live) => Object.assign(live.spec, more))
    await room.reconcile(host)
    return room.writes()
  }
  const advice = (): string => room.condition(host, 'Stalled')?.message ?? ''
  await room.put({ ...host, spec: { ...host.spec, ...spec('Delete', 'Delete') } } as Host)
  await room.reconcile(host)
  await room.start(host)
  await room.reconcile(host)
  await room.remove('PersistentVolumeClaim', 'keys-mainnet-host-0')
  await room.reconcile(host)
  assert.match(advice(), /first set spec\.identity\.deletionPolicy to Retain/)
  room.writes()
  const [secret, claim] = ['PATCH secrets mainnet-host-keyring', 'PATCH persistentvolumeclaims']
  assert.deepEqual(await change(spec('Retain', 'Delete')), [secret])
  assert.doesNotMatch(advice(), /deletionPolicy/)
  assert.deepEqual(await change({}), [])
  assert.deepEqual(await change(spec('Retain', 'Retain')), [`${claim} data-mainnet-host-0`])
})

test('a claim that has lost its labels is not lost, and gets them again', async () => {
  await started()
  await room.edit('PersistentVolumeClaim', 'keys-mainnet-host-0', ({ metadata }) =>
    Object.assign(metadata ?? {}, { labels: {} }),
  )
  await room.reconcile(host)
  assert.equal(room.condition(host, 'Stalled'), undefined)
  assert.deepEqual(room.writes(), ['PATCH persistentvolumeclaims keys-mainnet-host-0'])
})

test('a claim that is said to hold another chain stops its Host', async () => {
  await started()
  await room.edit('PersistentVolumeClaim', 'data-mainnet-host-0', ({ metadata }) =>
    Object.assign(metadata?.annotations ?? {}, { 'viewmesh.io/network': 'Ethereum__Sepolia' }),
  )
  await room.reconcile(host)
  const { reason, message } = room.condition(host, 'Stalled') ?? {}
  assert.equal(reason, 'ChainMismatch')
  assert.match(message ?? '', /: data-mainnet-host-0 \(Ethereum__Sepolia\)\. /)
  assert.deepEqual(room.writes(), [])
})
