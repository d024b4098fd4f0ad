/** What there is of an identity in a namespace, whether or not its resource is there any more. */

import type {
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodSpec,
  V1Secret,
  V1StatefulSet,
} from '@kubernetes/client-node'
import { workloadKinds } from '../../api/resource-kinds.ts'
import type { Workload } from '../../api.ts'
import { baseName, childNames, type NamedWorkload, programOf } from '../../resources/names/names.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import {
  claimsByOrdinal,
  listClaims,
  listPods,
  type OfReplica,
  podsByOrdinal,
} from '../cluster/replicas.ts'
import type { ResourceName } from '../cluster/resources.ts'
import { type KeysVolume, placementOf } from './keys-volume.ts'

export interface StandingIdentity {
  readonly named: NamedWorkload
  /** Null where it was deleted, or is not there yet. */
  readonly resource: Workload | null
  /** Name of the Secret with the keys, whether or not there is one. */
  readonly keyringName: string
  readonly keyring: V1Secret | null
  readonly claims: readonly OfReplica<V1PersistentVolumeClaim>[]
  readonly pods: readonly OfReplica<V1Pod>[]
  /** What pods of the resource are made from; undefined where nobody says. */
  readonly podSpec: Partial<V1PodSpec> | undefined
}

/** Reads all of it; `keyringName` is for where there is no resource to say it. */
export async function readStanding(
  api: KubernetesApi,
  namespace: string,
  { kind, name }: ResourceName,
  keyringName: string = `${baseName(kind, name)}-keyring`,
): Promise<StandingIdentity> {
  const named: NamedWorkload = { kind, metadata: { name, namespace } }
  const found = await api.find<Workload>({ type: workloadKinds[kind], namespace, name })
  const resource = found === null ? null : ({ ...found, kind } as Workload)
  const secretName = resource === null ? keyringName : childNames(resource).keyring
  const [keyring, claims, pods, set] = await Promise.all([
    api.find<V1Secret>({ type: builtinTypes.Secret, namespace, name: secretName }),
    listClaims(api, namespace),
    listPods(api, namespace),
    api.find<V1StatefulSet>({
      type: builtinTypes.StatefulSet,
      namespace,
      name: baseName(kind, name),
    }),
  ])
  const podSpec =
    set?.spec?.template.spec ?? (resource?.spec.podTemplate?.spec as Partial<V1PodSpec> | undefined)
  return {
    named,
    resource,
    keyringName: secretName,
    keyring,
    claims: claimsByOrdinal(claims, named, 'keys'),
    pods: podsByOrdinal(pods, named),
    podSpec,
  }
}

/** The keys volume of a claim, ready to be read; `image` goes before what the cluster says. */
export function volumeOf(
  { named, resource, pods, podSpec }: StandingIdentity,
  { ordinal, object }: OfReplica<V1PersistentVolumeClaim>,
  image: string | undefined,
): KeysVolume {
  const program = programOf(named)
  const ofProgram = podSpec?.containers?.find(({ name }) => name === program)?.image
  return {
    program,
    claim: object,
    pod: pods.find((pod) => pod.ordinal === ordinal)?.object ?? null,
    image: image ?? ofProgram ?? resource?.status?.image ?? null,
    placement: placementOf(podSpec),
  }
}
