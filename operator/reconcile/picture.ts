/**
 * Everything a reconcile knows of one resource at one moment, from what is watched and what the last
 * look at Secrets found; and what follows from it without writing anything.
 */
import type { V1ConfigMap, V1StatefulSet } from '@kubernetes/client-node'
import type { Resource } from '../api.ts'
import { type Learnt, readLearnt } from '../resources/learnt.ts'
import {
  childNames,
  p2pServiceName,
  podName,
  wantedOrdinals,
  wantedReplicas,
} from '../resources/names.ts'
import { readTemplateRecord, type TemplateRecord } from '../resources/template-record.ts'
import { keptChild, liveChild } from './children.ts'
import { keysClaim, type PlacedClaim } from './claim.ts'
import { type ClusterView, claimsOf, maxReplicas, podsOf } from './cluster-view.ts'
import type { HealthObserver, Target } from './health/health-observer.ts'
import type { HealthView } from './health/health-view.ts'
import { type OutsideFinding, outsideFinding, outsideTargets } from './health/outside-health.ts'
import type { ReplicaIdentity } from './identity.ts'
import type { Keyring } from './keyring.ts'
import { type Ingress, learntAddresses } from './outside-address.ts'
import { isOfFormer } from './ownership.ts'
import type { KeptPod } from './pod.ts'
import type { SetCounts } from './readiness.ts'

export interface Picture {
  /** The time of day it is of, in milliseconds since 1970. */
  readonly takenMs: number
  /** That of a deleted resource of the same name is none. */
  readonly set: V1StatefulSet | null
  readonly counts: SetCounts | null
  /** True while the StatefulSet is being deleted. */
  readonly isSetGoing: boolean
  /** Claims of all ordinals, and of the wanted ones. */
  readonly allClaims: readonly PlacedClaim[]
  readonly claims: readonly PlacedClaim[]
  readonly pods: ReadonlyMap<number, KeptPod>
  /** By ordinal of running pods: undefined before it was asked. */
  readonly views: ReadonlyMap<number, HealthView | null | undefined>
  readonly learnt: readonly (readonly string[])[]
  /** By ordinal: what was found at outside addresses, where that is known. */
  readonly outside: ReadonlyMap<number, OutsideFinding>
  /** What the last pod template was, from the StatefulSet, or where that is gone from the ConfigMap. */
  readonly recorded: TemplateRecord | null
  readonly recordedLearnt: Required<Learnt>
  /** Whether the ConfigMap keeps the record while there is no StatefulSet. */
  readonly isParked: boolean
}

export interface PictureParts {
  readonly view: ClusterView
  readonly observer: HealthObserver
  readonly now: () => Date
}

/**
 * Looks at what is watched; the observer is told which pods to ask. `unseen` are claims that were found by
 * name, and count while they are not watched.
 */
export function takePicture(
  { view, observer, now }: PictureParts,
  resource: Resource,
  unseen: readonly PlacedClaim[] = [],
): Picture {
  const { base, config } = childNames(resource)
  const live = liveChild<V1StatefulSet>(view, resource, 'StatefulSet', base)
  const isFormer = isOfFormer(resource, live?.metadata?.ownerReferences ?? [])
  const set = isFormer ? null : live
  const kept = isFormer ? null : keptChild(view, resource, 'StatefulSet', base)
  const pods = podsOf(view, resource)
  const watched = claimsOf(view, resource, maxReplicas)
  const names = watched.map(({ claim }) => claim.name)
  const allClaims = [...watched, ...unseen.filter(({ claim }) => !names.includes(claim.name))]
  const parked = liveChild<V1ConfigMap>(view, resource, 'ConfigMap', config)?.metadata?.annotations
  const annotations = set === null ? parked : set.metadata?.annotations
  const learnt = learntAddresses(resource, {
    ingress: ingressByName(view, resource),
    pods: new Map([...pods].map(([ordinal, pod]) => [podName(resource, ordinal), pod])),
  })
  return {
    takenMs: now().getTime(),
    set,
    counts: kept?.counts ?? null,
    isSetGoing: kept?.isGoing ?? false,
    allClaims,
    claims: allClaims.filter(({ ordinal }) => ordinal < wantedReplicas(resource)),
    pods,
    ...askedViews(observer, resource, { pods, learnt }),
    learnt,
    recorded: readTemplateRecord(annotations),
    recordedLearnt: readLearnt(annotations),
    isParked: set === null && readTemplateRecord(parked) !== null,
  }
}

/** The name under which the observer knows a resource. */
export function observedName({
  kind,
  metadata,
}: {
  readonly kind: Resource['kind']
  readonly metadata: Pick<Resource['metadata'], 'namespace' | 'name'>
}): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`
}

/**
 * What is known of the identities of wanted replicas. One that rests is judged when it returns; until then
 * its key may be another's, since it runs nowhere.
 */
export function identitiesOf(
  resource: Resource,
  { allClaims }: Pick<Picture, 'allClaims'>,
  { fingerprints }: Pick<Keyring, 'fingerprints'>,
): ReplicaIdentity[] {
  const nodes = new Map((resource.status?.nodes ?? []).map((node) => [node.ordinal, node]))
  return wantedOrdinals(resource).map((ordinal): ReplicaIdentity => {
    const placed = allClaims.find((one) => one.volume === 'keys' && one.ordinal === ordinal)
    const fingerprint = nodes.get(ordinal)?.keyringFingerprint
    const claimUID = nodes.get(ordinal)?.keysClaimUID ?? null
    return {
      ordinal,
      key: fingerprints.get(ordinal) ?? null,
      claim: placed === undefined ? null : keysClaim(placed.claim),
      known: fingerprint === undefined ? null : { fingerprint, claimUID },
    }
  })
}

function askedViews(
  observer: HealthObserver,
  resource: Resource,
  { pods, learnt }: Pick<Picture, 'pods' | 'learnt'>,
): Pick<Picture, 'views' | 'outside'> {
  const name = observedName(resource)
  const inside = [...pods].flatMap(([ordinal, { ip, uid, isGoing }]): Target[] =>
    ip === null || isGoing || ordinal >= wantedReplicas(resource) ? [] : [{ ordinal, uid, ip }],
  )
  const views = new Map(inside.map((target) => [target.ordinal, observer.view(name, target)]))
  const outside = outsideTargets(resource, { pods, views, learnt })
  observer.watch(name, [...inside, ...outside])
  const findings = outside.flatMap((target): [number, OutsideFinding][] => {
    const view = observer.view(name, target)
    return view === undefined ? [] : [[target.ordinal, outsideFinding(target, view)]]
  })
  return { views, outside: new Map(findings) }
}

function ingressByName(view: ClusterView, resource: Resource): Map<string, Ingress> {
  const found = new Map<string, Ingress>()
  for (let ordinal = 0; ordinal < wantedReplicas(resource); ordinal += 1) {
    const name = p2pServiceName(resource, ordinal)
    const ingress = keptChild(view, resource, 'Service', name)?.ingress
    if (ingress !== undefined) found.set(name, ingress)
  }
  return found
}
