/**
 * Which of the keyring Secret and the claims go together with a resource, as its deletion policies
 * say. They are applied also while something else stops the resource, since the advice then is to
 * delete it.
 */
import type { Workload } from '../../api.ts'
import { childNames } from '../../resources/names/names.ts'
import { isClaimOwned } from '../../resources/objects/claims.ts'
import { isLasting, type PlacedClaim } from '../observe/claim.ts'
import { isOwnedBy } from '../statements/ownership.ts'

/** What there is, as far as deletion policies go. */
interface Kept {
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
export function areKeysBound(resource: Workload, { keyring, claims }: Kept): boolean {
  if (resource.spec.identity.deletionPolicy === 'Delete' || keyring.isOwned) return true
  return claims.some(({ volume, claim }) => volume === 'keys' && isOwnedBy(resource, claim.owners))
}

export function ownerChanges(resource: Workload, { keyring, claims }: Kept): OwnerChanges {
  return {
    keyring: keyring.exists && keyring.isOwned !== isKeyringOwned(resource),
    claims: claims.filter(
      (placed) => isLasting(resource, placed.claim) && !isOwnedAsWanted(resource, placed),
    ),
  }
}

/** Whether a claim goes together with the resource, or outlives it, as the spec says. */
export function isOwnedAsWanted(resource: Workload, { volume, claim }: PlacedClaim): boolean {
  return isOwnedBy(resource, claim.owners) === isClaimOwned(resource, volume)
}

/** The changes as texts. */
export function ownerTexts(resource: Workload, { keyring, claims }: OwnerChanges): string[] {
  const textOf = (what: string, isOwned: boolean): string =>
    `${what} ${isOwned ? 'to be deleted with the resource' : 'to outlive the resource'}`
  const secret = `Secret ${childNames(resource).keyring}`
  return [
    ...(keyring ? [textOf(secret, isKeyringOwned(resource))] : []),
    ...claims.map(({ claim }) =>
      textOf(`PersistentVolumeClaim ${claim.name}`, !isOwnedBy(resource, claim.owners)),
    ),
  ]
}

/** Whether the Secret goes together with the resource; one of the user's own never does. */
export function isKeyringOwned({ spec }: Workload): boolean {
  const { secretRef, deletionPolicy } = spec.identity
  return secretRef === undefined && deletionPolicy === 'Delete'
}
