/** What is kept of a claim, and what identity and storage read from it. */
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'
import { labels, records } from '../../api/annotations.ts'
import type { Workload } from '../../api.ts'
import type { Volume } from '../../resources/names/names.ts'
import { timeOf } from '../../runtime/client/micro-time.ts'
import { isOfFormer, type Owner, ownersOf } from '../statements/ownership.ts'

/** A claim without what is never read. */
export interface KeptClaim {
  readonly name: string
  readonly uid: string
  /** When it was created, in milliseconds since 1970; null where nobody says. */
  readonly createdMs: number | null
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly owners: readonly Owner[]
  readonly isTerminating: boolean
  readonly isBound: boolean
  readonly storageClassName: string | null
  /** Name of its PersistentVolume; null before it is bound. */
  readonly volumeName: string | null
  /** The size that is asked for, and the one there is; null before it is bound. */
  readonly requested: string
  readonly capacity: string | null
  /** Types of conditions that are True, with their messages. */
  readonly conditions: Readonly<Record<string, string>>
  /** Since when it says that the file system waits for a start of the pod; null where it does not. */
  readonly startWantedMs: number | null
  /** `ControllerResizeInfeasible` and the like; null while nothing is resized. */
  readonly resizeStatus: string | null
}

/** A claim of a replica, with the place it has there. */
export interface PlacedClaim {
  readonly volume: Volume
  readonly ordinal: number
  readonly claim: KeptClaim
}

/** The condition of a claim whose file system grows when a pod is next started with it. */
const startWanted = 'FileSystemResizePending'

/**
 * For how long a claim has to report so before it is acted on: of a file system that grows online it reports the
 * same until the kubelet has grown it, which syncs a pod about every minute and a half. A pod that is
 * created after that is newer than the condition also by clocks that differ by less.
 */
const startWaitMs = 3 * 60_000

/**
 * Whether its file system grows only when a pod is next started with it. No event
 * reports when the time is over; resources are polled anyway (`poll-interval.ts`).
 */
export function needsStart({ startWantedMs }: KeptClaim, nowMs: number): boolean {
  return startWantedMs !== null && nowMs - startWantedMs >= startWaitMs
}

export function keepClaim({ metadata, spec, status }: V1PersistentVolumeClaim): KeptClaim {
  const isTrue = (status?.conditions ?? []).filter((condition) => condition.status === 'True')
  return {
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    createdMs: timeOf(metadata?.creationTimestamp),
    labels: ownLabels(metadata?.labels ?? {}),
    annotations: ownAnnotations(metadata?.annotations ?? {}),
    owners: ownersOf(metadata),
    isTerminating: metadata?.deletionTimestamp !== undefined,
    isBound: status?.phase === 'Bound',
    storageClassName: spec?.storageClassName ?? null,
    volumeName: spec?.volumeName || null,
    requested: spec?.resources?.requests?.['storage'] ?? '0',
    capacity: status?.capacity?.['storage'] ?? null,
    conditions: Object.fromEntries(isTrue.map(({ type, message }) => [type, message ?? ''])),
    startWantedMs: timeOf(isTrue.find(({ type }) => type === startWanted)?.lastTransitionTime),
    resizeStatus: status?.allocatedResourceStatuses?.['storage'] || null,
  }
}

/** What the marks of a `keys` claim say about the identity on it. */
export function keysClaim(claim: KeptClaim): KeysClaim {
  return {
    uid: claim.uid,
    fingerprint: claim.annotations[records.keyringFingerprint] ?? null,
    isTerminating: claim.isTerminating,
    volumeName: claim.volumeName,
  }
}

/** Kubernetes takes any number of others. */
function ownLabels(all: Readonly<Record<string, string>>): Record<string, string> {
  const own: readonly string[] = [labels.name, labels.instance, labels.holds]
  return Object.fromEntries(Object.entries(all).filter(([name]) => own.includes(name)))
}

function ownAnnotations(annotations: Readonly<Record<string, string>>): Record<string, string> {
  const own: readonly string[] = [records.keyringFingerprint, records.network, records.start]
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => own.includes(name)))
}

/** Whether a claim is neither being deleted nor about to be, with a deleted resource of the same name. */
export function isLasting(resource: Workload, { isTerminating, owners }: KeptClaim): boolean {
  return !isTerminating && !isOfFormer(resource, owners)
}

/** A `keys` claim, as far as identities go. */
export interface KeysClaim {
  readonly uid: string
  /** The mark on it; null while it has none. */
  readonly fingerprint: string | null
  /** True while it is being deleted; a pod that uses it holds that up. */
  readonly isTerminating: boolean
  /** Its PersistentVolume; null before it is bound. */
  readonly volumeName: string | null
}

/** What is known of one replica's identity. */
export interface ReplicaIdentity {
  readonly ordinal: number
  /** Fingerprint of the key that the keyring Secret has now; null where it has none. */
  readonly key: string | null
  /** The claim that there is now. */
  readonly claim: KeysClaim | null
  /** What the status remembers: the mark of the claim, and which claim it was. */
  readonly known: { readonly fingerprint: string; readonly claimUID: string | null } | null
}
