import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Pod, V1StatefulSet } from '@kubernetes/client-node'
import { requests } from '../../../operator/api/annotations.ts'
import type { Generator, Host, Workload } from '../../../operator/api.ts'
import { parseHealth } from '../../../operator/reconcile/observe/health-view.ts'
import { ownerReference } from '../../../operator/resources/names/metadata.ts'
import { childNames, claimName } from '../../../operator/resources/names/names.ts'
import { claimLabels } from '../../../operator/resources/objects/claims.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { builtinTypes } from '../../../operator/runtime/client/resource-type.ts'
import { readGenerator, readHost } from '../../support/resources/operator-cases.ts'
import { type Fault, send, status } from '../support/kubernetes-server.ts'
import { reconcileRoom } from '../support/reconcile-room.ts'

const host = readHost('host-minimal')
/** Its execution node is at a URL, which nothing waits for. */
const url = readGenerator('generator-url')
const generator: Generator = {
  ...url,
  metadata: { ...url.metadata, namespace: host.metadata.namespace },
}
const room = reconcileRoom(host.metadata.namespace)

const objects = [
  'PATCH serviceaccounts mainnet-host',
  'PATCH configmaps mainnet-host-config',
  'PATCH services mainnet-host-nodes',
  'PATCH services mainnet-host',
  'PATCH networkpolicies mainnet-host',
  'PATCH statefulsets mainnet-host',
]

/** What is said of Ready, in short. */
const ready = (): string => {
  const { status, reason, observedGeneration } = room.condition(host, 'Ready') ?? {}
  return `${status} ${reason} ${observedGeneration}`
}

/** A Host of which everything is written and ready. */
async function started(of: Host | Generator = host): Promise<void> {
  await room.put(of)
  await room.reconcile(of)
  await room.start(of)
  await room.reconcile(of)
  room.writes()
}

test('a new Host gets its Secrets, then its objects, the StatefulSet last', async () => {
  await room.put(host)
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [
    'PATCH secrets mainnet-host-connection',
    'POST secrets mainnet-host-keyring',
    ...objects,
  ])
  assert.equal(ready(), 'False WaitingForStorage 1')
})

test('while a claim of a deleted namesake goes away, nothing is written, Secrets neither', async () => {
  const { namespace } = host.metadata
  const ownerReferences = [{ ...ownerReference(host), uid: 'former' }]
  const labels = claimLabels(host, 'keys')
  const metadata = { name: claimName(host, 'keys', 0), namespace, labels, ownerReferences }
  await room.put(host)
  await room.put({ kind: 'PersistentVolumeClaim', metadata } as KubernetesObject)
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [])
  assert.match(room.condition(host, 'Reconciling')?.message ?? '', /keys-mainnet-host-0/)
  await room.remove('PersistentVolumeClaim', metadata.name)
  await room.reconcile(host)
  assert.deepEqual(room.writes().slice(0, 1), ['PATCH secrets mainnet-host-connection'])
})

test('what is as it should be is written no more, also not by the next operator', async () => {
  await started()
  assert.equal(ready(), 'True AllReady 1')
  await room.reconcile(host)
  room.restart()
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [])
})

test('of a paused Host nothing is written but its status', async () => {
  const paused = { ...host, spec: { ...host.spec, paused: true } }
  await room.put(paused)
  for (const _ of [1, 2]) {
    await room.reconcile(paused)
    assert.match(room.condition(host, 'Paused')?.message ?? '', /Secret mainnet-host-connection/)
  }
  assert.equal(ready(), 'False Paused 1')
  assert.throws(() => room.read('Secret', 'mainnet-host-connection'))
  assert.throws(() => room.read('StatefulSet', 'mainnet-host'))
})

test('keys that are to be deleted with the Host go with it as soon as its spec says so', async () => {
  await started()
  await room.edit<Host>('Host', 'mainnet', ({ spec }) =>
    Object.assign(spec, { identity: { ...spec.identity, deletionPolicy: 'Delete' } }),
  )
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [
    'PATCH secrets mainnet-host-keyring',
    'PATCH persistentvolumeclaims keys-mainnet-host-0',
  ])
  const { metadata } = room.read<KubernetesObject>('Secret', 'mainnet-host-keyring')
  const owners = (metadata ?? {}) as V1Pod['metadata']
  assert.deepEqual(
    owners?.ownerReferences?.map(({ uid }) => uid),
    [host.metadata.uid],
  )
  await room.reconcile(host)
  assert.deepEqual(room.writes(), [])
})

test('a spec that could not be written is not reported as ready, nor as observed', async () => {
  await started()
  const image = { ...host.spec.image, tag: '2' }
  const { metadata, spec } = host
  await room.edit<Host>('Host', 'mainnet', (live) =>
    Object.assign(live, {
      metadata: { ...live.metadata, generation: 2 },
      spec: { ...spec, image },
    }),
  )
  const webhook: Fault = ({ method, path }, response) => {
    if (method !== 'PATCH' || !path.endsWith('/statefulsets/mainnet-host')) return false
    send(response, 500, status(500, 'InternalError', 'failed calling webhook "a": refused'))
    return true
  }
  const observed = (): number | undefined =>
    room.read<Host>('Host', metadata.name).status?.observedGeneration
  const failure =
    'apply statefulsets apps/mainnet-host: 500 failed calling webhook "a": refused. See the log of the API server if this does not pass.'
  room.server.faults.add(webhook)
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await assert.rejects(room.reconcile(host), { code: 'OPERATOR_API_FAILED' })
    assert.deepEqual([ready(), observed()], ['False Pending 2', 1])
    assert.equal(
      room.condition(host, 'Ready')?.message,
      `The pods are ready, but not all of this spec could be written yet: ${failure}`,
    )
    assert.equal(room.condition(host, 'Reconciling')?.message, failure)
  }
  room.server.faults.clear()
  await room.reconcile(host)
  assert.deepEqual([ready(), observed()], ['True AllReady 2', 2])
  room.server.faults.add(webhook)
  await room.edit<V1StatefulSet>('StatefulSet', 'mainnet-host', ({ spec }) =>
    Object.assign(spec ?? {}, { minReadySeconds: 7 }),
  )
  await assert.rejects(room.reconcile(host))
  assert.deepEqual([ready(), observed()], ['True AllReady 2', 2])
})

test('a new resource of which nothing could be written is not observed', async () => {
  room.server.faults.add(({ method, path }, response) => {
    if (method !== 'PATCH' || !path.includes('/services/')) return false
    send(response, 500, status(500, 'InternalError', 'no'))
    return true
  })
  await room.put(host)
  await assert.rejects(room.reconcile(host))
  assert.equal(room.read<Host>('Host', 'mainnet').status?.observedGeneration, -1)
  assert.match(
    room.condition(host, 'Ready')?.message ?? '',
    /^Not all of this spec could be written yet: apply services apps\/mainnet-host\S*: 500 no/,
  )
})

/** The API server fails whoever writes a StatefulSet. */
const failingSets: Fault = ({ method, path }, response) => {
  if (method !== 'PATCH' || !path.includes('/statefulsets/')) return false
  send(response, 500, status(500, 'InternalError', 'no'))
  return true
}

for (const resource of [host, generator]) {
  const { kind } = resource
  const { base } = childNames(resource)

  test(`Ready of a ${kind} says why a StatefulSet that was removed is not written again`, async () => {
    await started(resource)
    await room.remove('StatefulSet', base)
    room.server.faults.add(failingSets)
    await assert.rejects(room.reconcile(resource), { code: 'OPERATOR_API_FAILED' })
    const { status: value, reason, message } = room.condition(resource, 'Ready') ?? {}
    assert.deepEqual([value, reason], ['False', 'Pending'])
    assert.ok(
      message?.startsWith(
        `Not all of this spec could be written yet: apply statefulsets apps/${base}: 500 no`,
      ),
      message,
    )
  })

  const ownersOfPod = (): unknown[] =>
    (room.read<V1Pod & KubernetesObject>('Pod', `${base}-0`).metadata?.ownerReferences ?? []).map(
      ({ uid }) => uid,
    )

  test(`pods without a StatefulSet get the ${kind} as owner also where it cannot be evaluated`, async () => {
    await started(resource)
    await room.remove('StatefulSet', base)
    room.restart()
    room.server.faults.add(({ method, path }, response) => {
      if (method !== 'GET' || !path.includes('/secrets/')) return false
      send(response, 500, status(500, 'InternalError', 'no'))
      return true
    })
    await assert.rejects(room.reconcile(resource))
    assert.deepEqual(ownersOfPod(), [resource.metadata.uid])
  })

  test(`a ${kind} whose pods may not be given an owner is written, and says Forbidden`, async () => {
    await started(resource)
    await room.remove('StatefulSet', base)
    const refusing: Fault = ({ method, path }, response) => {
      if (method !== 'PATCH' || !path.includes('/pods/')) return false
      send(response, 403, status(403, 'Forbidden', 'no'))
      return true
    }
    room.server.faults.add(refusing)
    assert.equal((await room.reconcile(resource)).isTerminal, true)
    assert.equal(room.condition(resource, 'Stalled')?.reason, 'Forbidden')
    const written = room.writes()
    assert.ok(written.includes(`PATCH statefulsets ${base}`))
    assert.equal(written.filter((write) => write.startsWith('PATCH pods')).length, 1, 'no retry')
    room.server.faults.clear()
    await room.remove('StatefulSet', base)
    await room.reconcile(resource)
    assert.equal(room.condition(resource, 'Stalled'), undefined)
    assert.deepEqual(ownersOfPod(), [resource.metadata.uid])
  })

  test(`a paused ${kind} without a StatefulSet says that its pods stay`, async () => {
    await started(resource)
    await room.remove('StatefulSet', base)
    await room.edit<Workload & KubernetesObject>(kind, resource.metadata.name, ({ spec }) =>
      Object.assign(spec, { paused: true }),
    )
    await room.reconcile(resource)
    assert.match(room.condition(resource, 'Ready')?.message ?? '', /stay if it is deleted\.$/)
    assert.deepEqual(ownersOfPod(), [])
  })

  test(`a request to reconcile a ${kind} is handled only once all of it is written`, async () => {
    await started(resource)
    room.server.faults.add(failingSets)
    await room.edit(kind, resource.metadata.name, ({ metadata }) =>
      Object.assign(metadata ?? {}, {
        annotations: { [requests.rollAt]: 'now', [requests.reconcileAt]: 'now' },
      }),
    )
    const handled = (): unknown =>
      room.read<Workload & KubernetesObject>(kind, resource.metadata.name).status
        ?.lastHandledReconcileAt
    await assert.rejects(room.reconcile(resource), { code: 'OPERATOR_API_FAILED' })
    assert.equal(handled(), undefined)
    room.server.faults.clear()
    await room.reconcile(resource)
    assert.equal(handled(), 'now')
  })
}

test('what only a person can mend is a warning once, and again where something else is wrong', async () => {
  await room.put(host)
  const refuse =
    (text: string): Fault =>
    ({ method, path }, response) => {
      if (method !== 'PATCH' || !path.includes('/statefulsets/')) return false
      send(response, 422, status(422, 'Invalid', text))
      return true
    }
  const warnings = (): number =>
    room.log.messages('warn').filter((text) => text === 'stopped until a person acts').length
  const [first, second] = [refuse('one thing is wrong'), refuse('another thing is wrong')]
  room.server.faults.add(first)
  for (let times = 0; times < 3; times++) await room.reconcile(host)
  assert.equal(room.condition(host, 'Stalled')?.status, 'True')
  assert.equal(warnings(), 1)
  room.server.faults.clear()
  room.server.faults.add(second)
  for (let times = 0; times < 3; times++) await room.reconcile(host)
  assert.equal(warnings(), 2)
})

test('of a Host that is being deleted nothing is written any more, and no pod is asked', async () => {
  await started()
  await room.edit<V1Pod & KubernetesObject>('Pod', 'mainnet-host-0', (pod) => {
    pod.status = { ...pod.status, podIP: '10.0.0.1' }
  })
  await room.reconcile(host)
  assert.equal(room.watched(host), 1)
  await room.edit<Host>('Host', 'mainnet', ({ metadata }) =>
    Object.assign(metadata, { deletionTimestamp: '2026-01-01T12:00:00Z' }),
  )
  room.server.remove('/api/v1/namespaces/apps/services/mainnet-host')
  assert.deepEqual([await room.reconcile(host), room.writes()], [{}, []])
  assert.equal(room.watched(host), 0)
})

for (const kind of ['Pod', 'PersistentVolumeClaim'] as const) {
  test(`nothing follows from what was known of a ${kind} once it may not be read any more`, async () => {
    await started()
    const { plural } = builtinTypes[kind]
    const refusing: Fault = ({ path, method }, response) => {
      if (method !== 'GET' || !path.endsWith(`/${plural}`)) return false
      send(response, 403, status(403, 'Forbidden'))
      return true
    }
    room.server.faults.add(refusing)
    const lost = room.turn(kind)
    room.server.dropWatches()
    await lost
    await room.edit<Host>('Host', 'mainnet', ({ spec }) => Object.assign(spec, { replicas: 3 }))
    assert.equal((await room.reconcile(host)).isTerminal, true)
    assert.deepEqual(room.writes(), [])
    const { status: value, reason, message } = room.condition(host, 'Stalled') ?? {}
    assert.deepEqual([value, reason], ['True', 'Forbidden'])
    assert.match(message ?? '', new RegExp(`^(list|watch) ${plural}: 403 `))
    const found = room.turn(kind)
    room.server.faults.delete(refusing)
    await found
    await room.reconcile(host)
    assert.equal(room.condition(host, 'Stalled'), undefined)
    assert.ok(room.writes().includes('PATCH statefulsets mainnet-host'))
  })
}

test('a replica that signs with another key is reported in an Event, with both keys', async () => {
  await started(generator)
  await room.edit<V1Pod & KubernetesObject>('Pod', 'mainnet-generator-0', (pod) => {
    pod.status = { ...pod.status, podIP: '10.0.0.1' }
  })
  const sign = async (identity: string): Promise<string[]> => {
    const report = { program: 'generator', identity, p2p: { self: { id: 'peer' }, peers: [] } }
    room.answer(new Map([[0, parseHealth(JSON.stringify(report))]]))
    await room.reconcile(generator)
    return room.events.splice(0).filter((text) => text.startsWith('SigningKeyChanged '))
  }
  const [before, after] = ['ab'.repeat(32), 'cd'.repeat(32)]
  assert.deepEqual(await sign(before), [])
  assert.deepEqual(await sign(after), [
    `SigningKeyChanged Replica 0 signs with ${after}, and did with ${before}.`,
  ])
  assert.deepEqual(await sign(after), [])
})
