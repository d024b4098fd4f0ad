/**
 * A copy of the objects of one kind, kept up to date by a list and a watch. It keeps of each object
 * what `keep` makes of it, so that thousands of them fit in little memory.
 */
import type { KubernetesObject } from './kubernetes-object.ts'
import type { ResourceType } from './resource-type.ts'

/** What is known of an object. */
export interface Cached<C> {
  /** `namespace/name`. */
  readonly key: string
  readonly uid: string
  readonly resourceVersion: string
  /** What `keep` made of it. */
  readonly value: C
}

/** An object came (no `before`), changed, or went (no `after`). */
export interface Change<C> {
  readonly key: string
  readonly before: Cached<C> | null
  readonly after: Cached<C> | null
  /** True where it was found by a list, false where a watch told of it. */
  readonly listed: boolean
}

export interface ReflectorOptions<T extends KubernetesObject, C> {
  readonly type: ResourceType
  /** Undefined: all namespaces. */
  readonly namespace?: string | undefined
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** What is kept of each object. managedFields are gone already. */
  readonly keep: (object: T) => C
  /** Objects in one answer of a list. Default 200. */
  readonly pageSize?: number
  /** A watch on which nothing came for so long is opened again; bookmarks come once a minute. Default 150,000. */
  readonly silenceMs?: number
}

export interface Reflector<C> {
  readonly type: ResourceType
  /** True once the first list is complete; it stays true. */
  isSynced(): boolean
  /** Resolves when synced; rejects with the signal's reason. */
  synced(signal: AbortSignal): Promise<void>
  get(namespace: string, name: string): Cached<C> | undefined
  list(): IterableIterator<Cached<C>>
  /** Calls for every change from now on; returns the function that ends it. */
  onChange(listener: (change: Change<C>) => void): () => void
  /** Milliseconds since the API server last said anything about this kind. */
  silentForMs(): number
  /**
   * Takes in an object that a write of ours answered, so that whoever looks next does not act on what
   * was there before; what a watch tells of earlier states is passed over.
   */
  learn(object: KubernetesObject): void
  /** Takes out an object that a write of ours deleted. */
  forget(key: string, uid: string): void
  close(): Promise<void>
}
