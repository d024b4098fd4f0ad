/**
 * Claims that the StatefulSet made while somebody had scaled it above the spec (`kubectl scale statefulset`). No
 * identity was ever written to them, since a program without a keyring key writes none, so a replica may begin with
 * them. That a claim has no mark is not enough: who may write claims may take it off. A claim counts only if it is
 * newer than both the resource and its keyring Secret, and all keys that Secret or status have are of ordinals below
 * it: had it held an identity since then, they would have its key. Should one with an identity be taken even so,
 * that is not lost, because a program never writes over a key directory that its key does not open.
 */
import type { Workload } from '../../api.ts'
import { wantedReplicas } from '../../resources/names/names.ts'
import { timeOf } from '../../runtime/client/micro-time.ts'
import { type Keyring, knownOrdinals } from '../fetch/keyring.ts'
import { isLasting, keysClaim, type PlacedClaim } from '../observe/claim.ts'

/** Those of wanted replicas of which all that is watched says so. */
export function possiblyUnused(
  resource: Workload,
  claims: readonly PlacedClaim[],
  { fingerprints, createdMs }: Pick<Keyring, 'fingerprints' | 'createdMs'>,
): PlacedClaim[] {
  const resourceMs = timeOf(resource.metadata.creationTimestamp)
  if (createdMs === null || resourceMs === null) return []
  const sinceMs = Math.max(createdMs, resourceMs)
  const lastKey = Math.max(-1, ...fingerprints.keys(), ...knownOrdinals(resource))
  if (lastKey < 0) return []
  return claims.filter(
    ({ volume, ordinal, claim }) =>
      volume === 'keys' &&
      ordinal > lastKey &&
      ordinal < wantedReplicas(resource) &&
      isLasting(resource, claim) &&
      keysClaim(claim).fingerprint === null &&
      claim.createdMs !== null &&
      claim.createdMs > sinceMs,
  )
}
