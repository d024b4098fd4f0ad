/** Copies of one kind over the watched namespaces, as if they were one. */
import type { KubernetesObject } from '../runtime/kubernetes-object.ts'
import type { Cached, Change } from '../runtime/object-cache.ts'
import type { Reflector, ReflectorOptions } from '../runtime/reflector.ts'

/** Opens a reflector; bound to the API server by whoever starts the operator. */
export type OpenReflector = <T extends KubernetesObject, C>(
  options: ReflectorOptions<T, C>,
) => Reflector<C>

/** What a reconcile sees of one kind. */
export interface Mirror<C> {
  get(namespace: string, name: string): Cached<C> | undefined
  list(): IterableIterator<Cached<C>>
  /** What follows the objects of a namespace; undefined where they are not seen at all. */
  reflectorOf(namespace: string): Reflector<C> | undefined
  onChange(listener: (change: Change<C>) => void): () => void
  readonly reflectors: readonly Reflector<C>[]
}

/** Opens a mirror of these namespaces; null is all of them. */
export function openMirror<T extends KubernetesObject, C>(
  open: OpenReflector,
  namespaces: readonly string[] | null,
  options: ReflectorOptions<T, C>,
): Mirror<C> {
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
      const ends = reflectors.map((reflector) => reflector.onChange(listener))
      return () => {
        for (const end of ends) end()
      }
    },
    reflectors,
  }
}
