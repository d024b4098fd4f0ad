/** What would be written for a resource if it were not paused, as the API server itself says. */
import type { Resource } from '../api.ts'
import { canonicalJson } from '../resources/canonical-json.ts'
import type { ChildObject } from '../resources/child-object.ts'
import type { KubernetesObject } from '../runtime/kubernetes-object.ts'
import { builtinTypes } from '../runtime/resource-type.ts'
import type { ObjectPlan } from './act.ts'
import { type Difference, differencesOf, liveChild } from './children.ts'
import type { ClaimChange } from './claims-upkeep.ts'
import { problemOf } from './failures.ts'
import type { IdentityPlan } from './identity.ts'
import type { ReconcileParts } from './reconcile-parts.ts'

export interface PausedPlan {
  readonly plan: ObjectPlan
  readonly changes: readonly ClaimChange[]
  readonly identity: IdentityPlan
}

/** Each change in a few words; empty where nothing waits. Nothing is written. */
export async function waitingChanges<R extends Resource>(
  parts: ReconcileParts<R>,
  resource: R,
  { plan, changes, identity }: PausedPlan,
  signal: AbortSignal,
): Promise<string[]> {
  const keys = identity.generate.map((ordinal) => `keyring key "${ordinal}"`)
  const claims = changes.map(({ placed }) => `PersistentVolumeClaim ${placed.claim.name}`)
  const found: string[] = []
  for (const difference of differencesOf(parts.view, resource, plan.objects, () => false)) {
    const told = await tryDifference(parts, resource, difference, signal)
    if (told !== null) found.push(told)
  }
  const anew = plan.isGrowing ? ['StatefulSet made anew for larger volumes'] : []
  return [...keys, ...claims, ...found, ...anew]
}

/** What a difference comes to at the API server; null for nothing. */
async function tryDifference<R extends Resource>(
  { api, view }: ReconcileParts<R>,
  resource: R,
  { kind, name, object }: Difference,
  signal: AbortSignal,
): Promise<string | null> {
  if (object === null) return `${kind} ${name} deleted`
  try {
    const result = await api.dryRunApply<KubernetesObject>(
      builtinTypes[kind],
      object as KubernetesObject,
      { signal },
    )
    const live = liveChild<ChildObject>(view, resource, kind, name)
    if (live !== null && contentOf(live) === contentOf(result)) return null
    return `${kind} ${name} ${live === null ? 'created' : 'changed'}`
  } catch (error) {
    const problem = problemOf(error)
    if (problem === null) throw error
    return `${kind} ${name}, which is refused (${problem.reason})`
  }
}

/** What two versions of an object differ in, if in anything that counts. */
function contentOf(object: KubernetesObject | ChildObject): string {
  const { metadata, status: _, ...rest } = object as KubernetesObject & { status?: unknown }
  const { labels, annotations } = metadata ?? {}
  const { ownerReferences } = (metadata ?? {}) as { readonly ownerReferences?: unknown }
  return canonicalJson({ ...rest, metadata: { labels, annotations, ownerReferences } })
}
