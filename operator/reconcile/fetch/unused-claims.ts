/**
 * Asks the API server who made claims that seem to have been used by nobody. A claim that was restored from a copy, or
 * bound to a volume that was kept, looks new as well, and may hold an identity.
 */
import type { V1ManagedFieldsEntry, V1PersistentVolumeClaim } from '@kubernetes/client-node'
import type { Workload } from '../../api.ts'
import { fieldOf } from '../../resources/names/unchecked-json.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import { isLasting, keepClaim, keysClaim, type PlacedClaim } from '../observe/claim.ts'

/** UIDs of those that a controller of the cluster made and bound to an empty volume, and that are unmarked still. */
export async function findUnused(
  api: Pick<KubernetesApi, 'find'>,
  resource: Workload,
  candidates: readonly PlacedClaim[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const { namespace } = resource.metadata
  const unused = new Set<string>()
  for (const { claim } of candidates) {
    const address = { type: builtinTypes.PersistentVolumeClaim, namespace, name: claim.name }
    const found = await api.find<V1PersistentVolumeClaim>(address, { signal })
    if (found === null || found.metadata?.uid !== claim.uid) continue
    const now = keepClaim(found)
    const isUnmarked = isLasting(resource, now) && keysClaim(now).fingerprint === null
    if (isUnmarked && isEmpty(found)) unused.add(claim.uid)
  }
  return unused
}

/**
 * Whether its volume began empty: the claim has none yet, or the program that reports it as bound also created it and
 * chose its volume, as the controllers of a cluster do for a StatefulSet. They are compared by their field managers,
 * which anybody can forge: this prevents mistakes, not attacks.
 */
function isEmpty({ metadata, spec }: V1PersistentVolumeClaim): boolean {
  if (spec?.dataSource !== undefined || spec?.dataSourceRef !== undefined) return false
  if (!spec?.volumeName) return true
  const entries = metadata?.managedFields ?? []
  const made = entries.find(
    (entry) => entry.operation === 'Update' && has(entry, 'f:spec', 'f:accessModes'),
  )
  const bound = entries.find(
    (entry) => entry.subresource === 'status' && has(entry, 'f:status', 'f:phase'),
  )
  if (made === undefined || bound === undefined) return false
  return has(made, 'f:spec', 'f:volumeName') && made.manager === bound.manager
}

function has({ fieldsV1 }: V1ManagedFieldsEntry, part: string, field: string): boolean {
  return fieldOf(fieldOf(fieldsV1, part), field) !== undefined
}
