/** Keeps the labels, records, owners and sizes of a resource's claims. */
import type { V1PersistentVolumeClaim, V1StorageClass } from '@kubernetes/client-node'
import { records } from '../../api/annotations.ts'
import type { Workload } from '../../api.ts'
import { type Drift, driftOf } from '../../resources/drift/drift.ts'
import { wantedReplicas } from '../../resources/names/names.ts'
import { claimApplied } from '../../resources/objects/claims.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import { hasCode } from '../../runtime/client/api-error.ts'
import type { KubernetesObject } from '../../runtime/client/kubernetes-object.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import { isOwnedAsWanted } from '../evaluate/deletion-policy.ts'
import { growing, type StorageStatement, sizeOf } from '../evaluate/storage.ts'
import type { Keyring } from '../fetch/keyring.ts'
import {
  isLasting,
  type KeptClaim,
  keepClaim,
  keysClaim,
  type PlacedClaim,
} from '../observe/claim.ts'
import type { EventParts } from '../statements/record-event.ts'
import { listed } from '../statements/sentences.ts'
import { type Answers, rememberAnswer, unanswered } from './answers.ts'

/** What one claim is to be. */
export interface ClaimChange {
  readonly placed: PlacedClaim
  readonly object: KubernetesObject
}

/** What claims are marked with. */
interface ClaimMarks extends Pick<Keyring, 'fingerprints'> {
  /** Where the store of a Generator began (`../evaluate/ignored-start.ts`). */
  readonly start: string | null
}

/** Whether a claim's storage can become larger, as far as that is known. */
export type MayGrow = (placed: PlacedClaim) => boolean

/**
 * Claims that are not as wanted. Those that may not grow keep their sizes. Marks of replicas that are
 * not wanted now are left: their keys are compared when they return.
 */
export function claimChanges(
  resource: Workload,
  claims: readonly PlacedClaim[],
  { marks, answers }: ClaimFacts,
  mayGrow: MayGrow,
): ClaimChange[] {
  return claims
    .filter(({ claim }) => isLasting(resource, claim))
    .flatMap((placed): ClaimChange[] => {
      const wanted = wantedClaim(resource, placed, marks, mayGrow)
      const object = wanted as KubernetesObject
      const drift = unanswered(answers, object, claimDrift(resource, wanted, placed.claim))
      if (drift.length === 0 && isOwnedAsWanted(resource, placed)) return []
      return [{ placed, object }]
    })
}

/** What claims are compared with, besides the spec. */
interface ClaimFacts {
  readonly marks: ClaimMarks
  readonly answers: Answers
}

/** Owners are compared elsewhere. */
function claimDrift(
  resource: Workload,
  wanted: V1PersistentVolumeClaim,
  claim: KeptClaim,
): Drift[] {
  const { ownerReferences: _, ...metadata } = wanted.metadata ?? {}
  return driftOf({ ...wanted, metadata }, asClaim(resource, claim))
}

function wantedClaim(
  resource: Workload,
  placed: PlacedClaim,
  { fingerprints, start }: ClaimMarks,
  mayGrow: MayGrow,
): ReturnType<typeof claimApplied> {
  const { volume, ordinal, claim } = placed
  const isWanted = ordinal < wantedReplicas(resource)
  const mark = isWanted ? (fingerprints.get(ordinal) ?? null) : keysClaim(claim).fingerprint
  return claimApplied(resource, volume, ordinal, {
    uid: claim.uid,
    size: isWanted && mayGrow(placed) ? sizeOf(resource, placed) : claim.requested,
    keyringFingerprint: volume === 'keys' ? mark : null,
    start: volume === 'data' ? (claim.annotations[records.start] ?? start) : null,
  })
}

/** A kept claim in the shape of a real one, without its owners. */
function asClaim(
  resource: Workload,
  { name, uid, labels, annotations, requested }: KeptClaim,
): object {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: resource.metadata.namespace, uid, labels, annotations },
    spec: { resources: { requests: { storage: requested } } },
  }
}

interface ClaimWrites {
  readonly changes: (mayGrow: MayGrow) => readonly ClaimChange[]
  /** Those of wanted replicas. */
  readonly claims: readonly PlacedClaim[]
  readonly answers: Answers
}

/** Writes the changes. How a claim that asks for more was refused is returned, not thrown. */
export async function applyClaims(
  parts: EventParts & { readonly api: KubernetesApi },
  resource: Workload,
  { changes, claims, answers }: ClaimWrites,
  signal: AbortSignal,
): Promise<StorageStatement | null> {
  const { api } = parts
  const small = growing(resource, claims)
  const fixed = await fixedClasses(api, small, signal)
  const refusals = fixed.map((name) => fixedText(name, small))
  for (const { placed, object } of changes(({ claim }) => !fixed.includes(classOf(claim)))) {
    try {
      const after = await api.apply(builtinTypes.PersistentVolumeClaim, object, { signal })
      const claim = keepClaim(after as V1PersistentVolumeClaim)
      const drift = claimDrift(resource, object as V1PersistentVolumeClaim, claim)
      rememberAnswer(parts, resource, { answers, wanted: object, drift })
    } catch (error) {
      if (!small.includes(placed)) throw error
      if (!hasCode(error, 'OPERATOR_API_FORBIDDEN', 'OPERATOR_API_INVALID')) throw error
      refusals.push(`${error.message} (${claimText(placed)})`)
    }
  }
  return refusals.length === 0 ? null : unsupported(refusals)
}

/** Classes of these claims that let no volume grow. Without the right to ask it is tried. */
async function fixedClasses(
  api: KubernetesApi,
  small: readonly PlacedClaim[],
  signal: AbortSignal,
): Promise<string[]> {
  const fixed: string[] = []
  for (const name of new Set(small.map(({ claim }) => classOf(claim)))) {
    if (name === '' || !(await allowsGrowth(api, name, signal))) fixed.push(name)
  }
  return fixed
}

function fixedText(name: string, small: readonly PlacedClaim[]): string {
  const held = small.filter(({ claim }) => classOf(claim) === name)
  const what = name === '' ? 'a volume without a StorageClass' : `StorageClass ${name}`
  return `${what} does not allow larger volumes (${listed(held.map(claimText))})`
}

/** A claim with the size to go back to. */
function claimText({ claim }: PlacedClaim): string {
  return `${claim.name} with ${claim.requested}`
}

function unsupported(refusals: readonly string[]): StorageStatement {
  return {
    reason: 'ExpansionUnsupported',
    message: `${listed(refusals, '; ')}: put the old size back, or set allowVolumeExpansion in the class if its storage can do it.`,
  }
}

/** Empty for none. */
function classOf({ storageClassName }: KeptClaim): string {
  return storageClassName ?? ''
}

async function allowsGrowth(
  api: KubernetesApi,
  name: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const found = await api.find<V1StorageClass>(
      { type: builtinTypes.StorageClass, name },
      { signal },
    )
    return found?.allowVolumeExpansion === true
  } catch (error) {
    if (hasCode(error, 'OPERATOR_API_FORBIDDEN')) return true
    throw error
  }
}
