/**
 * Claims that exist and are not watched. Claims are watched by a label, and an edit that removes the label hides
 * the claim together with the identity on it. So a claim that is not watched is fetched by name before
 * anything follows from its absence, and gets its labels back.
 */
import type { V1PersistentVolumeClaim, V1StatefulSet } from '@kubernetes/client-node'
import type { Workload } from '../../api.ts'
import { claimName, type Volume, volumes } from '../../resources/names/names.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import {
  type KeptClaim,
  keepClaim,
  keysClaim,
  type PlacedClaim,
  type ReplicaIdentity,
} from '../observe/claim.ts'
import type { KeptPod } from '../observe/pod.ts'

/** What is watched of a resource. */
interface Seen {
  readonly allClaims: readonly PlacedClaim[]
  readonly pods: ReadonlyMap<number, KeptPod>
  readonly set: V1StatefulSet | null
}

/** Fetches those of the wanted replicas; usually there is nothing to fetch. */
export async function findUnwatchedClaims(
  api: Pick<KubernetesApi, 'find'>,
  resource: Workload,
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

/** A claim of our name that no replica ever used holds no identity; a user may have created it. */
function isOurs(claim: KeptClaim, { known }: ReplicaIdentity, runs: boolean): boolean {
  return runs || known !== null || keysClaim(claim).fingerprint !== null
}
