/**
 * A view of a cluster that has just these objects, from the same caches that the operator uses. What its reflectors
 * receive changes it, as answers to writes do.
 */
import {
  type ClusterView,
  openClusterView,
} from '../../../operator/reconcile/observe/cluster-view.ts'
import { type Change, createObjectCache } from '../../../operator/runtime/cache/object-cache.ts'
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
  const listeners = new Set<(change: Change<C>) => void>()
  const cache = createObjectCache<C>((change) => {
    for (const listener of listeners) listener(change)
  })
  let version = 0
  const put = (object: KubernetesObject): void => {
    const { metadata, kind } = object
    if (kind !== type.kind) return
    if (labelSelector !== undefined && !isSelectedBy(labelSelector, metadata?.labels)) return
    const key = keyOf(metadata?.namespace, metadata?.name ?? '')
    const uid = metadata?.uid ?? `uid-of-${key}`
    version += 1
    cache.put({ key, uid, resourceVersion: `${version}`, value: keep(object as T) })
  }
  for (const object of objects) put(object)
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
    onChange: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    silentForMs: () => 0,
    put,
    forget: (key, uid) => cache.forget(key, uid),
    close: async () => undefined,
  }
}
