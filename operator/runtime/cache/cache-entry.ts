/** An object of the API server as it is cached: without what is large and never read. */
import type { KubernetesObject, Metadata } from '../client/kubernetes-object.ts'
import { isSelectedBy } from '../client/label-selector.ts'
import type { Selection } from '../client/list-watch.ts'
import { keyOf, type ResourceType } from '../client/resource-type.ts'
import type { Cached } from './object-cache.ts'

/** The entry of an object; `keep` says what of it is kept. */
export function cacheEntry<T extends KubernetesObject, C>(
  { apiVersion, kind }: ResourceType,
  keep: (object: T) => C,
  object: T,
): Cached<C> {
  const [key, uid] = identityOf(object)
  const resourceVersion = object.metadata?.resourceVersion ?? ''
  return {
    key,
    uid,
    resourceVersion,
    value: keep(withoutBallast({ apiVersion, kind, ...object })),
  }
}

/** Key and UID by which an object is cached. */
export function identityOf({ metadata }: KubernetesObject): [key: string, uid: string] {
  return [keyOf(metadata?.namespace, metadata?.name ?? ''), metadata?.uid ?? '']
}

/** Whether an object is one of those that are listed and watched. */
export function isSelected(
  { namespace, labelSelector }: Selection,
  { metadata }: KubernetesObject,
): boolean {
  if (namespace !== undefined && metadata?.namespace !== namespace) return false
  return labelSelector === undefined || isSelectedBy(labelSelector, metadata?.labels)
}

const ballast: readonly string[] = ['kubectl.kubernetes.io/last-applied-configuration']

function withoutBallast<T extends KubernetesObject>(object: T): T {
  const metadata: Metadata & { readonly managedFields?: unknown } = object.metadata ?? {}
  const { managedFields: _, annotations, ...rest } = metadata
  const kept = Object.entries(annotations ?? {}).filter(([name]) => !ballast.includes(name))
  return {
    ...object,
    metadata: {
      ...rest,
      ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }),
    },
  }
}
