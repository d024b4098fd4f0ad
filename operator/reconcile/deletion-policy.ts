/**
 * Which of the keyring Secret and the claims go together with a resource, as its deletion policies say. They
 * are followed also while something else stops the resource, since advice then is to delete it: owner
 * references alone are written here.
 */
import type { V1Secret } from '@kubernetes/client-node'
import type { Resource } from '../api.ts'
import { claimApplied, isClaimToGo } from '../resources/claims.ts'
import type { PatchOperation } from '../resources/keyring-secret.ts'
import { looseOwner } from '../resources/metadata.ts'
import { childNames } from '../resources/names.ts'
import type { KubernetesApi } from '../runtime/api.ts'
import type { KubernetesObject } from '../runtime/kubernetes-object.ts'
import { builtinTypes } from '../runtime/resource-type.ts'
import { isLasting, type PlacedClaim } from './claim.ts'
import { isOwnedBy } from './ownership.ts'

/** What there is, as far as deletion policies go. */
export interface Kept {
  readonly keyring: { readonly exists: boolean; readonly isOwned: boolean }
  /** Of all ordinals. */
  readonly claims: readonly PlacedClaim[]
}

/** What has another owner than its policy says. */
export interface OwnerChanges {
  readonly keyring: boolean
  readonly claims: readonly PlacedClaim[]
}

/** Whether keys would be deleted together with the resource now, whatever its spec says by then. */
export function areKeysBound(resource: Resource, { keyring, claims }: Kept): boolean {
  if (resource.spec.identity.deletionPolicy === 'Delete' || keyring.isOwned) return true
  return claims.some(({ volume, claim }) => volume === 'keys' && isOwnedBy(resource, claim.owners))
}

export function ownerChanges(resource: Resource, { keyring, claims }: Kept): OwnerChanges {
  return {
    keyring: keyring.exists && keyring.isOwned !== isKeyringToGo(resource),
    claims: claims.filter(
      (placed) => isLasting(resource, placed.claim) && !isOwnedAsWanted(resource, placed),
    ),
  }
}

/** Whether a claim goes together with the resource, or outlives it, as the spec says. */
export function isOwnedAsWanted(resource: Resource, { volume, claim }: PlacedClaim): boolean {
  return isOwnedBy(resource, claim.owners) === isClaimToGo(resource, volume)
}

/** The changes in words. */
export function ownerTexts(resource: Resource, { keyring, claims }: OwnerChanges): string[] {
  const textOf = (what: string, toGo: boolean): string =>
    `${what} ${toGo ? 'to be deleted with the resource' : 'to outlive the resource'}`
  const secret = `Secret ${childNames(resource).keyring}`
  return [
    ...(keyring ? [textOf(secret, isKeyringToGo(resource))] : []),
    ...claims.map(({ claim }) =>
      textOf(`PersistentVolumeClaim ${claim.name}`, !isOwnedBy(resource, claim.owners)),
    ),
  ]
}

/** Writes the owners. Whoever acts on what there is then has to look at the keyring again. */
export async function followPolicies(
  api: KubernetesApi,
  resource: Resource,
  { keyring, claims }: OwnerChanges,
  signal: AbortSignal,
): Promise<void> {
  if (keyring) await followKeyringPolicy(api, resource, signal)
  for (const placed of claims) {
    const object = withOwnerAlone(resource, placed)
    await api.apply(builtinTypes.PersistentVolumeClaim, object, { signal })
  }
}

/** Has a generated Secret go together with the resource, or outlive it. */
export async function followKeyringPolicy(
  api: KubernetesApi,
  resource: Resource,
  signal: AbortSignal,
): Promise<void> {
  const { namespace } = resource.metadata
  const address = { type: builtinTypes.Secret, namespace, name: childNames(resource).keyring }
  const secret = await api.find<V1Secret>(address, { signal })
  if (secret === null) return
  await api.patch(address, ownerPatch(resource, secret), { type: 'json', signal })
}

function ownerPatch(resource: Resource, { metadata }: V1Secret): PatchOperation[] {
  const others = (metadata?.ownerReferences ?? []).filter(
    ({ uid }) => uid !== resource.metadata.uid,
  )
  const value = isKeyringToGo(resource) ? [...others, looseOwner(resource)] : others
  return [
    { op: 'test', path: '/metadata/resourceVersion', value: metadata?.resourceVersion },
    { op: 'add', path: '/metadata/ownerReferences', value },
  ]
}

/** Whether the Secret goes together with the resource; one of the user's own never does. */
export function isKeyringToGo({ spec }: Resource): boolean {
  const { secretRef, deletionPolicy } = spec.identity
  return secretRef === undefined && deletionPolicy === 'Delete'
}

/**
 * What is applied to a claim for its owner's sake: everything else that the operator writes has the value
 * that is there, also where that is wrong.
 */
function withOwnerAlone(
  resource: Resource,
  { volume, ordinal, claim }: PlacedClaim,
): KubernetesObject {
  const { uid, requested: size, labels, annotations } = claim
  const facts = { uid, size, keyringFingerprint: null }
  const { metadata, ...applied } = claimApplied(resource, volume, ordinal, facts)
  const ours = Object.keys(metadata?.labels ?? {})
  const kept = Object.entries(labels).filter(([name]) => ours.includes(name))
  const object = {
    ...applied,
    metadata: { ...metadata, labels: Object.fromEntries(kept), annotations },
  }
  return object as KubernetesObject
}
