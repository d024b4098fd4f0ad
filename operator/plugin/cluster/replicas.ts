/** Pods and claims of resources. */
import type { V1PersistentVolumeClaim, V1Pod } from '@kubernetes/client-node'
import { labels } from '../../api/annotations.ts'
import { baseName, type NamedWorkload, type Volume } from '../../resources/names/names.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'

/** Something of a replica. */
export interface OfReplica<T> {
  readonly ordinal: number
  readonly object: T
}

/** The number at the end of a name such as `keys-mainnet-host-0`; null where it has another beginning. */
export function ordinalIn(name: string, beginning: string): number | null {
  const [, digits] = /^-(0|[1-9]\d{0,3})$/.exec(name.slice(beginning.length)) ?? []
  return name.startsWith(beginning) && digits !== undefined ? Number(digits) : null
}

/** Pods of all Generators and Hosts, in a namespace or (undefined) in all. */
export async function listPods(
  api: KubernetesApi,
  namespace: string | undefined,
): Promise<readonly V1Pod[]> {
  const labelSelector = `${labels.name} in (generator,host),${labels.instance}`
  const keep = (pod: V1Pod): V1Pod => pod
  return (await api.list({ type: builtinTypes.Pod, namespace, labelSelector }, { keep })).items
}

/** All claims: one that lost its labels is still what a replica uses. */
export async function listClaims(
  api: KubernetesApi,
  namespace: string | undefined,
): Promise<readonly V1PersistentVolumeClaim[]> {
  const keep = (claim: V1PersistentVolumeClaim): V1PersistentVolumeClaim => claim
  return (await api.list({ type: builtinTypes.PersistentVolumeClaim, namespace }, { keep })).items
}

/** Those of a resource, by ordinal. */
export function podsByOrdinal(pods: readonly V1Pod[], resource: NamedWorkload): OfReplica<V1Pod>[] {
  return placed(pods, resource, '')
}

/** Those of a resource for a volume, by ordinal. */
export function claimsByOrdinal(
  claims: readonly V1PersistentVolumeClaim[],
  resource: NamedWorkload,
  volume: Volume,
): OfReplica<V1PersistentVolumeClaim>[] {
  return placed(claims, resource, `${volume}-`)
}

function placed<T extends Pick<V1Pod, 'metadata'>>(
  objects: readonly T[],
  { kind, metadata }: NamedWorkload,
  prefix: string,
): OfReplica<T>[] {
  const beginning = `${prefix}${baseName(kind, metadata.name)}`
  return objects
    .filter((object) => object.metadata?.namespace === metadata.namespace)
    .flatMap((object) => {
      const ordinal = ordinalIn(object.metadata?.name ?? '', beginning)
      return ordinal === null ? [] : [{ ordinal, object }]
    })
    .toSorted((a, b) => a.ordinal - b.ordinal)
}
