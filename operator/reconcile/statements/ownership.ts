/** Whether an object of a needed name is ours to write. */
import type { V1ObjectMeta } from '@kubernetes/client-node'
import { labels } from '../../api/annotations.ts'
import { groupVersion } from '../../api/resource-kinds.ts'
import type { Resource } from '../../api.ts'
import { childLabels } from '../../resources/names/metadata.ts'

/** Something that an object goes together with. */
export interface Owner {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
}

interface OwnedObject {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>
    readonly deletionTimestamp?: unknown
    readonly ownerReferences?: readonly (Owner & { readonly controller?: boolean })[]
  }
}

/**
 * `ours`: owned by this very resource. `terminating`: of a deleted resource of the same name, or being
 * deleted. `orphan`: made by an operator, and nobody owns it any more. `foreign`: anything else.
 */
type Ownership = 'ours' | 'terminating' | 'orphan' | 'foreign'

export function ownership(resource: Resource, { metadata }: OwnedObject): Ownership {
  if (metadata?.deletionTimestamp !== undefined) return 'terminating'
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller === true)
  if (owner?.uid === resource.metadata.uid) return 'ours'
  if (owner !== undefined) return isNamesake(resource, owner) ? 'terminating' : 'foreign'
  const wanted = childLabels(resource)
  const marks = [labels.name, labels.instance, labels.managedBy]
  return marks.every((mark) => metadata?.labels?.[mark] === wanted[mark]) ? 'orphan' : 'foreign'
}

/** The owners of an object, without what is never read. */
export function ownersOf(metadata: V1ObjectMeta | undefined): Owner[] {
  return (metadata?.ownerReferences ?? []).map(({ apiVersion, kind, name, uid }) => ({
    apiVersion,
    kind,
    name,
    uid,
  }))
}

/** Whether an object goes together with this very resource. */
export function isOwnedBy({ metadata }: Resource, owners: readonly Owner[]): boolean {
  return owners.some(({ uid }) => uid === metadata.uid)
}

/**
 * Whether an object goes together with a deleted resource of the same name, and not with this one: until
 * Kubernetes has taken it away it is nobody's.
 */
export function isOfFormer(resource: Resource, owners: readonly Owner[]): boolean {
  return !isOwnedBy(resource, owners) && owners.some((owner) => isNamesake(resource, owner))
}

function isNamesake({ kind, metadata }: Resource, owner: Owner): boolean {
  return owner.apiVersion === groupVersion && owner.kind === kind && owner.name === metadata.name
}
