/**
 * The API server: one function for each thing that is asked of it. Bodies go through untouched, so
 * that no field is lost which this program does not know.
 */
import type { Logger } from 'pino'
import type { ServiceError } from '../../src/errors.ts'
import { type Call, hasCode, jsonPatchError } from './api-error.ts'
import type { Connection } from './connection.ts'
import type { KubernetesObject } from './kubernetes-object.ts'
import {
  type Listing,
  type ListOptions,
  listAll,
  type Selection,
  type WatchEvent,
  type WatchOptions,
  watchFrom,
} from './list-watch.ts'
import type { RequestMetrics } from './metrics.ts'
import { openRequests, type WriteGuard } from './requests.ts'
import type { ObjectAddress, ResourceType } from './resource-type.ts'

/** What every request can be given. */
export interface CallOptions {
  /** Gives up the request. */
  readonly signal?: AbortSignal | undefined
}

export interface ApplyOptions extends CallOptions {
  readonly subresource?: 'status'
  /** Who applies; default is the manager that the API was opened with. */
  readonly fieldManager?: string
  /** Told what others wanted otherwise before it is taken from them; it is logged anyway. */
  readonly onConflict?: (conflict: string) => void
}

export interface PatchOptions extends CallOptions {
  /**
   * `merge`: RFC 7386. `json`: RFC 6902, a list of operations; where one does not fit the object as it
   * is now, it is a conflict (OPERATOR_API_CONFLICT).
   */
  readonly type: 'merge' | 'json'
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
  /** The object, or null where there is none. */
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
   * is told and the fields are taken. With a resourceVersion it is for the object of just that version.
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

export interface ApiOptions {
  /** Owner of the fields that are written: `viewmesh-operator`. */
  readonly fieldManager: string
  /** Sent with every request. */
  readonly userAgent: string
  /** Longest time for a request and its answer. Default 30,000. */
  readonly timeoutMs?: number
}

export interface ApiParts {
  readonly connection: Connection
  readonly log: Logger
  readonly metrics: RequestMetrics
  /** Asked before and told after each write. */
  readonly guards?: readonly WriteGuard[]
}

const defaultTimeoutMs = 30_000
const applyType = 'application/apply-patch+yaml'
const patchTypes = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
} as const

/** Opens no connection before the first request. */
export function openApi(options: ApiOptions, parts: ApiParts): KubernetesApi {
  const { log } = parts
  const requests = openRequests(
    { userAgent: options.userAgent, timeoutMs: options.timeoutMs ?? defaultTimeoutMs },
    { ...parts, guards: parts.guards ?? [] },
  )
  const { fieldManager } = options
  const strict = { fieldManager, fieldValidation: 'Strict' }

  const applied = async <T>(
    type: ResourceType,
    object: KubernetesObject,
    given: ApplyOptions,
    query: Readonly<Record<string, string>>,
  ): Promise<T> => {
    const call: Call = { verb: 'apply', ...placeOf(type, object), subresource: given.subresource }
    const manager = given.fieldManager ?? fieldManager
    return (await requests.send(call, {
      query: { ...strict, fieldManager: manager, ...query },
      body: { apiVersion: type.apiVersion, kind: type.kind, ...object },
      contentType: applyType,
      signal: given.signal,
    })) as T
  }

  return {
    find: async (address, { signal } = {}) => {
      try {
        return asGiven(await requests.send({ verb: 'get', ...address }, { signal }))
      } catch (error) {
        if (isMissing(error)) return null
        throw error
      }
    },
    list: (selection, given) => listAll(requests, selection, given),
    watch: (selection, given) => watchFrom(requests, selection, given),
    apply: async (type, object, given = {}) => {
      try {
        return await applied(type, object, given, {})
      } catch (error) {
        if (!hasCode(error, 'OPERATOR_API_CONFLICT') || isOutdated(object, error)) throw error
        log.warn({ ...error.facts, conflict: error.message }, 'fields are taken from another owner')
        given.onConflict?.(error.message)
        return await applied(type, object, given, { force: 'true' })
      }
    },
    dryRunApply: (type, object, given = {}) =>
      applied(type, object, given, { force: 'true', dryRun: 'All' }),
    patch: async (address, body, { type, signal }) => {
      const call: Call = { verb: 'patch', ...address }
      const given = { query: strict, body, contentType: patchTypes[type], signal }
      try {
        return asGiven(await requests.send(call, given))
      } catch (error) {
        throw type === 'json' ? jsonPatchError(error) : error
      }
    },
    create: async (type, object, { signal } = {}) =>
      asGiven(
        await requests.send(
          { verb: 'create', ...placeOf(type, object) },
          {
            query: strict,
            body: { apiVersion: type.apiVersion, kind: type.kind, ...object },
            signal,
          },
        ),
      ),
    replace: async (type, object, { signal } = {}) =>
      asGiven(
        await requests.send(
          { verb: 'replace', ...placeOf(type, object) },
          { query: strict, body: object, signal },
        ),
      ),
    delete: async (address, { uid, propagation, signal } = {}) => {
      const body = {
        ...(uid === undefined ? {} : { preconditions: { uid } }),
        ...(propagation === undefined ? {} : { propagationPolicy: propagation }),
      }
      try {
        await requests.send({ verb: 'delete', ...address }, { body, signal })
        return true
      } catch (error) {
        if (isMissing(error)) return false
        throw error
      }
    },
    close: () => requests.close(),
  }
}

/** What an answer holds is the API server's business; callers say what they asked for. */
function asGiven<T>(answer: unknown): T {
  return answer as T
}

/** It is the version that was given which is in conflict, and no field. */
function isOutdated({ metadata }: KubernetesObject, { facts }: ServiceError): boolean {
  return metadata?.resourceVersion !== undefined && facts['fields'] === undefined
}

/** The object is not there, rather than its kind or its namespace's API. */
function isMissing(error: unknown): boolean {
  return hasCode(error, 'OPERATOR_API_NOT_FOUND') && error.facts['reason'] === 'NotFound'
}

function placeOf(type: ResourceType, { metadata }: KubernetesObject): Omit<Call, 'verb'> {
  return { type, namespace: metadata?.namespace, name: metadata?.name }
}
