/** What tests on a real cluster create, read and wait for. */
import { setTimeout as sleep } from 'node:timers/promises'
import { requests } from '../../../../operator/api/annotations.ts'
import type { Condition, HostStatus } from '../../../../operator/api/status.ts'
import type { Resource } from '../../../../operator/api.ts'
import { builtinTypes, collectionPath } from '../../../../operator/runtime/client/resource-type.ts'
import type { Cluster, ClusterObject } from './cluster.ts'
import { clusterImage } from './cluster-image.ts'

/** A resource as tests write it. */
export interface Written {
  readonly kind: Resource['kind']
  readonly name: string
  readonly spec: object
}

/** What a test reads of an object. */
export interface LiveObject extends ClusterObject {
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly generation?: number
    readonly creationTimestamp: string
    readonly resourceVersion: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly deletionTimestamp?: string
    readonly ownerReferences?: readonly { readonly uid: string }[]
  }
  readonly data?: Readonly<Record<string, string>>
}

export interface Namespaced {
  /** Path of an object. */
  path(kind: Kind, name: string): string
  /** The object, or null. */
  find(kind: Kind, name: string): Promise<LiveObject | null>
  list(kind: Kind): Promise<LiveObject[]>
  /** Notes of all Events of a reason. */
  notes(reason: string): Promise<string[]>
  delete(kind: Kind, name: string, query?: Readonly<Record<string, string>>): Promise<void>
  /** A merge patch, as `kubectl patch --type merge` sends it. */
  patch(kind: Kind, name: string, patch: object): Promise<LiveObject>
  write(resource: Written): Promise<void>
  status(kind: Written['kind'], name: string): Promise<HostStatus>
  condition(kind: Written['kind'], name: string, type: string): Promise<Condition | null>
  /** Waits until the condition has this reason, for the newest spec. */
  reason(kind: Written['kind'], name: string, type: string, reason: string): Promise<Condition>
}

type Kind = keyof typeof builtinTypes | Written['kind']

/** Views of one namespace. */
export function inNamespace(cluster: Cluster, namespace: string): Namespaced {
  const pathOf = (kind: Kind, name?: string): string => {
    const folder =
      kind === 'Generator' || kind === 'Host' || kind === 'View'
        ? `/apis/viewmesh.io/v1alpha1/namespaces/${namespace}/${kind.toLowerCase()}s`
        : collectionPath(builtinTypes[kind], namespace)
    return name === undefined ? folder : `${folder}/${name}`
  }
  const find: Namespaced['find'] = async (kind, name) => {
    const { status, body } = await cluster.request('GET', pathOf(kind, name))
    return status === 200 ? (body as LiveObject) : null
  }
  const status: Namespaced['status'] = async (kind, name) =>
    ((await find(kind, name))?.status ?? {}) as HostStatus
  const condition: Namespaced['condition'] = async (kind, name, type) => {
    const { conditions = [] } = await status(kind, name)
    return conditions.find((found) => found.type === type) ?? null
  }
  return {
    path: pathOf,
    find,
    status,
    condition,
    list: async (kind) => {
      const { body } = await cluster.request('GET', pathOf(kind))
      return ((body as { items?: LiveObject[] }).items ?? []).toSorted((a, b) =>
        a.metadata.name < b.metadata.name ? -1 : 1,
      )
    },
    notes: async (wanted) => {
      const { body } = await cluster.request('GET', collectionPath(builtinTypes.Event, namespace))
      const { items = [] } = body as { items?: { reason: string; note: string }[] }
      return items.filter(({ reason }) => reason === wanted).map(({ note }) => note)
    },
    delete: async (kind, name, query = {}) => {
      await cluster.request('DELETE', pathOf(kind, name), { query })
    },
    patch: async (kind, name, body) => {
      const type = 'application/merge-patch+json'
      const answer = await cluster.request('PATCH', pathOf(kind, name), { body, type })
      if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.body.message}`)
      return answer.body as LiveObject
    },
    write: async ({ kind, name, spec }) => {
      await cluster.apply(pathOf(kind, name), {
        apiVersion: 'viewmesh.io/v1alpha1',
        kind,
        metadata: { name, namespace },
        spec,
      })
    },
    reason: async (kind, name, type, reason) =>
      await eventually(async () => {
        const object = await find(kind, name)
        const { conditions = [] } = (object?.status ?? {}) as HostStatus
        const found = conditions.find((one) => one.type === type)
        const generation = object?.metadata.generation
        if (found?.reason === reason && found.observedGeneration === generation) return found
        throw new Error(
          `${type} of ${kind} ${name} is ${JSON.stringify(found)}, not ${reason} of generation ${generation}`,
        )
      }),
  }
}

/** Waits until a condition has this reason; the replicas are asked every second meanwhile. */
export async function askedReason(
  here: Namespaced,
  kind: Written['kind'],
  name: string,
  [type, reason]: readonly [type: string, reason: string],
): Promise<Condition> {
  return await eventually(async () => {
    const now = `${Math.floor(Date.now() / 1_000)}`
    await here.patch(kind, name, { metadata: { annotations: { [requests.reconcileAt]: now } } })
    const found = await here.condition(kind, name, type)
    if (found?.reason === reason) return found
    throw new Error(`${type} of ${kind} ${name} is ${JSON.stringify(found)}, not ${reason}`)
  })
}

/** What a check answers, as soon as it does not throw. */
export async function eventually<T>(check: () => Promise<T>, maxMs = 180_000): Promise<T> {
  const endMs = performance.now() + maxMs
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > endMs) throw error
    }
    await sleep(250)
  }
}

const small = { keys: { size: '1Mi' }, data: { size: '10Mi' } }
const chain = { name: 'Ethereum', network: 'Devnet' }

/** Requests with which the pods of several suites at once fit on a machine of two cores. */
function modest(name: 'generator' | 'host'): object {
  const requests = { cpu: '50m', memory: '128Mi' }
  return { podTemplate: { spec: { containers: [{ name, resources: { requests } }] } } }
}

/** A Generator that reads the node of `writeNode`. */
export function generatorOf(name: string, more: object = {}): Written {
  const upstream = { service: { name: 'node', httpPort: 8545, wsPort: 8545 } }
  const start = { height: 0 }
  const spec = { chain, upstream, start, storage: small, ...modest('generator'), ...more }
  return { kind: 'Generator', name, spec }
}

/** A Host with small volumes and requests, which is ready without blocks as well: most tests have no Generator. */
export function hostOf(name: string, more: object = {}): Written {
  const readiness = { minBlocks: 0 }
  const spec = { chain, storage: small, readiness, ...modest('host'), ...more }
  return { kind: 'Host', name, spec }
}

/** Makes pods that fit on no machine: everything is made but running pods. */
export const parked = { podTemplate: { spec: { nodeSelector: { 'example.org/none': 'such' } } } }

/** An execution node of the development chain with a Service, as an administrator would have one. */
export async function writeNode(cluster: Cluster, namespace: string): Promise<void> {
  const labels = { app: 'node' }
  await cluster.apply(`/apis/apps/v1/namespaces/${namespace}/deployments/node`, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'node', namespace },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: nodePod } },
  })
  await cluster.apply(`/api/v1/namespaces/${namespace}/services/node`, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'node', namespace },
    spec: { selector: labels, ports: [{ port: 8545 }] },
  })
}

const nodePod = {
  securityContext: {
    runAsNonRoot: true,
    runAsUser: 1001,
    runAsGroup: 1001,
    seccompProfile: { type: 'RuntimeDefault' },
  },
  containers: [
    {
      name: 'node',
      image: clusterImage('anvil'),
      imagePullPolicy: 'IfNotPresent',
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    },
  ],
}
