/**
 * The reconcile of Hosts and Generators as the operator puts it together, against a stand-in for the API server: only
 * the controllers are missing, so that a test asks for each reconcile, and pods answer at /health what a test says.
 */
import assert from 'node:assert/strict'
import { afterEach, beforeEach } from 'node:test'
import type { V1StatefulSet } from '@kubernetes/client-node'
import { viewKind, workloadKinds } from '../../../operator/api/resource-kinds.ts'
import type { Condition } from '../../../operator/api/status.ts'
import type { Host, Resource, Workload } from '../../../operator/api.ts'
import { askedViews } from '../../../operator/reconcile/evaluate/host-views.ts'
import { createResyncInterval } from '../../../operator/reconcile/fetch/resync-interval.ts'
import { generatorLogic } from '../../../operator/reconcile/generator-logic.ts'
import { createHostLogic } from '../../../operator/reconcile/host-logic.ts'
import { createHostPlaces } from '../../../operator/reconcile/level-views.ts'
import {
  type ClusterView,
  openClusterView,
} from '../../../operator/reconcile/observe/cluster-view.ts'
import type { HealthView } from '../../../operator/reconcile/observe/health-view.ts'
import { observedName } from '../../../operator/reconcile/observe/observed-name.ts'
import { createReconcile } from '../../../operator/reconcile/reconcile.ts'
import { createViewReconcile } from '../../../operator/reconcile/view-reconcile.ts'
import { childNames } from '../../../operator/resources/names/names.ts'
import {
  openReflector,
  type Reflector,
  type ReflectorOptions,
} from '../../../operator/runtime/cache/reflector.ts'
import { writeThrough } from '../../../operator/runtime/cache/write-through.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { isSelectedBy } from '../../../operator/runtime/client/label-selector.ts'
import {
  builtinTypes,
  keyOf,
  objectPath,
  type ResourceType,
} from '../../../operator/runtime/client/resource-type.ts'
import type { Reconcile, ReconcileResult } from '../../../operator/runtime/controller.ts'
import type { Occurrence } from '../../../operator/runtime/event-recorder.ts'
import { createStatusWriter } from '../../../operator/runtime/status-writer.ts'
import type { CapturedLog } from '../../support/captured-log.ts'
import { generatorContext } from '../../support/resources/operator-cases.ts'
import type { Client } from './kubernetes-client.ts'
import { kubernetesRoom } from './kubernetes-room.ts'
import type { KubernetesServer, SeenRequest } from './kubernetes-server.ts'

type Kind = Resource['kind'] | keyof typeof builtinTypes

/** All of it belongs to the test that runs. */
interface ReconcileRoom {
  readonly server: KubernetesServer
  /** Events as they were recorded, `REASON note`, in their order. */
  readonly events: string[]
  /** What the operator logs. */
  readonly log: CapturedLog
  /** Observed names of those whose replicas were to be asked at once, in their order. */
  readonly asked: string[]
  /** How many addresses of a resource are asked again and again. */
  watched(resource: Resource): number
  /** Reconciles a resource as it is at the API server; rejects where the controller would try again. */
  reconcile(resource: Resource): Promise<ReconcileResult>
  /** Writes an object as somebody else, and waits until the operator has seen it. */
  put(object: KubernetesObject): Promise<void>
  /** Changes an object as somebody else; fails where there is none. */
  edit<T extends KubernetesObject>(
    kind: Kind,
    name: string,
    change: (object: T) => void,
  ): Promise<void>
  /** Deletes an object as somebody else, and waits until the operator has seen it. */
  remove(kind: Kind, name: string): Promise<void>
  /** What is at the API server; fails where there is none. */
  read<T extends KubernetesObject>(kind: Kind, name: string): T
  /** A condition as the status has it; undefined where it has none. */
  condition(resource: Resource, type: string): Condition | undefined
  /** Objects that were written since this was called last, as `METHOD plural name`; no status among them. */
  writes(): string[]
  /** Does what Kubernetes does once there is a StatefulSet: its claims are bound, and its pods are ready. */
  start(resource: Workload): Promise<void>
  /** There are so many resources, which take turns to be reconciled; one at first. */
  crowd(count: number): void
  /** It is so much later. */
  pass(ms: number): void
  /** What pods answer from now on, by ordinal; null for none. */
  answer(views: ReadonlyMap<number, HealthView | null>): void
  /** Another process of the operator goes on, which remembers nothing. */
  restart(): void
  /** Reconciles by an operator of this name, which watches the same namespaces and remembers what it did. */
  operator(self: string): (resource: Resource) => Promise<ReconcileResult>
  /** Resolves when the operator finds that it can no longer read a kind, or can again. */
  turn(kind: Kind): Promise<void>
}

/** What one test has. */
interface State {
  readonly client: Client
  readonly follows: readonly Follow[]
  readonly view: ClusterView
  readonly events: string[]
  readonly asked: string[]
  /** By observed name. */
  readonly watched: Map<string, number>
  views: ReadonlyMap<number, HealthView | null>
  nowMs: number
  resources: number
  /** How many requests were returned as writes already, or were none. */
  reported: number
}

/** A reflector, and the labels of what it holds. */
interface Follow {
  readonly reflector: Reflector<unknown>
  readonly labelSelector?: string | undefined
}

/** How soon what cannot be followed counts as unread, and how long is waited between attempts. */
type RoomTiming = Partial<
  Pick<ReflectorOptions<never, never>, 'unreadAfterMs' | 'minPauseMs' | 'maxPauseMs'>
>

type Reconciles = Readonly<Record<Resource['kind'], Reconcile>>

const types: Readonly<Record<Kind, ResourceType>> = {
  ...builtinTypes,
  Generator: workloadKinds.Generator,
  Host: workloadKinds.Host,
  View: viewKind,
}
const startMs = Date.parse('2026-01-01T12:00:00Z')

/** Gives each test of a file its own; everything is in this namespace. */
export function reconcileRoom(namespace: string, timing: RoomTiming = {}): ReconcileRoom {
  const follows: Follow[] = []
  let state: State | undefined
  let reconciles: Reconciles | undefined
  const ofTest = (): State => state ?? assert.fail('no test runs')
  afterEach(async () => {
    await Promise.all(follows.splice(0).map(({ reflector }) => reflector.close()))
  })
  const room = kubernetesRoom({
    guards: [writeThrough(() => follows.map(({ reflector }) => reflector))],
  })
  beforeEach(async () => {
    state = await openState(room.client, follows, timing)
    reconciles = reconcilesOf(state)
  })
  const pathOf = (kind: Kind, name: string): string =>
    objectPath({ type: types[kind], namespace, name })
  const read = <T extends KubernetesObject>(kind: Kind, name: string): T => {
    const found = room.server.get(pathOf(kind, name))
    assert.ok(found, `there is no ${kind} ${name}`)
    return structuredClone(found) as T
  }
  const reconcileBy = async (
    by: Reconciles | undefined,
    { kind, metadata }: Resource,
  ): Promise<ReconcileResult> => {
    const run = { signal: new AbortController().signal, log: room.client.log.log }
    const reconcile = by?.[kind] ?? assert.fail('no test runs')
    return await reconcile(keyOf(namespace, metadata.name), run)
  }
  const put = async (object: KubernetesObject): Promise<void> => {
    const path = pathOf(object.kind as Kind, object.metadata?.name ?? '')
    await seen(ofTest(), room.server.put(path, object))
  }
  return {
    get server() {
      return room.server
    },
    get events() {
      return ofTest().events
    },
    get log() {
      return room.client.log
    },
    get asked() {
      return ofTest().asked
    },
    watched: (resource) => ofTest().watched.get(observedName(resource)) ?? 0,
    reconcile: async (resource) => await reconcileBy(reconciles, resource),
    put,
    async edit(kind, name, change) {
      const object = read<never>(kind, name)
      change(object)
      await put(object)
    },
    async remove(kind, name) {
      room.server.remove(pathOf(kind, name))
      await seen(ofTest(), { kind, metadata: { namespace, name } })
    },
    read,
    condition: ({ kind, metadata }, type) =>
      read<Resource>(kind, metadata.name).status?.conditions?.find((one) => one.type === type),
    writes() {
      const found = room.server.requests.slice(ofTest().reported)
      ofTest().reported += found.length
      return found
        .filter(({ method, path }) => method !== 'GET' && !path.endsWith('/status'))
        .map(writeText)
    },
    async start(resource) {
      const { base } = childNames(resource)
      for (const object of startedBy(read<V1StatefulSet & KubernetesObject>('StatefulSet', base))) {
        await put(object)
      }
    },
    crowd: (count) => {
      ofTest().resources = count
    },
    pass: (ms) => {
      ofTest().nowMs += ms
    },
    answer: (views) => {
      ofTest().views = views
    },
    restart: () => {
      reconciles = reconcilesOf(ofTest())
    },
    operator: (self) => {
      const own = reconcilesOf(ofTest(), self)
      return async (resource) => await reconcileBy(own, resource)
    },
    turn: (kind) =>
      new Promise((resolve) => {
        for (const { reflector } of follows) {
          if (reflector.type.kind === kind) reflector.onTurn(resolve)
        }
      }),
  }
}

function writeText({ method, path, body }: SeenRequest): string {
  const { metadata } = (body ?? {}) as KubernetesObject
  const place = method === 'POST' ? `${path}/${metadata?.name}` : path
  return [method, ...place.split('/').slice(-2)].join(' ')
}

async function openState(client: Client, follows: Follow[], timing: RoomTiming): Promise<State> {
  const view = openClusterView((options) => {
    const reflector = openReflector({ ...options, ...timing }, { ...client, log: client.log.log })
    follows.push({ reflector, labelSelector: options.labelSelector })
    return reflector
  }, null)
  const limit = AbortSignal.timeout(60_000)
  await Promise.all(follows.map(({ reflector }) => reflector.initialized(limit)))
  return {
    client,
    follows,
    view,
    events: [],
    asked: [],
    watched: new Map(),
    views: new Map(),
    nowMs: 0,
    resources: 1,
    reported: 0,
  }
}

/** The claims and pods of a StatefulSet, and itself with the status that counts them. */
function startedBy(set: V1StatefulSet & KubernetesObject): KubernetesObject[] {
  const { spec, metadata } = set
  const replicas = spec?.replicas ?? 1
  const phase = 'Bound'
  const conditions = [{ type: 'Ready', status: 'True' }]
  const objects = Array.from({ length: replicas }, (_, ordinal) => {
    const name = `${metadata?.name}-${ordinal}`
    const pod = { kind: 'Pod', ...spec?.template, status: { phase: 'Running', conditions } }
    const claims = (spec?.volumeClaimTemplates ?? []).map((template) => ({
      ...template,
      kind: 'PersistentVolumeClaim',
      metadata: { ...template.metadata, name: `${template.metadata?.name}-${name}` },
      status: { phase, capacity: template.spec?.resources?.requests },
    }))
    return [...claims, { ...pod, metadata: { ...pod.metadata, name } }]
  })
  const counts = { replicas, readyReplicas: replicas, updatedReplicas: replicas }
  return [...objects.flat(), { ...set, status: counts }] as KubernetesObject[]
}

/** Resolves when the operator has seen this object, or seen it go, as far as it follows its kind. */
async function seen({ follows }: State, { kind, metadata }: KubernetesObject): Promise<void> {
  const { namespace, name = '', labels, resourceVersion } = metadata ?? {}
  for (const { reflector, labelSelector = '' } of follows) {
    if (reflector.type.kind !== kind) continue
    const wanted = isSelectedBy(labelSelector, labels) ? resourceVersion : undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    const check = (): void => {
      if (reflector.get(namespace, name)?.resourceVersion === wanted) resolve()
    }
    const end = reflector.onChange(check)
    check()
    await promise
    end()
  }
}

function reconcilesOf(state: State, self: string = 'viewmesh/operator'): Reconciles {
  const { api } = state.client
  const { view } = state
  const shared = {
    options: { clusterDomain: 'cluster.local', defaults: generatorContext.defaults },
    self,
    api,
    view,
    observer: {
      watch: (owner: string, { length }: readonly unknown[]) =>
        void state.watched.set(owner, length),
      view: (_: string, { ordinal }: { readonly ordinal: number }) => state.views.get(ordinal),
      checkNow: (owner: string) => void state.asked.push(owner),
      close: async () => undefined,
    },
    status: createStatusWriter({ fieldManager: 'tester-status' }, { api }),
    events: {
      record: (_: unknown, __: unknown, { reason, note }: Occurrence) => {
        state.events.push(`${reason} ${note}`)
      },
      close: async () => undefined,
    },
    now: () => new Date(startMs + state.nowMs),
    nowMs: () => state.nowMs,
    resync: createResyncInterval(5_000, () => state.resources),
  }
  const { isLeft, placed } = createHostPlaces(view, () => undefined)
  const hostViews = {
    placed,
    asked: (host: Host) => askedViews(view, host),
  }
  const hosts = { ...shared, informer: view.resources.Host, type: types.Host }
  const generators = { ...shared, informer: view.resources.Generator, type: types.Generator }
  return {
    Generator: createReconcile(generatorLogic, generators),
    Host: createReconcile(createHostLogic(view.resources.Generator, hostViews), hosts),
    View: createViewReconcile({
      ...{ ...shared, isLeft },
      informer: view.resources.View,
      type: types.View,
    }),
  }
}
