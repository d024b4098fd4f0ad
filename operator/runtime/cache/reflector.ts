/**
 * A copy of the objects of one kind, kept up to date by a list and a watch. It keeps of each object
 * what `keep` makes of it, so that thousands of them fit in little memory.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ServiceError } from '../../../src/errors.ts'
import { createBackoff, type RetryDelay } from '../backoff.ts'
import type { KubernetesApi } from '../client/api.ts'
import { hasCode } from '../client/api-error.ts'
import type { KubernetesObject, Metadata } from '../client/kubernetes-object.ts'
import { isSelectedBy } from '../client/label-selector.ts'
import type { Selection } from '../client/list-watch.ts'
import { keyOf, type ResourceType } from '../client/resource-type.ts'
import { untilAborted } from '../client/until-aborted.ts'
import type { WatchMetrics } from '../metrics.ts'
import { type Cached, type Change, createObjectCache, type ObjectCache } from './object-cache.ts'

export interface ReflectorOptions<T extends KubernetesObject, C> {
  readonly type: ResourceType
  /** Undefined: all namespaces. */
  readonly namespace?: string | undefined
  /** Only objects with such labels; see `isSelectedBy` for the forms. */
  readonly labelSelector?: string | undefined
  /**
   * What is kept of each object. It has apiVersion and kind, but no managedFields and nothing of what kubectl
   * applied last.
   */
  readonly keep: (object: T) => C
  /** Objects in one answer of a list. Default 100. */
  readonly pageSize?: number
  /** A watch on which nothing came for so long is opened again; bookmarks come once a minute. Default 150,000. */
  readonly silenceMs?: number
  /** Shortest and longest pause after failures. Default 800 and 30,000. */
  readonly minPauseMs?: number
  readonly maxPauseMs?: number
}

interface ReflectorParts {
  readonly api: Pick<KubernetesApi, 'list' | 'watch'>
  readonly log: Logger
  readonly metrics: WatchMetrics
}

export interface Reflector<C> {
  readonly type: ResourceType
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined
  /** True once the first list is complete; it stays true. */
  isSynced(): boolean
  /**
   * Resolves when synced, or when the API server refuses the first list of this kind: `failure` then has the
   * refusal. Rejects with the signal's reason.
   */
  initialized(signal: AbortSignal): Promise<void>
  /** Whether `initialized` has resolved; it stays true. */
  isInitialized(): boolean
  /** Why the API server cannot be followed at the moment; null where it can. */
  failure(): ServiceError | null
  get(namespace: string | undefined, name: string): Cached<C> | undefined
  list(): IterableIterator<Cached<C>>
  /** Calls for every change from now on; returns the function that ends it. */
  onChange(listener: (change: Change<C>) => void): () => void
  /** Milliseconds since the API server last said anything about this kind, or was last asked in vain. */
  silentForMs(): number
  /**
   * Caches an object as the API server returned it from a write of ours, so that the next read is not of what was
   * there before; events of a watch about earlier states are ignored.
   */
  put(object: KubernetesObject): void
  /** Removes an object that a write of ours deleted. */
  forget(key: string, uid: string): void
  close(): Promise<void>
}

/** A reflector at work, and where it stands. */
interface Following<T extends KubernetesObject, C> {
  readonly options: ReflectorOptions<T, C>
  readonly parts: ReflectorParts
  readonly selection: Selection
  readonly log: Logger
  readonly cache: ObjectCache<C>
  readonly pauses: RetryDelay
  readonly signal: AbortSignal
  readonly initialized: PromiseWithResolvers<void>
  isInitialized: boolean
  isSynced: boolean
  /** Where the watch goes on; null: list first. */
  version: string | null
  /** Refused watches in a row. */
  refusals: number
  failure: ServiceError | null
  aliveAtMs: number
}

const defaultSilenceMs = 150_000
const defaultMinPauseMs = 800
const defaultMaxPauseMs = 30_000
/** After so many refused watches in a row there is a list again. */
const maxRefusals = 3

/** Starts at once. An API server that fails is asked again and again, with growing pauses. */
export function openReflector<T extends KubernetesObject, C>(
  options: ReflectorOptions<T, C>,
  parts: ReflectorParts,
): Reflector<C> {
  const { type, namespace, labelSelector } = options
  const { minPauseMs = defaultMinPauseMs, maxPauseMs = defaultMaxPauseMs } = options
  const place = namespace === undefined ? {} : { namespace }
  const log = parts.log.child({ kind: type.kind, ...place })
  const listeners = new Set<(change: Change<C>) => void>()
  const stopping = new AbortController()
  const state: Following<T, C> = {
    options,
    parts,
    selection: { type, namespace, labelSelector },
    log,
    cache: createObjectCache((change) => notifyAll(listeners, change, log)),
    pauses: createBackoff(minPauseMs, maxPauseMs),
    signal: stopping.signal,
    initialized: Promise.withResolvers<void>(),
    isInitialized: false,
    isSynced: false,
    version: null,
    refusals: 0,
    failure: null,
    aliveAtMs: performance.now(),
  }
  const following = follow(state)
  const { cache } = state
  return {
    type,
    namespace,
    isSynced: () => state.isSynced,
    isInitialized: () => state.isInitialized,
    initialized: (signal) => untilAborted(state.initialized.promise, signal),
    failure: () => state.failure,
    get: (inNamespace, name) => cache.get(keyOf(inNamespace, name)),
    list: () => cache.values(),
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    silentForMs: () => performance.now() - state.aliveAtMs,
    put(object) {
      if (isSelected(state.selection, object)) cache.put(entryOf(state, object as T))
    },
    forget: (key, uid) => cache.forget(key, uid),
    async close() {
      stopping.abort(new DOMException('the reflector closes', 'AbortError'))
      await following
    },
  }
}

async function follow<T extends KubernetesObject, C>(state: Following<T, C>): Promise<void> {
  const { signal, pauses } = state
  while (!signal.aborted) {
    try {
      state.version ??= await list(state)
      await watch(state, state.version)
    } catch (error) {
      if (signal.aborted) return
      failed(state, error)
      await sleep(pauses.nextMs(), undefined, { signal }).catch(() => undefined)
    }
  }
}

async function list<T extends KubernetesObject, C>(state: Following<T, C>): Promise<string> {
  const { options, parts, selection, signal } = state
  const { type, pageSize } = options
  parts.metrics.lists.inc({ kind: type.kind })
  const { items, resourceVersion } = await parts.api.list<T, Cached<C>>(selection, {
    keep: (object) => entryOf(state, object),
    isLarge: true,
    signal,
    ...(pageSize === undefined ? {} : { pageSize }),
  })
  state.cache.replaceAll(items, resourceVersion)
  heard(state)
  state.isSynced = true
  initialize(state)
  return resourceVersion
}

async function watch<T extends KubernetesObject, C>(
  state: Following<T, C>,
  resourceVersion: string,
): Promise<void> {
  const { options, parts, selection, cache, signal } = state
  const { type, silenceMs = defaultSilenceMs } = options
  parts.metrics.watches.inc({ kind: type.kind })
  let isSilent = true
  const given = { resourceVersion, silenceMs, signal }
  for await (const { type: event, object } of parts.api.watch<T>(selection, given)) {
    if (event === 'DELETED') {
      cache.remove(...identityOf(object), object.metadata?.resourceVersion ?? '')
    } else if (event !== 'BOOKMARK') cache.put(entryOf(state, object))
    state.version = object.metadata?.resourceVersion ?? state.version
    isSilent = false
    heard(state)
  }
  if (isSilent) await sleep(state.pauses.nextMs(), undefined, { signal })
}

/** The API server said something. */
function heard<T extends KubernetesObject, C>(state: Following<T, C>): void {
  const { options, parts, cache } = state
  if (state.failure !== null) state.log.info('the API server answers again')
  state.failure = null
  state.refusals = 0
  state.aliveAtMs = performance.now()
  state.pauses.reset()
  const labels = { kind: options.type.kind, namespace: options.namespace ?? '' }
  parts.metrics.cached.set(labels, cache.size())
}

function failed<T extends KubernetesObject, C>(state: Following<T, C>, error: unknown): void {
  const { options, parts, log } = state
  const failure = toFailure(error)
  const operation = state.version === null ? 'list' : 'watch'
  parts.metrics.failures.inc({ kind: options.type.kind, operation })
  state.aliveAtMs = performance.now()
  state.refusals += failure.facts['status'] === undefined ? 0 : 1
  const isExpired = hasCode(failure, 'OPERATOR_API_EXPIRED')
  if (isExpired || state.refusals >= maxRefusals) state.version = null
  if (isExpired) {
    log.debug('the watch is too far behind, listing again')
    return
  }
  if (state.failure === null) log.warn({ err: failure }, 'the API server cannot be followed')
  state.failure = failure
  if (hasCode(failure, 'OPERATOR_API_FORBIDDEN')) initialize(state)
}

function initialize<T extends KubernetesObject, C>(state: Following<T, C>): void {
  state.isInitialized = true
  state.initialized.resolve()
}

/** Whether an object is one of those that are listed and watched. */
function isSelected(
  { namespace, labelSelector }: Selection,
  { metadata }: KubernetesObject,
): boolean {
  if (namespace !== undefined && metadata?.namespace !== namespace) return false
  return labelSelector === undefined || isSelectedBy(labelSelector, metadata?.labels)
}

function entryOf<T extends KubernetesObject, C>(
  { options: { type, keep } }: Following<T, C>,
  object: T,
): Cached<C> {
  const whole = { apiVersion: type.apiVersion, kind: type.kind, ...object }
  const [key, uid] = identityOf(object)
  const resourceVersion = object.metadata?.resourceVersion ?? ''
  return { key, uid, resourceVersion, value: keep(withoutBallast(whole)) }
}

const ballast: readonly string[] = ['kubectl.kubernetes.io/last-applied-configuration']

/** The object without what is large and never read. */
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

function identityOf({ metadata }: KubernetesObject): [key: string, uid: string] {
  return [keyOf(metadata?.namespace, metadata?.name ?? ''), metadata?.uid ?? '']
}

/** A listener that throws is a bug, and no reason to miss what comes next. */
function notifyAll<C>(
  listeners: ReadonlySet<(change: Change<C>) => void>,
  change: Change<C>,
  log: Logger,
): void {
  for (const listener of listeners) {
    try {
      listener(change)
    } catch (error) {
      log.error({ err: error, key: change.key }, 'a change could not be handled')
    }
  }
}

function toFailure(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  return new ServiceError('OPERATOR_API_FAILED', 'following the API server failed', {
    remedy: 'Report this: it is a bug of the operator.',
    cause: error,
  })
}
