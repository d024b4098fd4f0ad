/**
 * Reads what a bug report has: resources and what was made for them, Events, and the operator. Secrets are never
 * asked for. What may not be read is noted in its place.
 */
import type { EventsV1Event, V1Pod } from '@kubernetes/client-node'
import { messageOf } from '../../../src/errors.ts'
import { labels } from '../../api/annotations.ts'
import { resourceKinds } from '../../api/resource-kinds.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import type { KubernetesObject } from '../../runtime/client/kubernetes-object.ts'
import type { Selection } from '../../runtime/client/list-watch.ts'
import { builtinTypes, type ResourceType } from '../../runtime/client/resource-type.ts'

/** Reads objects; of what may not be read it keeps the reason. */
export interface ObjectReader {
  list<T extends KubernetesObject>(selection: Selection): Promise<readonly T[]>
  /** Why something is missing, a line each. */
  readonly problems: string[]
}

/** Objects of one kind. */
export interface Collected {
  readonly type: ResourceType
  readonly objects: readonly KubernetesObject[]
}

export function createObjectReader(api: KubernetesApi): ObjectReader {
  const problems: string[] = []
  return {
    problems,
    async list<T extends KubernetesObject>(selection: Selection): Promise<readonly T[]> {
      try {
        return (await api.list(selection, { keep: (object: T) => object })).items
      } catch (error) {
        problems.push(messageOf(error))
        return []
      }
    },
  }
}

const ofResources = `${labels.name} in (generator,host,view),${labels.instance}`
const madeKinds = [
  'StatefulSet',
  'Job',
  'Pod',
  'Service',
  'ConfigMap',
  'PersistentVolumeClaim',
  'NetworkPolicy',
  'PodDisruptionBudget',
  'ServiceAccount',
] as const

/** Generators, Hosts, Views, and what there is for them, in a namespace or in all (undefined). */
export async function collectResources(
  reader: ObjectReader,
  namespace: string | undefined,
): Promise<Collected[]> {
  const selections = [
    ...resourceKinds.map((type) => ({ type, namespace })),
    ...madeKinds.map((kind) => ({
      type: builtinTypes[kind],
      namespace,
      labelSelector: ofResources,
    })),
  ]
  const found: Collected[] = []
  for (const selection of selections) {
    found.push({ type: selection.type, objects: await reader.list(selection) })
  }
  return found
}

/** Events about these objects, and about pods and claims that are gone but were named like them; the oldest first. */
export async function collectEvents(
  reader: ObjectReader,
  namespace: string | undefined,
  collected: readonly Collected[],
): Promise<readonly EventsV1Event[]> {
  const names = collected.flatMap(({ objects }) =>
    objects.flatMap(({ metadata }) => metadata?.name ?? []),
  )
  const events = await reader.list<EventsV1Event & KubernetesObject>({
    type: builtinTypes.Event,
    namespace,
  })
  return events
    .filter(({ regarding }) => names.some((name) => isAbout(regarding?.name ?? '', name)))
    .toSorted((a, b) => timeOf(a).localeCompare(timeOf(b)))
}

/** `keys-mainnet-host-0` and `mainnet-host-0` are about `mainnet-host`, and `mainnet-other` is not about `mainnet`. */
function isAbout(subject: string, name: string): boolean {
  return subject === name || new RegExp(`^(?:keys-|data-)?${escaped(name)}-\\d+$`).test(subject)
}

function escaped(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9-]/g, '\\$&')
}

function timeOf({ eventTime, metadata }: EventsV1Event): string {
  return String(eventTime ?? metadata?.creationTimestamp ?? '')
}

const deployments: ResourceType = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  plural: 'deployments',
}

/** The operators that can be seen, with their pods and Leases. */
export async function collectOperators(
  reader: ObjectReader,
  namespace: string | undefined,
): Promise<{ readonly collected: readonly Collected[]; readonly pods: readonly V1Pod[] }> {
  const labelSelector = `${labels.name}=operator,${labels.partOf}=viewmesh`
  const found = await reader.list({ type: deployments, namespace, labelSelector })
  if (found.length === 0) {
    const where = namespace === undefined ? 'any namespace' : `namespace ${namespace}`
    reader.problems.push(`an operator: none was found in ${where}`)
  }
  const pods: V1Pod[] = []
  const leases: KubernetesObject[] = []
  for (const { metadata } of found) {
    const instance = metadata?.labels?.[labels.instance] ?? ''
    const own = {
      namespace: metadata?.namespace,
      labelSelector: `${labels.name}=operator,${labels.instance}=${instance}`,
    }
    pods.push(...(await reader.list<V1Pod & KubernetesObject>({ type: builtinTypes.Pod, ...own })))
    const all = await reader.list({ type: builtinTypes.Lease, namespace: metadata?.namespace })
    leases.push(...all.filter((lease) => lease.metadata?.name === metadata?.name))
  }
  const collected = [
    { type: deployments, objects: found },
    { type: builtinTypes.Pod, objects: pods as KubernetesObject[] },
    { type: builtinTypes.Lease, objects: leases },
  ]
  return { collected, pods }
}
