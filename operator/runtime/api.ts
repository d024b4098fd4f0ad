/**
 * The API server: one function for each thing that is asked of it. Bodies go through untouched, so
 * that no field is lost which this program does not know.
 */
import type { KubernetesObject } from './kubernetes-object.ts'
import type { ObjectAddress, ResourceType } from './resource-type.ts'

/** What every request can be given. */
export interface CallOptions {
  /** Gives up the request. */
  readonly signal?: AbortSignal | undefined
}

/** Which objects of a kind. */
export interface Selection {
  readonly type: ResourceType
  /** Undefined: in all namespaces. */
  readonly namespace?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
}

export interface ListOptions<T, C> extends CallOptions {
  /** Objects in one answer. Default 200. */
  readonly pageSize?: number
  /** What is kept of each object; the rest of a page is let go before the next is read. */
  readonly keep: (object: T) => C
}

export interface Listing<C> {
  readonly items: readonly C[]
  /** Where a watch goes on. */
  readonly resourceVersion: string
}

export interface WatchOptions extends CallOptions {
  readonly resourceVersion: string
  /** A connection on which nothing came for so long counts as dead. */
  readonly silenceMs: number
}

/** A change; a bookmark carries a resourceVersion and nothing else. */
export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly object: T
}

export interface ApplyOptions extends CallOptions {
  readonly subresource?: 'status' | 'scale'
  /** Who applies; default is the manager that the API was opened with. */
  readonly fieldManager?: string
  /** Told what others wanted otherwise before it is taken from them; it is logged anyway. */
  readonly onConflict?: (conflict: string) => void
}

export interface PatchOptions extends CallOptions {
  /** `merge`: RFC 7386. `json`: RFC 6902, a list of operations. */
  readonly type: 'merge' | 'json'
  readonly subresource?: 'status' | 'scale'
}

export interface DeleteOptions extends CallOptions {
  /** Deletes this very object and no later one of the same name. */
  readonly uid?: string | undefined
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan'
}

/**
 * Every function throws a ServiceError whose code says what the API server answered, see
 * `api-error.ts`: OPERATOR_API_NOT_FOUND, OPERATOR_API_CONFLICT, OPERATOR_API_FORBIDDEN, ...; a write
 * also OPERATOR_FENCED where this process may not write any more. An answer 429 is waited for and the
 * request sent again, a few times.
 */
export interface KubernetesApi {
  get<T extends KubernetesObject>(address: ObjectAddress, options?: CallOptions): Promise<T>
  /** As `get`, but null where there is no such object. */
  find<T extends KubernetesObject>(address: ObjectAddress, options?: CallOptions): Promise<T | null>
  /** Page by page, all of one moment; where that moment is gone half way, all at once. */
  list<T extends KubernetesObject, C>(
    selection: Selection,
    options: ListOptions<T, C>,
  ): Promise<Listing<C>>
  /**
   * Changes after a resourceVersion, until the API server ends the answer (after five to ten minutes). Throws
   * OPERATOR_API_EXPIRED where it no longer knows what came after.
   */
  watch<T extends KubernetesObject>(
    selection: Selection,
    options: WatchOptions,
  ): AsyncIterable<WatchEvent<T>>
  /**
   * Server-side apply, strict about unknown fields. First without force; where others own fields, that
   * is told and the fields are taken.
   */
  apply<T extends KubernetesObject>(
    type: ResourceType,
    object: T,
    options?: ApplyOptions,
  ): Promise<T>
  /** What `apply` would lead to, forced; nothing is written. */
  dryRunApply<T extends KubernetesObject>(
    type: ResourceType,
    object: T,
    options?: ApplyOptions,
  ): Promise<T>
  patch<T extends KubernetesObject>(
    address: ObjectAddress,
    patch: unknown,
    options: PatchOptions,
  ): Promise<T>
  create<T extends KubernetesObject>(
    type: ResourceType,
    object: T,
    options?: CallOptions,
  ): Promise<T>
  /** Writes the whole object if it still has the resourceVersion in its metadata. */
  replace<T extends KubernetesObject>(
    type: ResourceType,
    object: T,
    options?: CallOptions,
  ): Promise<T>
  /** False where there was no such object. */
  delete(address: ObjectAddress, options?: DeleteOptions): Promise<boolean>
  close(): Promise<void>
}
