/**
 * Everything the operator watches: the resources people write, what is made for them, their pods and
 * their claims. Secrets are not among it.
 */
import type {
  V1Job,
  V1PersistentVolumeClaim,
  V1Pod,
  V1Service,
  V1StatefulSet,
} from '@kubernetes/client-node'
import { labels } from '../../api/annotations.ts'
import { resourceKinds } from '../../api/resource-kinds.ts'
import type { Resource, Workload } from '../../api.ts'
import { claimName, podName, volumes } from '../../resources/names/names.ts'
import type { ChildObject } from '../../resources/objects/child-object.ts'
import type { Reflector } from '../../runtime/cache/reflector.ts'
import type { KubernetesObject } from '../../runtime/client/kubernetes-object.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import { type KeptClaim, keepClaim, type PlacedClaim } from './claim.ts'
import { type Informer, type OpenReflector, openInformer } from './informer.ts'
import { type Ingress, ingressOf } from './ingress.ts'
import { type KeptJob, keepJob } from './job.ts'
import { keepResource } from './kept-resource.ts'
import { type PackedObject, packObject, unpackObject } from './packed-object.ts'
import { type KeptPod, keepPod } from './pod.ts'
import { countsOf, type SetCounts } from './set-counts.ts'

/** Kinds of what is applied for a resource. */
export type ChildKind =
  | 'ConfigMap'
  | 'NetworkPolicy'
  | 'PodDisruptionBudget'
  | 'Service'
  | 'ServiceAccount'
  | 'StatefulSet'

/** A resource, without what else is known of it. */
interface OwnerKey {
  readonly kind: Resource['kind']
  /** `namespace/name`. */
  readonly key: string
}

/** Something that belongs to a resource, as its labels say. */
export interface Belonging<T> {
  readonly owner: OwnerKey | null
  readonly value: T
}

/** An object of ours; `counts` of a StatefulSet, `ingress` of a Service. */
interface KeptChild extends PackedObject {
  readonly counts?: SetCounts
  readonly ingress?: Ingress
}

/** The resources that people write, by kind. */
type ResourceInformers = {
  readonly [K in Resource['kind']]: Informer<Extract<Resource, { readonly kind: K }>>
}

export interface ClusterView {
  readonly resources: ResourceInformers
  readonly children: Readonly<Record<ChildKind, Informer<Belonging<KeptChild>>>>
  readonly pods: Informer<Belonging<KeptPod>>
  readonly claims: Informer<Belonging<KeptClaim>>
  /** Those that register Views. */
  readonly jobs: Informer<Belonging<KeptJob>>
  readonly reflectors: readonly Reflector<unknown>[]
  /** Those that follow what is in a namespace, on which all that is reconciled there depends. */
  reflectorsOf(namespace: string): readonly Reflector<unknown>[]
}

const applied = `${labels.partOf}=viewmesh,${labels.managedBy}=viewmesh-operator`
const replicas = `${labels.name} in (generator,host),${labels.instance}`

/** Begins to watch these namespaces; null is all of them. */
export function openClusterView(
  open: OpenReflector,
  namespaces: readonly string[] | null,
): ClusterView {
  const child = (kind: ChildKind): Informer<Belonging<KeptChild>> =>
    openInformer(open, namespaces, {
      type: builtinTypes[kind],
      labelSelector: applied,
      keep: belonging((object: KubernetesObject) => keepChild(object)),
    })
  const resources = Object.fromEntries(
    resourceKinds.map((type) => {
      const { standsAlone } = type
      const options = { type, standsAlone, keep: keepResource<Resource> }
      return [type.kind, openInformer(open, namespaces, options)]
    }),
  ) as ResourceInformers
  const children = {
    ConfigMap: child('ConfigMap'),
    NetworkPolicy: child('NetworkPolicy'),
    PodDisruptionBudget: child('PodDisruptionBudget'),
    Service: child('Service'),
    ServiceAccount: child('ServiceAccount'),
    StatefulSet: child('StatefulSet'),
  }
  const pods = openInformer<V1Pod, Belonging<KeptPod>>(open, namespaces, {
    type: builtinTypes.Pod,
    labelSelector: replicas,
    keep: belonging((pod: V1Pod) => keepPod(pod)),
  })
  const claims = openInformer<V1PersistentVolumeClaim, Belonging<KeptClaim>>(open, namespaces, {
    type: builtinTypes.PersistentVolumeClaim,
    labelSelector: `${labels.holds} in (keys,data)`,
    keep: belonging((claim: V1PersistentVolumeClaim) => keepClaim(claim)),
  })
  const jobs = openInformer<V1Job, Belonging<KeptJob>>(open, namespaces, {
    type: builtinTypes.Job,
    labelSelector: applied,
    // An older chart gives no right to them, and only Views that are to be registered have any.
    standsAlone: true,
    keep: belonging((job: V1Job) => keepJob(job)),
  })
  const informers = [...Object.values(resources), ...Object.values(children), pods, claims, jobs]
  const reflectors = informers.flatMap(
    (informer): readonly Reflector<unknown>[] => informer.reflectors,
  )
  const reflectorsOf = (namespace: string): readonly Reflector<unknown>[] =>
    informers.flatMap((informer): readonly Reflector<unknown>[] => {
      const reflector: Reflector<unknown> | undefined = informer.reflectorOf(namespace)
      return reflector === undefined || reflector.standsAlone ? [] : [reflector]
    })
  return { resources, children, pods, claims, jobs, reflectors, reflectorsOf }
}

function keepChild(object: KubernetesObject): KeptChild {
  const packed = packObject(object)
  if (object.kind === 'StatefulSet') return { ...packed, counts: countsOf(object as V1StatefulSet) }
  if (object.kind === 'Service') return { ...packed, ingress: ingressOf(object as V1Service) }
  return packed
}

function belonging<T extends KubernetesObject, C>(
  keep: (object: T) => C,
): (object: T) => Belonging<C> {
  return (object: T): Belonging<C> => ({ owner: ownerOf(object), value: keep(object) })
}

function ownerOf({ metadata }: KubernetesObject): OwnerKey | null {
  const program = metadata?.labels?.[labels.name]
  const instance = metadata?.labels?.[labels.instance]
  const kind = resourceKinds.find(({ singular }) => singular === program)?.kind
  if (instance === undefined || kind === undefined) return null
  return { kind, key: `${metadata?.namespace}/${instance}` }
}

/** The most replicas a resource can have had. */
export const maxReplicas = 16

/** Pods of a resource by ordinal, those of removed replicas among them. */
export function podsOf(view: ClusterView, resource: Workload): Map<number, KeptPod> {
  const found = new Map<number, KeptPod>()
  for (let ordinal = 0; ordinal < maxReplicas; ordinal += 1) {
    const pod = view.pods.get(resource.metadata.namespace, podName(resource, ordinal))
    if (pod !== undefined) found.set(ordinal, pod.value.value)
  }
  return found
}

/** Claims of a resource's first replicas. */
export function claimsOf(view: ClusterView, resource: Workload, count: number): PlacedClaim[] {
  return Array.from({ length: count }, (_, ordinal) => ordinal).flatMap((ordinal) =>
    volumes.flatMap((volume) => {
      const name = claimName(resource, volume, ordinal)
      const claim = view.claims.get(resource.metadata.namespace, name)?.value.value
      return claim === undefined ? [] : [{ volume, ordinal, claim }]
    }),
  )
}

/** A child as it is known, without its status; null where there is none. */
export function liveChild<T extends KubernetesObject | ChildObject>(
  view: Pick<ClusterView, 'children'>,
  resource: Resource,
  kind: ChildKind,
  name: string,
): T | null {
  const kept = keptChild(view, resource, kind, name)
  return kept === null ? null : (unpackObject(kept) as T)
}

export function keptChild(
  view: Pick<ClusterView, 'children'>,
  resource: Resource,
  kind: ChildKind,
  name: string,
): KeptChild | null {
  return view.children[kind].get(resource.metadata.namespace, name)?.value.value ?? null
}
