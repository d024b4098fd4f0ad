/** An informer: the objects of one kind in all watched namespaces, as one cache. */
import type { Cached, Change } from '../../runtime/cache/object-cache.ts'
import type { Reflector, ReflectorOptions } from '../../runtime/cache/reflector.ts'
import type { KubernetesObject } from '../../runtime/client/kubernetes-object.ts'

/** Opens a reflector, already bound to the API server. */
export type OpenReflector = <T extends KubernetesObject, C>(
  options: ReflectorOptions<T, C>,
) => Reflector<C>

/** What a reconcile sees of one kind. */
export interface Informer<C> {
  get(namespace: string, name: string): Cached<C> | undefined
  list(): IterableIterator<Cached<C>>
  /** What follows the objects of a namespace; undefined where they are not watched. */
  reflectorOf(namespace: string): Reflector<C> | undefined
  /** Calls for every change from now on. */
  onChange(listener: (change: Change<C>) => void): void
  readonly reflectors: readonly Reflector<C>[]
}

/** Opens an informer of these namespaces; null is all of them. */
export function openInformer<T extends KubernetesObject, C>(
  open: OpenReflector,
  namespaces: readonly string[] | null,
  options: ReflectorOptions<T, C>,
): Informer<C> {
  const byNamespace = new Map(
    (namespaces ?? [undefined]).map((namespace) => [namespace, open({ ...options, namespace })]),
  )
  const reflectors = [...byNamespace.values()]
  const of = (namespace: string | undefined): Reflector<C> | undefined =>
    byNamespace.get(namespaces === null ? undefined : namespace)
  return {
    get: (namespace, name) => of(namespace)?.get(namespace, name),
    reflectorOf: of,
    list: function* () {
      for (const reflector of reflectors) yield* reflector.list()
    },
    onChange: (listener) => {
      for (const reflector of reflectors) reflector.onChange(listener)
    },
    reflectors,
  }
}
