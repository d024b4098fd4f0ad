import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { V1StatefulSet } from '@kubernetes/client-node'
import type { Host } from '../../../../operator/api.ts'
import {
  admissionFacts,
  noAnswers,
  rememberAnswer,
  unanswered,
} from '../../../../operator/reconcile/apply/answers.ts'
import type { EventParts } from '../../../../operator/reconcile/statements/record-event.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import type { Occurrence } from '../../../../operator/runtime/event-recorder.ts'
import { readHost } from '../../../support/resources/operator-cases.ts'
import { reconcileRoom } from '../../support/reconcile-room.ts'

const host = readHost('host-minimal')
const room = reconcileRoom(host.metadata.namespace)
const label = 'metadata.labels.app.kubernetes.io/part-of'
const pullPolicy = 'spec.template.spec.containers[host].imagePullPolicy'

/** As of a policy that has every image pulled, and one that labels what it sees. */
function admit(object: KubernetesObject): KubernetesObject {
  const admitted = structuredClone(object)
  if (admitted.kind === 'Host') return admitted
  if (admitted.kind === 'PersistentVolumeClaim') {
    Object.assign(admitted.metadata?.labels ?? {}, { 'app.kubernetes.io/name': 'theirs' })
  } else Object.assign(admitted.metadata?.labels ?? {}, { 'app.kubernetes.io/part-of': 'theirs' })
  for (const container of (admitted as V1StatefulSet).spec?.template?.spec?.containers ?? []) {
    container.imagePullPolicy = 'Always'
  }
  return admitted
}

/** The Host, with something in its pod template that admission changes. */
function withEnv(name: string): Host {
  const container = { name: 'host', imagePullPolicy: 'IfNotPresent', env: [{ name, value: '1' }] }
  return { ...host, spec: { ...host.spec, podTemplate: { spec: { containers: [container] } } } }
}

function reported(object: string, ...paths: readonly string[]): string {
  return `ChangedByAdmission ${object} has other values than the operator applied, as admission or a default of Kubernetes writes them: ${paths.join(', ')}. They are left so.`
}

/** Events about what was written since this was asked last. */
const written = (): string[] =>
  room.events.splice(0).filter((text) => /^(ChangedByAdmission|DriftCorrected) /.test(text))

/** Everything is fetched again, as by every poll. */
async function again(times = 1): Promise<void> {
  for (let round = 0; round < times; round += 1) {
    room.pass(60_000)
    await room.reconcile(host)
  }
}

beforeEach(async () => {
  room.server.admission.add(admit)
  await room.put(withEnv('A'))
  await room.reconcile(host)
  await room.start(host)
  await again()
})

test('what admission changes is written once and reported once, and is no drift', async () => {
  assert.deepEqual(written(), [
    reported('Secret mainnet-host-connection', label),
    reported('ServiceAccount mainnet-host', label),
    reported('ConfigMap mainnet-host-config', label),
    reported('Service mainnet-host-nodes', label),
    reported('Service mainnet-host', label),
    reported('NetworkPolicy mainnet-host', label),
    reported('StatefulSet mainnet-host', label, pullPolicy),
    reported('PersistentVolumeClaim keys-mainnet-host-0', 'metadata.labels.app.kubernetes.io/name'),
  ])
  room.writes()
  await again(3)
  assert.deepEqual([room.writes(), written()], [[], []])
})

test('what somebody changes beside that is drift, and put back', async () => {
  written()
  room.writes()
  await room.edit<V1StatefulSet>('StatefulSet', 'mainnet-host', ({ spec }) =>
    Object.assign(spec ?? {}, { replicas: 7 }),
  )
  await again(2)
  assert.deepEqual(room.writes(), ['PATCH statefulsets mainnet-host'])
  assert.deepEqual(written(), ['DriftCorrected StatefulSet mainnet-host had other spec.replicas.'])
  await room.edit<KubernetesObject>('Secret', 'mainnet-host-connection', (secret) =>
    Object.assign(secret, { data: {} }),
  )
  await again(2)
  assert.deepEqual(room.writes(), ['PATCH secrets mainnet-host-connection'])
  assert.deepEqual(written(), ['DriftCorrected Secret mainnet-host-connection had been changed.'])
})

test('where somebody changes just that, it is written again, and a new answer reported', async () => {
  written()
  await room.edit<KubernetesObject>('Secret', 'mainnet-host-connection', ({ metadata }) =>
    Object.assign(metadata?.labels ?? {}, { 'app.kubernetes.io/part-of': 'somebody' }),
  )
  await again(2)
  const connection = room.read('Secret', 'mainnet-host-connection')
  assert.equal(connection.metadata?.labels?.['app.kubernetes.io/part-of'], 'theirs')
  assert.deepEqual(written(), [])
  room.server.admission.clear()
  await room.edit<KubernetesObject>('Secret', 'mainnet-host-connection', ({ metadata }) =>
    Object.assign(metadata?.labels ?? {}, { 'app.kubernetes.io/part-of': 'somebody' }),
  )
  await again(2)
  assert.deepEqual(written(), ['DriftCorrected Secret mainnet-host-connection had been changed.'])
})

test('what somebody edits while an item of others is removed is drift, and put back', async () => {
  written()
  const isOurs = (set: V1StatefulSet & KubernetesObject): boolean => set.spec?.replicas === 1
  let edits = 0
  room.server.faults.add(({ method, path, body }) => {
    // The removal follows the apply: both are patches, and only this one is a list of operations.
    if (method !== 'PATCH' || !path.endsWith('/statefulsets/mainnet-host')) return false
    if (!Array.isArray(body) || edits > 0) return false
    edits += 1
    const live = room.read<V1StatefulSet & KubernetesObject>('StatefulSet', 'mainnet-host')
    if (live.spec) live.spec.replicas = 7
    room.server.put(path, live)
    return false
  })
  await room.edit<V1StatefulSet & KubernetesObject>('StatefulSet', 'mainnet-host', ({ spec }) => {
    const [variable] = spec?.template.spec?.containers[0]?.env ?? []
    if (variable) variable.name = 'ANOTHER'
  })
  await again(2)
  assert.equal(edits, 1)
  assert.ok(isOurs(room.read('StatefulSet', 'mainnet-host')))
  assert.deepEqual(
    written().filter((text) => text.startsWith('ChangedByAdmission')),
    [],
  )
})

test('a new spec is written, and what admission makes of it is not reported again', async () => {
  written()
  room.writes()
  const { metadata } = room.read<Host>('Host', 'mainnet')
  await room.put({ ...withEnv('B'), metadata: { ...metadata, generation: 2 } } as Host)
  await again(2)
  assert.deepEqual(room.writes(), ['PATCH statefulsets mainnet-host'])
  assert.deepEqual(written(), [])
})

const inStatus = (): unknown => room.read<Host>('Host', 'mainnet').status?.changedByAdmission

test('the next operator writes it once more, reports it not again, and takes it for no drift', async () => {
  written()
  room.restart()
  await again()
  room.writes()
  assert.deepEqual(written(), [])
  await again(2)
  assert.deepEqual([room.writes(), written()], [[], []])
})

test('the next operator reports what admission changes besides since then', async () => {
  written()
  room.server.admission.add((object) => {
    if (object.kind === 'ServiceAccount')
      Object.assign(object.metadata?.labels ?? {}, { 'app.kubernetes.io/managed-by': 'theirs' })
    return object
  })
  room.restart()
  await again()
  const more = 'metadata.labels.app.kubernetes.io/managed-by'
  assert.deepEqual(written(), [reported('ServiceAccount mainnet-host', more)])
})

test('status names what admission changed, and no longer once that is written as applied', async () => {
  const fields = [label]
  assert.deepEqual(inStatus(), [
    { object: 'ConfigMap mainnet-host-config', fields },
    { object: 'NetworkPolicy mainnet-host', fields },
    {
      object: 'PersistentVolumeClaim keys-mainnet-host-0',
      fields: ['metadata.labels.app.kubernetes.io/name'],
    },
    { object: 'Secret mainnet-host-connection', fields },
    { object: 'Service mainnet-host', fields },
    { object: 'Service mainnet-host-nodes', fields },
    { object: 'ServiceAccount mainnet-host', fields },
    { object: 'StatefulSet mainnet-host', fields: [label, pullPolicy] },
  ])
  room.server.admission.clear()
  room.restart()
  await again()
  assert.equal(inStatus(), undefined)
})

test('what Kubernetes writes in place of an empty value is no drift either', async () => {
  written()
  room.server.admission.clear()
  room.server.admission.add((object) => {
    const [container] = (object as V1StatefulSet).spec?.template?.spec?.containers ?? []
    if (container?.imagePullPolicy === '') container.imagePullPolicy = 'IfNotPresent'
    return object
  })
  const { metadata } = room.read<Host>('Host', 'mainnet')
  const podTemplate = { spec: { containers: [{ name: 'host', imagePullPolicy: '' }] } }
  const empty = { ...host, spec: { ...host.spec, podTemplate } }
  await room.put({ ...empty, metadata: { ...metadata, generation: 2 } } as Host)
  await again()
  assert.ok(written().includes(reported('StatefulSet mainnet-host', pullPolicy)))
  room.writes()
  await again(2)
  assert.deepEqual([room.writes(), written()], [[], []])
})

test('a status names 128 objects with 32 fields each, in their order', () => {
  const numbered = (name: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `${name}${String(index).padStart(3, '0')}`)
  const changes = numbered('Secret a', 129).map((object) => ({
    object,
    fields: numbered('data.', 33).toReversed(),
  }))
  const { changedByAdmission = [] } = admissionFacts(noAnswers(changes.toReversed()))
  const fields = numbered('data.', 32)
  assert.deepEqual(
    changedByAdmission,
    numbered('Secret a', 128).map((object) => ({ object, fields })),
  )
  assert.deepEqual(admissionFacts(noAnswers()), {})
})

test('what admission takes away is an answer as well, and what is there later is none', () => {
  const notes: string[] = []
  const parts = {
    events: { record: (_: unknown, __: unknown, { note }: Occurrence) => notes.push(note) },
  } as unknown as EventParts
  const wanted = { kind: 'Secret', metadata: { name: 'a' } }
  const answers = noAnswers()
  const gone = { path: 'data.x', live: undefined, addition: null }
  rememberAnswer(parts, host, { answers, wanted, drift: [gone] })
  assert.match(notes.join(), /^Secret a has other values than the operator applied, .*: data\.x\./)
  assert.deepEqual(unanswered(answers, wanted, [gone]), [])
  const there = { ...gone, live: 'another' }
  assert.deepEqual(unanswered(answers, wanted, [there]), [there])
  const other = { ...wanted, metadata: { ...wanted.metadata, labels: { a: 'b' } } }
  assert.deepEqual(unanswered(answers, other, [gone]), [gone], 'it is none to another object')
  rememberAnswer(parts, host, { answers, wanted, drift: [] })
  assert.deepEqual(unanswered(answers, wanted, [gone]), [gone], 'it was written as applied since')
})
