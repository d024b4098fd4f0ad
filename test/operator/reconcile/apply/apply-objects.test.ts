import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1StatefulSet } from '@kubernetes/client-node'
import { pino } from 'pino'
import { workloadKinds } from '../../../../operator/api/resource-kinds.ts'
import type { Host } from '../../../../operator/api.ts'
import {
  applyObjects,
  type ObjectPlan,
  parkSet,
  planObjects,
  removeSet,
} from '../../../../operator/reconcile/apply/apply-objects.ts'
import { differencesOf } from '../../../../operator/reconcile/apply/children.ts'
import type { ReconcileParts } from '../../../../operator/reconcile/apply/reconcile-parts.ts'
import {
  createMemories,
  nothingKnown,
} from '../../../../operator/reconcile/apply/resource-memory.ts'
import type { ObservedState } from '../../../../operator/reconcile/evaluate/observed-state.ts'
import type { KindLogic } from '../../../../operator/reconcile/fetch/kind-logic.ts'
import type { SchemaFacts } from '../../../../operator/reconcile/fetch/schema-source.ts'
import type { SetCounts } from '../../../../operator/reconcile/observe/set-counts.ts'
import { hostObjects } from '../../../../operator/resources/host-objects.ts'
import type { ChildObject } from '../../../../operator/resources/objects/child-object.ts'
import { readTemplateRecord } from '../../../../operator/resources/pod/template-record.ts'
import { createFence } from '../../../../operator/runtime/client/fence.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import type { WriteGuard } from '../../../../operator/runtime/client/requests.ts'
import { objectPath } from '../../../../operator/runtime/client/resource-type.ts'
import type { Occurrence } from '../../../../operator/runtime/event-recorder.ts'
import { hostContext, readHost } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
import { send, status } from '../../support/kubernetes-server.ts'
import { boundClaims, emptyState, podWith, readyCounts } from '../../support/operator-findings.ts'
import { viewOf } from '../../support/operator-view.ts'

const host = readHost('host-minimal')
const path = `/apis/policy/v1/namespaces/${host.metadata.namespace}/poddisruptionbudgets/mainnet-host`
const hostPath = objectPath({ type: workloadKinds.Host, ...host.metadata })
const run = { signal: new AbortController().signal, log: pino({ level: 'silent' }) } as never

const room = kubernetesRoom()

test('what the operator itself took away is no drift when it is wanted again', async () => {
  const reported: string[] = []
  const memory = createMemories<SchemaFacts>().of(host)
  const scaleTo = async (replicas: number): Promise<void> => {
    const scaled: Host = { ...host, spec: { ...host.spec, replicas } }
    const { objects } = hostObjects(scaled, hostContext)
    const budget = room.server.get(path) as KubernetesObject | undefined
    const parts = {
      api: room.client.api,
      type: workloadKinds.Host,
      view: viewOf(budget === undefined ? [] : [budget]),
      events: {
        record: (_type: unknown, _of: unknown, { note }: Occurrence) => reported.push(note),
      },
    } as unknown as ReconcileParts<Host>
    const plan = {
      objects: objects.filter(({ kind }) => kind === 'PodDisruptionBudget'),
      updateAvailable: null,
      isGrowing: false,
      isSetBeingRemoved: false,
    }
    await applyObjects(parts, scaled, { plan, memory, state: emptyState, hold: false }, run)
  }
  room.server.put(hostPath, host as KubernetesObject)
  const isThere: boolean[] = []
  for (const replicas of [2, 1, 2]) {
    await scaleTo(replicas)
    isThere.push(room.server.get(path) !== undefined)
  }
  assert.deepEqual(isThere, [true, false, true])
  assert.deepEqual(reported, [])
  room.server.remove(path)
  await scaleTo(2)
  assert.deepEqual(reported, ['PodDisruptionBudget mainnet-host had been deleted.'])
})

test('the Event of replaced pods names what of their template changed, and no value', async () => {
  const reported: unknown[] = []
  const events = {
    record: (_type: unknown, _of: unknown, occurrence: Occurrence) => reported.push(occurrence),
  }
  const memory = createMemories<SchemaFacts>().of(host)
  const setOf = (of: Host): KubernetesObject => {
    const { objects } = hostObjects(of, hostContext)
    return objects.find(({ kind }) => kind === 'StatefulSet') as KubernetesObject
  }
  const change = async (
    from: Host,
    to: Host,
    pods: ObservedState['pods'],
    counts: ObservedState['counts'] = null,
  ): Promise<void> => {
    const live = setOf(from)
    const parts = { api: room.client.api, view: viewOf([live]), events }
    const recorded = readTemplateRecord(live.metadata?.annotations)
    const state = { set: live as V1StatefulSet, counts, recorded, pods }
    const plan = {
      objects: [setOf(to) as ChildObject],
      updateAvailable: null,
      isGrowing: false,
      isSetBeingRemoved: false,
    }
    const settling = { plan, memory, state, hold: false }
    await applyObjects(parts as unknown as ReconcileParts<Host>, to, settling, run)
  }
  const withVariables = (names: readonly string[], more: Partial<Host['spec']> = {}): Host => {
    const env = names.map((name) => ({ name, value: 'secret' }))
    const podTemplate = { spec: { containers: [{ name: 'host', env }] } }
    return { ...host, spec: { ...host.spec, podTemplate, ...more } }
  }
  const withPartition = (updatePartition: number): Host => ({
    ...host,
    spec: { ...host.spec, replicas: 2, updatePartition },
  })
  const one = new Map([[0, podWith(host, {})]])
  const two = new Map([...one, [1, podWith(host, {})]])
  const image = { ...host.spec.image, tag: '2' }
  await change(withVariables(['LOG_LEVEL']), withVariables(['GRAPHQL_MAX_ROWS'], { image }), one)
  await change(host, { ...host, spec: { ...host.spec, replicas: 3 } }, one)
  await change(host, withVariables(['LOG_LEVEL']), new Map())
  await change(host, withVariables(['LOG_LEVEL'], { replicas: 2, updatePartition: 1 }), two)
  await change(host, withVariables(['LOG_LEVEL'], { replicas: 2, updatePartition: 2 }), two)
  const held = { ...readyCounts, replicas: 2, updatedReplicas: 1, isRolling: true }
  await change(withPartition(1), withPartition(0), two, held)
  await change(withPartition(1), withPartition(0), two, {
    ...held,
    isRolling: false,
    updatedReplicas: 2,
  })
  await change(withPartition(0), withPartition(1), two, held)
  await change(host, { ...host, spec: { ...host.spec, replicas: 3 } }, one, held)
  assert.deepEqual(reported, [
    {
      type: 'Normal',
      reason: 'PodsReplaced',
      action: 'Apply',
      note: 'Pods are replaced, since their template changed: spec.containers[host].image, spec.containers[host].env[GRAPHQL_MAX_ROWS], spec.containers[host].env[LOG_LEVEL].',
    },
    {
      type: 'Normal',
      reason: 'PodsReplaced',
      action: 'Apply',
      note: 'Pods from ordinal 1 on are replaced, since their template changed: spec.containers[host].env[LOG_LEVEL].',
    },
    {
      type: 'Normal',
      reason: 'PodsReplaced',
      action: 'Apply',
      note: 'Pods that have the template from before are replaced, since spec.updatePartition is 0 now, and was 1.',
    },
  ])
})

const { clusterDomain, defaults } = hostContext
const options = { clusterDomain, defaults }
const logic = {
  objects: (of: Host, _: SchemaFacts, context: typeof hostContext) =>
    hostObjects(of, { ...hostContext, ...context }),
} as unknown as KindLogic<Host, SchemaFacts>
const facts: SchemaFacts = { schemaSource: null, keyless: null, isRefused: false, awaited: null }

test('a StatefulSet is recreated for larger volumes once all its pods have the wanted template', () => {
  const live = hostObjects(host, hostContext).objects.find(({ kind }) => kind === 'StatefulSet')
  const recorded = readTemplateRecord(live?.metadata?.annotations)
  const isMadeAnew = (
    of: Host,
    counts: Partial<SetCounts> = {},
    more: Partial<ObservedState> = {},
  ): boolean => {
    const set = live as V1StatefulSet
    const claims = boundClaims(of)
    const known = { ...emptyState, set, recorded, claims, allClaims: claims }
    const state = { ...known, counts: { ...readyCounts, ...counts }, ...more }
    const { isGrowing } = planObjects(logic, { options } as never, of, { state, facts })
    return isGrowing
  }
  const { storage } = host.spec
  const data = { ...storage.data, size: '200Gi' }
  const larger: Host = { ...host, spec: { ...host.spec, storage: { ...storage, data } } }
  const image = { ...host.spec.image, tag: '2' }
  assert.equal(isMadeAnew(host), false)
  assert.equal(isMadeAnew(larger), true)
  assert.equal(isMadeAnew({ ...larger, spec: { ...larger.spec, image } }), false)
  assert.equal(isMadeAnew(larger, { isRolling: true, updatedReplicas: 0 }), false)
  assert.equal(isMadeAnew(larger, { updatedReplicas: 0 }), false)
  assert.equal(isMadeAnew(larger, { generation: 2 }), false)
  assert.equal(isMadeAnew(larger, {}, { recorded: null }), false)
  assert.equal(isMadeAnew(larger, {}, { counts: null }), false)
})

const wanted = hostObjects(host, hostContext).objects
const asObjects = (objects: readonly ChildObject[]): KubernetesObject[] =>
  objects as unknown as KubernetesObject[]
const liveSet = wanted.find(({ kind }) => kind === 'StatefulSet') as V1StatefulSet
const recorded = readTemplateRecord(liveSet.metadata?.annotations)
const planOf = (objects: readonly ChildObject[], more: Partial<ObjectPlan> = {}): ObjectPlan => ({
  ...{ objects: [...objects], updateAvailable: null, isGrowing: false, isSetBeingRemoved: false },
  ...more,
})

/** What a test passes to the functions, and the notes of the Events that they record. */
function partsWith(live: readonly KubernetesObject[]) {
  const notes: string[] = []
  const record = (_type: unknown, _of: unknown, { note }: Occurrence): number => notes.push(note)
  const parts = {
    ...{ api: room.client.api, type: workloadKinds.Host, view: viewOf(live), events: { record } },
  } as unknown as ReconcileParts<Host>
  return { parts, notes }
}

/** What was asked of the API server that writes. */
const writes = (): string[] =>
  room.server.requests
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path: where }) => `${method} ${where.split('/').slice(-2).join('/')}`)

test('the ConfigMap keeps the record of the template while there is no StatefulSet for it', () => {
  const views = { parts: [{ 'a.view': 'AAAA' }], left: [] }
  const withViews = {
    objects: (of: Host, _: SchemaFacts, context: typeof hostContext) =>
      hostObjects(of, { ...hostContext, ...context, views }),
  } as unknown as typeof logic
  const recordIn = (state: Partial<ObservedState>): readonly unknown[] => {
    const of = { ...emptyState, recorded, ...state }
    const plan = planObjects(withViews, { options } as never, host, { state: of, facts })
    const [own, ofViews] = plan.objects
      .filter(({ kind }) => kind === 'ConfigMap')
      .map(({ metadata }) => readTemplateRecord(metadata?.annotations))
    assert.equal(ofViews, null)
    return [own !== null, plan.isSetBeingRemoved]
  }
  assert.deepEqual(recordIn({}), [false, false])
  assert.deepEqual(recordIn({ isParked: true }), [true, false])
  assert.deepEqual(recordIn({ set: liveSet, isSetTerminating: true }), [true, true])
  assert.deepEqual(recordIn({ isParked: true, recorded: null }), [false, false])
})

test('a StatefulSet is removed without its pods, and one that is gone or going is left', async () => {
  const known = nothingKnown()
  const address = `/apis/apps/v1/namespaces/${host.metadata.namespace}/statefulsets/mainnet-host`
  room.server.put(address, { ...liveSet, metadata: { ...liveSet.metadata, uid: 'set' } } as never)
  const { parts, notes } = partsWith([])
  const set: V1StatefulSet = { ...liveSet, metadata: { ...liveSet.metadata, uid: 'set' } }
  known.applied.add('StatefulSet mainnet-host')
  await removeSet(parts, host, { state: { ...emptyState, set }, known }, run)
  assert.equal(known.applied.size, 0)
  assert.deepEqual(writes(), ['DELETE statefulsets/mainnet-host'])
  assert.deepEqual(room.server.requests.at(-1)?.body, {
    propagationPolicy: 'Orphan',
    preconditions: { uid: 'set' },
  })
  const note = 'StatefulSet mainnet-host was removed without its pods, which go on running.'
  assert.deepEqual(notes, [note])
  await removeSet(parts, host, { state: emptyState, known }, run)
  const going = { ...emptyState, set, isSetTerminating: true }
  await removeSet(parts, host, { state: going, known }, run)
  assert.deepEqual([writes().length, notes.length], [1, 1])
})

test('before a StatefulSet is removed for a lost claim its template is on the ConfigMap', async () => {
  const { parts } = partsWith([])
  const set: V1StatefulSet = { ...liveSet, metadata: { ...liveSet.metadata, uid: 'set' } }
  const inputs = { plan: planOf(wanted), known: nothingKnown() }
  await parkSet(parts, host, { state: { ...emptyState, recorded, set }, ...inputs }, run)
  assert.deepEqual(writes(), [
    'PATCH configmaps/mainnet-host-config',
    'DELETE statefulsets/mainnet-host',
  ])
  const { body } = room.server.requests.find(({ method }) => method === 'PATCH') ?? {}
  const { annotations } = (body as KubernetesObject).metadata ?? {}
  assert.deepEqual(readTemplateRecord(annotations), recorded)
  const going = { ...emptyState, recorded, set, isSetTerminating: true }
  await parkSet(parts, host, { state: going, ...inputs }, run)
  await parkSet(parts, host, { state: { ...emptyState, recorded }, ...inputs }, run)
  assert.equal(writes().length, 2)
})

test('while pods have to wait all but the StatefulSet is written, and it is said if that differs', async () => {
  const memory = createMemories<SchemaFacts>().of(host)
  const apply = async (live: readonly KubernetesObject[], more: object = {}): Promise<boolean> => {
    const settling = { plan: planOf(wanted), memory, state: emptyState, hold: true, ...more }
    return await applyObjects(partsWith(live).parts, host, settling, run)
  }
  assert.equal(await apply([]), true)
  const others = wanted.filter(({ kind }) => kind !== 'StatefulSet')
  assert.equal(writes().length, others.length)
  assert.ok(!writes().some((text) => text.includes('statefulsets')))
  const live = differencesOf({ view: viewOf([]) }, host, wanted, nothingKnown()).flatMap(
    ({ object }) => object ?? [],
  )
  assert.equal(await apply(asObjects(live)), false)
  const removing = { plan: planOf(wanted, { isSetBeingRemoved: true }), hold: false }
  assert.equal(await apply([], removing), false)
  assert.ok(!writes().some((text) => text.includes('statefulsets')))
})

test('nothing is written again for a resource that is gone from the API server by now', async () => {
  const memory = createMemories<SchemaFacts>().of(host)
  memory.objects.applied.add('StatefulSet mainnet-host')
  const settling = { plan: planOf(wanted), memory, state: emptyState, hold: false }
  room.server.remove(hostPath)
  assert.equal(await applyObjects(partsWith([]).parts, host, settling, run), false)
  assert.deepEqual(writes(), [])
  room.server.put(hostPath, host as KubernetesObject)
  const { parts, notes } = partsWith([])
  await applyObjects(parts, host, settling, run)
  assert.equal(writes().length, wanted.length)
  assert.deepEqual(notes, ['StatefulSet mainnet-host had been deleted.'])
})

test('the Event of a correction says what was otherwise, and what had been added', async () => {
  const memory = createMemories<SchemaFacts>().of(host)
  const [live] = differencesOf({ view: viewOf([]) }, host, [liveSet], nothingKnown()).flatMap(
    ({ object }) => (object as V1StatefulSet | null) ?? [],
  )
  const edited = structuredClone(live) ?? assert.fail()
  if (edited.spec) edited.spec.replicas = 7
  const { parts, notes } = partsWith(asObjects([edited as ChildObject]))
  const settling = { plan: planOf([liveSet]), memory, state: emptyState, hold: false }
  await applyObjects(parts, host, settling, run)
  assert.deepEqual(notes, ['StatefulSet mainnet-host had other spec.replicas.'])
})

test('a StatefulSet without its record or its partition is corrected, which replaces no pod', async () => {
  const { parts, notes } = partsWith(asObjects([{ ...liveSet, spec: {} } as ChildObject]))
  const pods = new Map([[0, podWith(host, {})]])
  const counts = { ...readyCounts, updatedReplicas: 0, isRolling: true }
  for (const more of [{}, { recorded, set: {} }]) {
    const state = { ...emptyState, counts, pods, ...more }
    const memory = createMemories<SchemaFacts>().of(host)
    await applyObjects(parts, host, { plan: planOf([liveSet]), memory, state, hold: false }, run)
  }
  assert.deepEqual([writes().length, notes], [2, []])
})

test('a part of the Views that is refused keeps nothing else from being written', async () => {
  const memory = createMemories<SchemaFacts>().of(host)
  const [config] = wanted.filter(({ kind }) => kind === 'ConfigMap')
  const part = { ...config, metadata: { ...config?.metadata, name: 'mainnet-host-views-0' } }
  room.server.faults.add(({ method, path: where }, response) => {
    if (method !== 'PATCH' || !where.endsWith('/mainnet-host-views-0')) return false
    send(response, 403, status(403, 'Forbidden', 'exceeded quota: small'))
    return true
  })
  const plan = planOf([part as ChildObject, liveSet])
  const settling = { plan, memory, state: emptyState, hold: false }
  await assert.rejects(applyObjects(partsWith([]).parts, host, settling, run), /exceeded quota/)
  assert.equal(writes().at(-1), 'PATCH statefulsets/mainnet-host')
  assert.deepEqual([...memory.objects.applied], ['StatefulSet mainnet-host'])
})

test('what is refused of the settings, or fails for a moment, ends the writing at once', async () => {
  const ending = async (name: string, code: number): Promise<readonly string[]> => {
    const memory = createMemories<SchemaFacts>().of(host)
    const [config] = wanted.filter(({ kind }) => kind === 'ConfigMap')
    const named = { ...config, metadata: { ...config?.metadata, name } } as ChildObject
    const before = writes().length
    room.server.faults.clear()
    room.server.faults.add(({ method, path: where }, response) => {
      if (method !== 'PATCH' || !where.endsWith(`/${name}`)) return false
      send(response, code, status(code, 'No', 'no'))
      return true
    })
    const settling = { plan: planOf([named, liveSet]), memory, state: emptyState, hold: false }
    await assert.rejects(applyObjects(partsWith([]).parts, host, settling, run), /no$/)
    return writes().slice(before)
  }
  assert.deepEqual(await ending('mainnet-host-config', 403), [
    'PATCH configmaps/mainnet-host-config',
  ])
  assert.deepEqual(await ending('mainnet-host-views-0', 404), [
    'PATCH configmaps/mainnet-host-views-0',
  ])
})

test('an operator that may write no more does not take that for a pod that cannot be marked', async () => {
  const memory = createMemories<SchemaFacts>().of(host)
  const fence = createFence()
  const guard: WriteGuard = {
    before: (call) => (call.type.kind === 'Pod' ? fence.guard.before?.(call) : undefined),
  }
  const { metadata } = liveSet
  const pod = {
    ...{ apiVersion: 'v1', kind: 'Pod', status: { podIP: '10.0.0.1' } },
    metadata: { ...metadata, name: 'mainnet-host-0' },
  }
  const { parts } = partsWith([pod as KubernetesObject])
  const { api } = room.openClient({ guards: [guard] })
  const plan = planOf(wanted.filter(({ kind }) => kind === 'ConfigMap'))
  const settling = { plan, memory, state: emptyState, hold: false }
  await assert.rejects(applyObjects({ ...parts, api }, host, settling, run), {
    code: 'OPERATOR_FENCED',
  })
  assert.deepEqual(writes(), ['PATCH configmaps/mainnet-host-config'])
})
