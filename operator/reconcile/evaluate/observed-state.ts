/** The observed state of one resource: all that is watched of it, and what its replicas reported. */
import type { V1ConfigMap, V1StatefulSet } from '@kubernetes/client-node'
import type { Workload } from '../../api.ts'
import {
  childNames,
  specOrdinals,
  wantedOrdinals,
  wantedReplicas,
} from '../../resources/names/names.ts'
import { type Discovered, readDiscovered } from '../../resources/pod/discovered.ts'
import { readTemplateRecord, type TemplateRecord } from '../../resources/pod/template-record.ts'
import type { Keyring } from '../fetch/keyring.ts'
import { keysClaim, type PlacedClaim, type ReplicaIdentity } from '../observe/claim.ts'
import {
  type ClusterView,
  claimsOf,
  keptChild,
  liveChild,
  maxReplicas,
  podsOf,
} from '../observe/cluster-view.ts'
import type { HealthObserver } from '../observe/health-observer.ts'
import type { HealthView } from '../observe/health-view.ts'
import { observedName } from '../observe/observed-name.ts'
import type { KeptPod } from '../observe/pod.ts'
import type { SetCounts } from '../observe/set-counts.ts'
import { isOfFormer } from '../statements/ownership.ts'
import { type ExternalFinding, externalFinding } from './external-health.ts'
import { addressesOf, healthTargets } from './health-targets.ts'

export interface ObservedState {
  /** The time of day it is of, in milliseconds since 1970. */
  readonly observedMs: number
  /** That of a deleted resource of the same name is none. */
  readonly set: V1StatefulSet | null
  readonly counts: SetCounts | null
  /** True while the StatefulSet is being deleted. */
  readonly isSetTerminating: boolean
  /** Claims of all ordinals, and of the wanted ones. */
  readonly allClaims: readonly PlacedClaim[]
  readonly claims: readonly PlacedClaim[]
  readonly pods: ReadonlyMap<number, KeptPod>
  /** By ordinal of running pods: undefined before it was asked. */
  readonly views: ReadonlyMap<number, HealthView | null | undefined>
  /** By ordinal of wanted replicas: peer IDs that status has, or that were reported since. */
  readonly peerIDs: ReadonlyMap<number, string>
  readonly discovered: readonly (readonly string[])[]
  /** By ordinal: what was found at external addresses, where that is known. */
  readonly external: ReadonlyMap<number, ExternalFinding>
  /** What the last pod template was, from the StatefulSet, or where that is gone from the ConfigMap. */
  readonly recorded: TemplateRecord | null
  readonly recordedDiscovered: Required<Discovered>
  /** Whether the ConfigMap keeps the record while there is no StatefulSet. */
  readonly isParked: boolean
}

interface ObservedStateParts {
  readonly view: ClusterView
  readonly observer: Pick<HealthObserver, 'view'>
  readonly now: () => Date
}

/** Reads what is watched. `unwatched` are claims that were found by name, and count while they are not watched. */
export function observeState(
  { view, observer, now }: ObservedStateParts,
  resource: Workload,
  unwatched: readonly PlacedClaim[] = [],
): ObservedState {
  const { base, config } = childNames(resource)
  const live = liveChild<V1StatefulSet>(view, resource, 'StatefulSet', base)
  const isFormer = isOfFormer(resource, live?.metadata?.ownerReferences ?? [])
  const set = isFormer ? null : live
  const kept = isFormer ? null : keptChild(view, resource, 'StatefulSet', base)
  const pods = podsOf(view, resource)
  const watched = claimsOf(view, resource, maxReplicas)
  const names = watched.map(({ claim }) => claim.name)
  const allClaims = [...watched, ...unwatched.filter(({ claim }) => !names.includes(claim.name))]
  const parked = liveChild<V1ConfigMap>(view, resource, 'ConfigMap', config)?.metadata?.annotations
  const annotations = set === null ? parked : set.metadata?.annotations
  const discovered = addressesOf(view, resource, pods)
  const { views, external } = viewsOf(observer, resource, { pods, discovered })
  return {
    observedMs: now().getTime(),
    set,
    counts: kept?.counts ?? null,
    isSetTerminating: kept?.isTerminating ?? false,
    allClaims,
    claims: allClaims.filter(({ ordinal }) => ordinal < wantedReplicas(resource)),
    pods,
    views,
    peerIDs: peerIDsOf(resource, views),
    discovered,
    external,
    recorded: readTemplateRecord(annotations),
    recordedDiscovered: readDiscovered(annotations),
    isParked: set === null && readTemplateRecord(parked) !== null,
  }
}

/** What status has goes before what a replica says: the ID belongs to its key. */
function peerIDsOf(resource: Workload, views: ObservedState['views']): Map<number, string> {
  const nodes = new Map((resource.status?.nodes ?? []).map((node) => [node.ordinal, node]))
  const found = specOrdinals(resource).flatMap((ordinal): [number, string][] => {
    const peerID = nodes.get(ordinal)?.peerID ?? views.get(ordinal)?.peerID
    return peerID ? [[ordinal, peerID]] : []
  })
  return new Map(found)
}

/**
 * What is known of the identities of wanted replicas. One that is scaled away is evaluated when it returns; until
 * then another one may have its key, since it runs nowhere. Claims with these UIDs hold no identity, and count as none.
 */
export function identitiesOf(
  resource: Workload,
  { allClaims }: Pick<ObservedState, 'allClaims'>,
  { fingerprints }: Pick<Keyring, 'fingerprints'>,
  unused: ReadonlySet<string> = new Set(),
): ReplicaIdentity[] {
  const nodes = new Map((resource.status?.nodes ?? []).map((node) => [node.ordinal, node]))
  return wantedOrdinals(resource).map((ordinal): ReplicaIdentity => {
    const placed = allClaims.find(
      ({ volume, ordinal: of, claim }) =>
        volume === 'keys' && of === ordinal && !unused.has(claim.uid),
    )
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

function viewsOf(
  observer: ObservedStateParts['observer'],
  resource: Workload,
  seen: Pick<ObservedState, 'pods' | 'discovered'>,
): Pick<ObservedState, 'views' | 'external'> {
  const { views, external } = healthTargets(observer, resource, seen)
  const findings = external.flatMap((target): [number, ExternalFinding][] => {
    const view = observer.view(observedName(resource), target)
    return view === undefined ? [] : [[target.ordinal, externalFinding(target, view)]]
  })
  return { views, external: new Map(findings) }
}
