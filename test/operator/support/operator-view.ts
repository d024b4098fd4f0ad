/** A view of a cluster that has just these objects, from the same caches that the operator uses. */
import {
  type ClusterView,
  openClusterView,
} from '../../../operator/reconcile/observe/cluster-view.ts'
import { createObjectCache } from '../../../operator/runtime/cache/object-cache.ts'
import type { Reflector, ReflectorOptions } from '../../../operator/runtime/cache/reflector.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'
import { isSelectedBy } from '../../../operator/runtime/client/label-selector.ts'
import { keyOf } from '../../../operator/runtime/client/resource-type.ts'

/** Objects need apiVersion, kind, name, namespace; a UID is made up where there is none. */
export function viewOf(objects: readonly KubernetesObject[]): ClusterView {
  return openClusterView((options) => reflectorOf(options, objects), null)
}

function reflectorOf<T extends KubernetesObject, C>(
  { type, keep, labelSelector }: ReflectorOptions<T, C>,
  objects: readonly KubernetesObject[],
): Reflector<C> {
  const cache = createObjectCache<C>(() => undefined)
  for (const object of objects) {
    const { metadata, kind } = object
    if (kind !== type.kind) continue
    if (labelSelector !== undefined && !isSelectedBy(labelSelector, metadata?.labels)) continue
    const key = keyOf(metadata?.namespace, metadata?.name ?? '')
    const uid = metadata?.uid ?? `uid-of-${key}`
    cache.put({ key, uid, resourceVersion: '1', value: keep(object as T) })
  }
  return {
    type,
    namespace: undefined,
    standsAlone: false,
    unread: () => null,
    onTurn: () => () => undefined,
    isInitialized: () => true,
    initialized: async () => undefined,
    get: (namespace, name) => cache.get(keyOf(namespace, name)),
    list: () => cache.values(),
    onChange: () => () => undefined,
    silentForMs: () => 0,
    put: () => undefined,
    forget: () => undefined,
    close: async () => undefined,
  }
}
