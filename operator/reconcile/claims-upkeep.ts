/** Keeps the records, owners and sizes of a resource's claims. */
import type { V1StorageClass } from '@kubernetes/client-node'
import type { Resource } from '../api.ts'
import { claimApplied } from '../resources/claims.ts'
import { driftOf } from '../resources/drift.ts'
import { wantedReplicas } from '../resources/names.ts'
import type { KubernetesApi } from '../runtime/api.ts'
import { hasCode } from '../runtime/api-error.ts'
import type { KubernetesObject } from '../runtime/kubernetes-object.ts'
import { builtinTypes } from '../runtime/resource-type.ts'
import type { KeptClaim, PlacedClaim } from './claim.ts'
import { keysClaim } from './claim.ts'
import type { Keyring } from './keyring.ts'
import { growing, type StorageStatement, sizeOf } from './storage.ts'

/** What one claim is to be. */
export interface ClaimChange {
  readonly placed: PlacedClaim
  readonly object: KubernetesObject
  readonly fields: readonly string[]
}

/**
 * Claims that are not as wanted. `mayGrow` false leaves their sizes. Marks of replicas that are not
 * wanted now are left: their keys are looked at when they return.
 */
export function claimChanges(
  resource: Resource,
  claims: readonly PlacedClaim[],
  keyring: Pick<Keyring, 'fingerprints'>,
  mayGrow: boolean,
): ClaimChange[] {
  return claims
    .filter(({ claim }) => !claim.isGoing)
    .flatMap((placed): ClaimChange[] => {
      const object = wantedClaim(resource, placed, keyring, mayGrow)
      const { ownerReferences: owners = [], ...metadata } = object.metadata ?? {}
      const fields = driftOf({ ...object, metadata }, asClaim(resource, placed.claim))
      const isOwned = placed.claim.ownerUIDs.includes(resource.metadata.uid)
      const shouldBeOwned = owners.length > 0
      if (fields.length === 0 && isOwned === shouldBeOwned) return []
      return [{ placed, object: object as KubernetesObject, fields }]
    })
}

function wantedClaim(
  resource: Resource,
  placed: PlacedClaim,
  { fingerprints }: Pick<Keyring, 'fingerprints'>,
  mayGrow: boolean,
): ReturnType<typeof claimApplied> {
  const { volume, ordinal, claim } = placed
  const isWanted = ordinal < wantedReplicas(resource)
  const mark = isWanted ? (fingerprints.get(ordinal) ?? null) : keysClaim(claim).fingerprint
  return claimApplied(resource, volume, ordinal, {
    uid: claim.uid,
    size: mayGrow && isWanted ? sizeOf(resource, placed) : claim.requested,
    keyringFingerprint: volume === 'keys' ? mark : null,
  })
}

/** A kept claim in the shape of a real one, without its owners. */
function asClaim(resource: Resource, { name, uid, annotations, requested }: KeptClaim): object {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: resource.metadata.namespace, uid, annotations },
    spec: { resources: { requests: { storage: requested } } },
  }
}

/** Writes the changes. What is answered to a claim that asks for more is told, not thrown. */
export async function settleClaims(
  api: KubernetesApi,
  resource: Resource,
  changes: (mayGrow: boolean) => readonly ClaimChange[],
  claims: readonly PlacedClaim[],
  signal: AbortSignal,
): Promise<StorageStatement | null> {
  const small = growing(resource, claims)
  const refused = small.length === 0 ? null : await unsupported(api, small, signal)
  for (const { object } of changes(refused === null)) {
    try {
      await api.apply(builtinTypes.PersistentVolumeClaim, object, { signal })
    } catch (error) {
      if (small.length === 0 || !hasCode(error, 'OPERATOR_API_FORBIDDEN', 'OPERATOR_API_INVALID')) {
        throw error
      }
      return { reason: 'ExpansionUnsupported', message: `${error.message}. ${error.remedy ?? ''}` }
    }
  }
  return refused
}

/** The class that lets no volume grow, if one is concerned. Without the right to ask it is tried. */
async function unsupported(
  api: KubernetesApi,
  small: readonly PlacedClaim[],
  signal: AbortSignal,
): Promise<StorageStatement | null> {
  for (const name of new Set(small.map(({ claim }) => claim.storageClassName ?? ''))) {
    if (name !== '' && (await allowsGrowth(api, name, signal))) continue
    const names = small
      .filter(({ claim }) => (claim.storageClassName ?? '') === name)
      .map(({ claim }) => claim.name)
    const what = name === '' ? 'a volume without a StorageClass' : `StorageClass ${name}`
    return {
      reason: 'ExpansionUnsupported',
      message: `${what} does not allow larger volumes (${names.join(', ')}): put the old size back, or set allowVolumeExpansion in the class if its storage can do it.`,
    }
  }
  return null
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
