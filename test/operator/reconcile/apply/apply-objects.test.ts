import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1StatefulSet } from '@kubernetes/client-node'
import { pino } from 'pino'
import { workloadKinds } from '../../../../operator/api/resource-kinds.ts'
import type { Host } from '../../../../operator/api.ts'
import { applyObjects, planObjects } from '../../../../operator/reconcile/apply/apply-objects.ts'
import type { ReconcileParts } from '../../../../operator/reconcile/apply/reconcile-parts.ts'
import { createMemories } from '../../../../operator/reconcile/apply/resource-memory.ts'
import type { ObservedState } from '../../../../operator/reconcile/evaluate/observed-state.ts'
import type { KindLogic } from '../../../../operator/reconcile/fetch/kind-logic.ts'
import type { SchemaFacts } from '../../../../operator/reconcile/fetch/schema-source.ts'
import type { SetCounts } from '../../../../operator/reconcile/observe/set-counts.ts'
import { hostObjects } from '../../../../operator/resources/host-objects.ts'
import type { ChildObject } from '../../../../operator/resources/objects/child-object.ts'
import { readTemplateRecord } from '../../../../operator/resources/pod/template-record.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { objectPath } from '../../../../operator/runtime/client/resource-type.ts'
import type { Occurrence } from '../../../../operator/runtime/event-recorder.ts'
import { hostContext, readHost } from '../../../support/resources/operator-cases.ts'
import { kubernetesRoom } from '../../support/kubernetes-room.ts'
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

test('a StatefulSet is recreated for larger volumes once all its pods have the wanted template', () => {
  const { clusterDomain, defaults } = hostContext
  const options = { clusterDomain, defaults }
  const logic = {
    objects: (of: Host, _: SchemaFacts, context: typeof hostContext) =>
      hostObjects(of, { ...hostContext, ...context }),
  } as unknown as KindLogic<Host, SchemaFacts>
  const facts: SchemaFacts = { schemaSource: null, keyless: null, isRefused: false, awaited: null }
  const live = hostObjects(host, hostContext).objects.find(({ kind }) => kind === 'StatefulSet')
  const recorded = readTemplateRecord(live?.metadata?.annotations)
  const isMadeAnew = (of: Host, counts: Partial<SetCounts> = {}): boolean => {
    const set = live as V1StatefulSet
    const claims = boundClaims(of)
    const known = { ...emptyState, set, recorded, claims, allClaims: claims }
    const state = { ...known, counts: { ...readyCounts, ...counts } }
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
})
