import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Service, V1StatefulSet } from '@kubernetes/client-node'
import type { Host } from '../../../../operator/api.ts'
import {
  applyDifference,
  type Difference,
  differencesOf,
  findUnwatched,
  isOfDeleted,
} from '../../../../operator/reconcile/apply/children.ts'
import { nothingKnown } from '../../../../operator/reconcile/apply/resource-memory.ts'
import { hostObjects } from '../../../../operator/resources/host-objects.ts'
import type { ChildObject } from '../../../../operator/resources/objects/child-object.ts'
import { hasCode } from '../../../../operator/runtime/client/api-error.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { builtinTypes } from '../../../../operator/runtime/client/resource-type.ts'
import type { Occurrence } from '../../../../operator/runtime/event-recorder.ts'
import { hostContext, readHost } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { send, status } from '../../support/kubernetes-server.ts'
import { viewOf } from '../../support/operator-view.ts'

const host = readHost('host-full')
const { objects: wanted } = hostObjects(host, hostContext)
const never = nothingKnown()
const room = kubernetesRoom()

const reported = (found: readonly Difference[]): string[] =>
  found.map(({ action, kind, name, drift }) =>
    [action, kind, name, ...drift.map(({ path }) => path)].join(' '),
  )

/** What was written, as it is there afterwards. */
function written(objects: readonly ChildObject[]): KubernetesObject[] {
  return differencesOf({ view: viewOf([]) }, host, objects, never).flatMap(
    ({ object }) => (object as KubernetesObject | null) ?? [],
  )
}

function edited(name: string, kind: string, change: (object: never) => void): KubernetesObject[] {
  return written(wanted).map((object) => {
    if (object.kind !== kind || object.metadata?.name !== name) return object
    const copy = structuredClone(object)
    change(copy as never)
    return copy
  })
}

test('everything is created, in the order of the builders, the StatefulSet last', () => {
  const found = differencesOf({ view: viewOf([]) }, host, wanted, never)
  assert.deepEqual(
    found.map(({ kind }) => kind),
    wanted.map(({ kind }) => kind),
  )
  assert.equal(found.at(-1)?.kind, 'StatefulSet')
  assert.ok(found.every(({ action }) => action === 'create'))
})

test('what is as it was written needs nothing', () => {
  assert.deepEqual(
    reported(differencesOf({ view: viewOf(written(wanted)) }, host, wanted, never)),
    [],
  )
})

test('what is there and not watched is compared as what is watched', () => {
  const unwatched = new Map(
    written(wanted).map((object) => [`${object.kind} ${object.metadata?.name}`, object]),
  )
  assert.deepEqual(differencesOf({ view: viewOf([]), unwatched }, host, wanted, never), [])
})

test('a variable that a spec wants no longer is no item of others', async () => {
  const withVariable = (name: string): Host => {
    const podTemplate = { spec: { containers: [{ name: 'host', env: [{ name, value: '1' }] }] } }
    return { ...host, spec: { ...host.spec, podTemplate } }
  }
  const [before, after] = ['FORMER', 'NEXT'].map((name) =>
    hostObjects(withVariable(name), hostContext).objects.slice(-1),
  )
  const view = viewOf(written(before ?? []))
  const [difference] = differencesOf({ view }, host, after ?? [], never)
  assert.equal(difference?.action, 'change')
  const { signal } = new AbortController()
  const parts = { api: room.client.api, view }
  await applyDifference(parts as never, host, nothingKnown(), difference, signal)
  const bodies = room.server.requests.map(({ body }) => JSON.stringify(body))
  assert.equal(bodies.length, 1)
  assert.ok(!bodies.some((body) => body.includes('viewmesh.io/strangers')))
})

test('what others edited is corrected, and the fields are named', () => {
  const live = edited('public-host', 'StatefulSet', (set: V1StatefulSet) => {
    if (set.spec) set.spec.replicas = 7
  })
  assert.deepEqual(reported(differencesOf({ view: viewOf(live) }, host, wanted, never)), [
    'correct StatefulSet public-host spec.replicas',
  ])
})

test('a removal of unmanaged items that an operator left unfinished is finished', () => {
  const live = edited('public-host', 'StatefulSet', (set: V1StatefulSet) => {
    Object.assign(set.metadata?.annotations ?? {}, { 'viewmesh.io/strangers': '[]' })
  })
  assert.deepEqual(reported(differencesOf({ view: viewOf(live) }, host, wanted, never)), [
    'correct StatefulSet public-host metadata.annotations.viewmesh.io/strangers',
  ])
})

test('what is missing and was there before had been deleted', () => {
  const live = written(wanted).filter(({ kind }) => kind !== 'ConfigMap')
  const applied = new Set(['ConfigMap public-host-config'])
  const found = differencesOf({ view: viewOf(live) }, host, wanted, { ...never, applied })
  assert.deepEqual(reported(found), ['correct ConfigMap public-host-config'])
})

test('of what is missing that counts as deleted which was there before', () => {
  const applied = new Set(['ConfigMap public-host-config'])
  const live = edited('public-host', 'StatefulSet', (set: V1StatefulSet) => {
    if (set.spec) set.spec.replicas = 7
  }).filter(({ kind }) => kind !== 'ConfigMap' && kind !== 'NetworkPolicy')
  const found = differencesOf({ view: viewOf(live) }, host, wanted, { ...never, applied })
  assert.deepEqual(
    found.map((one) => [one.kind, one.action, isOfDeleted(one)]),
    [
      ['ConfigMap', 'correct', true],
      ['NetworkPolicy', 'create', false],
      ['StatefulSet', 'correct', false],
    ],
  )
})

test('what is not among the watched objects is looked for, each once, and found by kind and name', async () => {
  const all = written(wanted)
  const config = all.find(({ kind }) => kind === 'ConfigMap') ?? assert.fail('it is wanted')
  const watched = all.filter(({ kind }) => kind !== 'ConfigMap' && kind !== 'NetworkPolicy')
  const { namespace } = host.metadata
  room.server.put(`/api/v1/namespaces/${namespace}/configmaps/public-host-config`, config)
  const parts = { api: room.client.api, view: viewOf(watched) }
  const found = await findUnwatched(parts, host, wanted, new AbortController().signal)
  assert.deepEqual([...found.keys()], ['ConfigMap public-host-config'])
  assert.deepEqual(
    room.server.requests.map(({ path }) => path.split('/').slice(-2).join(' ')).toSorted(),
    ['configmaps public-host-config', 'networkpolicies public-host'],
  )
})

test('an annotation that is no longer wanted changes the hash, so that it is removed', () => {
  const before = written(wanted)
  const { services } = host.spec
  const spec = {
    ...host.spec,
    services: { ...services, api: { ...services.api, annotations: {} } },
  }
  const { objects } = hostObjects({ ...host, spec }, hostContext)
  assert.deepEqual(reported(differencesOf({ view: viewOf(before) }, host, objects, never)), [
    'change Service public-host metadata.annotations.viewmesh.io/applied',
  ])
})

test('Services of removed replicas, the budget and the policy go when they are not wanted', () => {
  const before = written(wanted)
  const spec = { ...host.spec, replicas: 1, networkPolicy: { enabled: false } }
  const { objects } = hostObjects({ ...host, spec }, hostContext)
  const found = reported(differencesOf({ view: viewOf(before) }, host, objects, never))
  assert.deepEqual(
    found.filter((text) => text.startsWith('delete')),
    [
      'delete NetworkPolicy public-host',
      'delete PodDisruptionBudget public-host',
      'delete Service public-host-p2p-1',
      'delete Service public-host-p2p-2',
    ],
  )
})

test('what is not wanted is left where it goes already, or belongs to others', () => {
  const spec = { ...host.spec, networkPolicy: { enabled: false } }
  const { objects } = hostObjects({ ...host, spec }, hostContext)
  const deleted = (metadata: object): string[] => {
    const live = edited('public-host', 'NetworkPolicy', (policy: KubernetesObject) =>
      Object.assign(policy.metadata ?? {}, metadata),
    )
    return reported(differencesOf({ view: viewOf(live) }, host, objects, never))
  }
  assert.deepEqual(deleted({}), ['delete NetworkPolicy public-host'])
  assert.deepEqual(deleted({ deletionTimestamp: '2026-01-01T12:00:00Z' }), [])
  assert.deepEqual(deleted({ ownerReferences: [] }), [])
})

test('what belongs to others is neither taken over nor taken away', () => {
  const live = edited('public-host', 'Service', (service: V1Service) => {
    delete service.metadata?.ownerReferences
    Object.assign(service.metadata?.labels ?? {}, { 'app.kubernetes.io/instance': 'other' })
  })
  assert.throws(() => differencesOf({ view: viewOf(live) }, host, wanted, never), {
    code: 'OPERATOR_NAME_TAKEN',
    message: 'Service public-host belongs to something else',
  })
})

test('what a deleted resource of the same name left is waited for', () => {
  const later = { ...host, metadata: { ...host.metadata, uid: 'another' } }
  assert.throws(
    () => differencesOf({ view: viewOf(written(wanted)) }, later, wanted, never),
    (error) => hasCode(error, 'OPERATOR_TERMINATING'),
  )
})

test('what lost its owner, as after kubectl delete --cascade=orphan, is taken up again', () => {
  const live = written(wanted).map((object) => {
    const copy = structuredClone(object) as ChildObject
    delete copy.metadata?.ownerReferences
    return copy as KubernetesObject
  })
  const found = differencesOf({ view: viewOf(live) }, host, wanted, never)
  assert.equal(found.length, wanted.length)
  assert.ok(found.every(({ drift }) => drift.some(({ path }) => path.includes('ownerReferences'))))
})

test('a StatefulSet that exists keeps its claim templates, which cannot be changed', () => {
  const { data } = host.spec.storage
  const storage = { ...host.spec.storage, data: { ...data, size: '900Gi' } }
  const { objects } = hostObjects({ ...host, spec: { ...host.spec, storage } }, hostContext)
  assert.deepEqual(
    reported(differencesOf({ view: viewOf(written(wanted)) }, host, objects, never)),
    [],
  )
})

test('an Event says whose fields were taken back, and which', async () => {
  const conflict = 'conflict with "kubectl-edit" using apps/v1: .spec.replicas'
  room.server.faults.add(({ method, query }, response) => {
    if (method !== 'PATCH' || query['force'] === 'true') return false
    const causes = [{ reason: 'FieldManagerConflict', field: '.spec.replicas' }]
    send(response, 409, { ...status(409, 'Conflict', conflict), details: { causes } })
    return true
  })
  const reported: Occurrence[] = []
  const parts = {
    api: room.client.api,
    view: viewOf(written(wanted)),
    events: { record: (_type: unknown, _of: unknown, event: Occurrence) => reported.push(event) },
    type: builtinTypes.StatefulSet,
  }
  const set = wanted.at(-1) ?? null
  const name = 'public-host'
  const difference: Difference = {
    kind: 'StatefulSet',
    name,
    action: 'correct',
    drift: [],
    live: null,
    object: set,
  }
  await applyDifference(parts as never, host, never, difference, new AbortController().signal)
  assert.deepEqual(reported, [
    {
      type: 'Warning',
      reason: 'FieldConflict',
      action: 'Apply',
      note: `Fields of StatefulSet public-host were taken back from who had written them: apply statefulsets ${host.metadata.namespace}/public-host: 409 ${conflict}`,
    },
  ])
})

test('of an object that goes nothing is remembered, its namesake stays, a refusal is thrown', async () => {
  const gone: Difference = {
    ...{ kind: 'Service', name: 'public-host-p2p-1', action: 'delete', drift: [] },
    ...{ object: null, live: null, uid: 'the one that goes' },
  }
  const name = 'Service public-host-p2p-1'
  const fields = [{ object: name, fields: ['spec.type'] }]
  const known = nothingKnown({ changedByAdmission: fields })
  known.answers.known.set(name, { wanted: 'a', fields: new Map() })
  const answered = async (code: number, reason: string): Promise<unknown> => {
    room.server.faults.clear()
    room.server.faults.add((_, response) => {
      send(response, code, status(code, reason, 'no'))
      return true
    })
    const parts = { api: room.client.api, view: viewOf([]) }
    return await applyDifference(parts as never, host, known, gone, new AbortController().signal)
  }
  assert.deepEqual(await answered(409, 'Conflict'), [])
  assert.deepEqual([known.answers.known.size, known.answers.reported.size], [0, 0])
  const [asked] = room.server.requests
  assert.equal(asked?.method, 'DELETE')
  assert.match(JSON.stringify(asked.body), /"preconditions":\{"uid":"the one that goes"\}/)
  await assert.rejects(answered(403, 'Forbidden'), { code: 'OPERATOR_API_FORBIDDEN' })
})
