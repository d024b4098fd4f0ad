/**
 * The API server: one function for each thing that is asked of it. Bodies go through untouched, so
 * that no field is lost which this program does not know.
 */
import type { Logger } from 'pino'
import type { ServiceError } from '../../../src/errors.ts'
import type { RequestMetrics } from '../metrics.ts'
import { type Call, hasCode, jsonPatchError } from './api-error.ts'
import type { Connection } from './connection.ts'
import type { KubernetesObject } from './kubernetes-object.ts'
import {
  currentVersion,
  type Listing,
  type ListOptions,
  listAll,
  type Selection,
  type WatchEvent,
  type WatchOptions,
  watchFrom,
} from './list-watch.ts'
import { type PodLogOptions, readLog } from './pod-log.ts'
import { openRequests, type Requests, type WriteGuard } from './requests.ts'
import type { ObjectAddress, ResourceType } from './resource-type.ts'

/** What every request can be given. */
interface CallOptions {
  /** Gives up the request. */
  readonly signal?: AbortSignal | undefined
}

interface ApplyOptions extends CallOptions {
  readonly subresource?: 'status'
  /** Who applies; default is the manager that the API was opened with. */
  readonly fieldManager?: string
  /** Called with the fields that others own before they are taken over; it is logged anyway. */
  readonly onConflict?: (conflict: string) => void
}

interface PatchOptions extends CallOptions {
  /**
   * `merge`: RFC 7386. `json`: RFC 6902, a list of operations; where one does not fit the object as it
   * is now, it is a conflict (OPERATOR_API_CONFLICT).
   */
  readonly type: 'merge' | 'json'
}

interface DeleteOptions extends CallOptions {
  /** Deletes this very object and no later one of the same name. */
  readonly uid?: string | undefined
  /** Deletes it only as it was read: after any change of it, it is a conflict (OPERATOR_API_CONFLICT). */
  readonly resourceVersion?: string | undefined
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
  /** The resourceVersion of now, as a list would have it; no more than one object is read for it. */
  version(selection: Selection, options?: CallOptions): Promise<string>
  /**
   * Changes after a resourceVersion, until the API server ends the answer. Throws OPERATOR_API_EXPIRED where it
   * no longer knows what came after.
   */
  watch<T extends KubernetesObject>(
    selection: Selection,
    options: WatchOptions,
  ): AsyncIterable<WatchEvent<T>>
  /**
   * Server-side apply, strict about unknown fields. First without force; where others own fields, that
   * is reported and the fields are taken over. With a resourceVersion it is for the object of just that version.
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
  /** The log of a pod's container, in pieces as they come. */
  readLog(pod: Omit<ObjectAddress, 'type'>, options: PodLogOptions): AsyncIterable<Uint8Array>
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

interface ApiParts {
  readonly connection: Connection
  readonly log: Logger
  readonly metrics: RequestMetrics
  /** Called before and after each write. */
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
  const { fieldManager, userAgent, timeoutMs = defaultTimeoutMs } = options
  const requests = openRequests({ userAgent, timeoutMs }, { ...parts, guards: parts.guards ?? [] })
  const client: Client = {
    requests,
    log: parts.log,
    strict: { fieldManager, fieldValidation: 'Strict' },
  }
  return {
    find: async (address, { signal } = {}) => {
      const answer = await unlessMissing(requests.send({ verb: 'get', ...address }, { signal }))
      return answer === missing ? null : asGiven(answer)
    },
    list: (selection, given) => listAll(requests, selection, given),
    version: (selection, { signal } = {}) => currentVersion(requests, selection, signal),
    watch: (selection, given) => watchFrom(requests, selection, given),
    apply: (type, object, given = {}) => apply(client, type, object, given),
    dryRunApply: (type, object, given = {}) =>
      applyOnce(client, type, object, { ...given, query: { force: 'true', dryRun: 'All' } }),
    patch: (address, body, given) => patch(client, address, body, given),
    create: async (type, object, { signal } = {}) => {
      const call: Call = { verb: 'create', ...placeOf(type, object) }
      const body = withType(type, object)
      return asGiven(await requests.send(call, { query: client.strict, body, signal }))
    },
    replace: async (type, object, { signal } = {}) => {
      const call: Call = { verb: 'replace', ...placeOf(type, object) }
      return asGiven(await requests.send(call, { query: client.strict, body: object, signal }))
    },
    readLog: (pod, given) => readLog(requests, pod, given),
    delete: async (address, { uid, resourceVersion, propagation, signal } = {}) => {
      const body = { preconditions: { uid, resourceVersion }, propagationPolicy: propagation }
      const call: Call = { verb: 'delete', ...address }
      return (await unlessMissing(requests.send(call, { body, signal }))) !== missing
    },
    close: () => requests.close(),
  }
}

/** What calls are made with. */
interface Client {
  readonly requests: Requests
  readonly log: Logger
  /** Query of everything that is written. */
  readonly strict: Readonly<Record<string, string>>
}

async function apply<T extends KubernetesObject>(
  client: Client,
  type: ResourceType,
  object: T,
  given: ApplyOptions,
): Promise<T> {
  try {
    return await applyOnce(client, type, object, { ...given, query: {} })
  } catch (error) {
    if (!isFieldConflict(error)) throw error
    const facts = { ...error.facts, conflict: error.message }
    client.log.warn(facts, 'fields are taken from another owner')
    given.onConflict?.(error.message)
    return await applyOnce(client, type, object, { ...given, query: { force: 'true' } })
  }
}

async function applyOnce<T extends KubernetesObject>(
  { requests, strict }: Client,
  type: ResourceType,
  object: T,
  {
    subresource,
    fieldManager,
    query,
    signal,
  }: ApplyOptions & { readonly query: Readonly<Record<string, string>> },
): Promise<T> {
  const call: Call = { verb: 'apply', ...placeOf(type, object), subresource }
  const manager = fieldManager === undefined ? {} : { fieldManager }
  const answer = await requests.send(call, {
    query: { ...strict, ...manager, ...query },
    body: withType(type, object),
    contentType: applyType,
    signal,
  })
  return asGiven(answer)
}

async function patch<T extends KubernetesObject>(
  { requests, strict }: Client,
  address: ObjectAddress,
  body: unknown,
  { type, signal }: PatchOptions,
): Promise<T> {
  const call: Call = { verb: 'patch', ...address }
  try {
    const contentType = patchTypes[type]
    return asGiven(await requests.send(call, { query: strict, body, contentType, signal }))
  } catch (error) {
    throw type === 'json' ? jsonPatchError(error) : error
  }
}

function withType(type: ResourceType, object: KubernetesObject): object {
  return { apiVersion: type.apiVersion, kind: type.kind, ...object }
}

const missing = Symbol('there is no such object')

async function unlessMissing(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer
  } catch (error) {
    if (isMissing(error)) return missing
    throw error
  }
}

/** What an answer holds is the API server's business; callers say what they asked for. */
function asGiven<T>(answer: unknown): T {
  return answer as T
}

/**
 * Others own fields, which the API server names; a conflict without fields is of the version or the UID that was
 * given, and whoever reads the object again gets on.
 */
function isFieldConflict(error: unknown): error is ServiceError {
  return hasCode(error, 'OPERATOR_API_CONFLICT') && error.facts['fields'] !== undefined
}

/** The object is not there, rather than its kind or its namespace's API. */
function isMissing(error: unknown): boolean {
  return hasCode(error, 'OPERATOR_API_NOT_FOUND') && error.facts['reason'] === 'NotFound'
}

function placeOf(type: ResourceType, { metadata }: KubernetesObject): Omit<Call, 'verb'> {
  return { type, namespace: metadata?.namespace, name: metadata?.name }
}
