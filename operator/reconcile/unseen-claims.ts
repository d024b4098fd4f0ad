/**
 * Claims that are there and not seen. Claims are watched by a label, and who edits it off takes a claim
 * out of sight together with the identity on it. So one that is not seen is asked for by name before
 * anything follows from its absence, and gets its labels back.
 */
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'
import type { Resource } from '../api.ts'
import { claimName, type Volume } from '../resources/names.ts'
import type { KubernetesApi } from '../runtime/api.ts'
import { builtinTypes } from '../runtime/resource-type.ts'
import { type KeptClaim, keepClaim, keysClaim, type PlacedClaim } from './claim.ts'
import type { ReplicaIdentity } from './identity.ts'
import type { Picture } from './picture.ts'
import { volumes } from './storage.ts'

type Seen = Pick<Picture, 'allClaims' | 'pods' | 'set'>

/** Asks for those of the wanted replicas; usually there is nothing to ask for. */
export async function findUnseenClaims(
  api: Pick<KubernetesApi, 'find'>,
  resource: Resource,
  { seen, replicas }: { readonly seen: Seen; readonly replicas: readonly ReplicaIdentity[] },
  signal: AbortSignal,
): Promise<PlacedClaim[]> {
  const { namespace } = resource.metadata
  const find = async (volume: Volume, replica: ReplicaIdentity): Promise<PlacedClaim[]> => {
    const { ordinal } = replica
    const runs = (seen.pods.get(ordinal)?.ip ?? null) !== null
    if (isSeen(seen, volume, ordinal) || !isAskedFor(seen, volume, replica, runs)) return []
    const name = claimName(resource, volume, ordinal)
    const address = { type: builtinTypes.PersistentVolumeClaim, namespace, name }
    const found = await api.find<V1PersistentVolumeClaim>(address, { signal })
    const claim = found === null ? null : keepClaim(found)
    return claim !== null && isOurs(claim, replica, runs) ? [{ volume, ordinal, claim }] : []
  }
  const all = replicas.flatMap((replica) => volumes.map((volume) => find(volume, replica)))
  return (await Promise.all(all)).flat()
}

function isSeen({ allClaims }: Seen, volume: Volume, ordinal: number): boolean {
  return allClaims.some((claim) => claim.volume === volume && claim.ordinal === ordinal)
}

/**
 * Whether something follows from the absence: of a `keys` claim a loss, a new key, or a StatefulSet that
 * would use whatever is there. While a new StatefulSet makes its claims, nothing does.
 */
function isAskedFor(
  { set }: Seen,
  volume: Volume,
  { key, known }: ReplicaIdentity,
  runs: boolean,
): boolean {
  if (volume === 'data') return runs
  return runs || known !== null || key === null || set === null
}

/** A claim of our name that was never a replica's is nobody's identity; a user may have made it. */
function isOurs(claim: KeptClaim, { known }: ReplicaIdentity, runs: boolean): boolean {
  return runs || known !== null || keysClaim(claim).fingerprint !== null
}
