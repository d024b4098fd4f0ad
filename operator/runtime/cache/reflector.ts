/**
 * A copy of the objects of one kind, kept up to date by a list and watches. It keeps of each object what `keep`
 * makes of it, so that thousands of them fit in little memory.
 *
 * Each watch lasts less than a minute. A watch that is open goes on when the right to it is taken away; the next
 * one is refused. That is cheaper than a review of rights: a watch is answered from the API server's memory.
 *
 * Where etcd was restored from a backup, the resourceVersion of a watch lies in the future, and the API server
 * says nothing. So after a watch that brought nothing, not even a bookmark, the version of now is asked for.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ServiceError } from '../../../src/errors.ts'
import { createRetryDelay, type RetryDelay } from '../../../src/service/retry-delay.ts'
import type { KubernetesApi } from '../client/api.ts'
import { hasCode } from '../client/api-error.ts'
import { isNewer, type KubernetesObject } from '../client/kubernetes-object.ts'
import type { Selection, WatchEvent } from '../client/list-watch.ts'
import { keyOf, type ResourceType } from '../client/resource-type.ts'
import { untilAborted } from '../client/until-aborted.ts'
import type { WatchMetrics } from '../metrics.ts'
import { cacheEntry, identityOf, isSelected } from './cache-entry.ts'
import { createFreshness, type Freshness } from './freshness.ts'
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
  /** Whether nothing but objects of this kind has to wait where it cannot be read. Default false. */
  readonly standsAlone?: boolean
  /** Objects in one answer of a list. Default 100. */
  readonly pageSize?: number
  /** How long a watch lasts, in whole seconds. Default 40 to 50, by chance. */
  readonly watchSeconds?: number
  /** A connection on which nothing came for so long is given up. Default 75,000. */
  readonly silenceMs?: number
  /** What cannot be followed for so long counts as unread. Default 60,000. */
  readonly unreadAfterMs?: number
  /** Shortest and longest pause after failures. Default 800 and 30,000. */
  readonly minPauseMs?: number
  readonly maxPauseMs?: number
}

interface ReflectorParts {
  readonly api: Pick<KubernetesApi, 'list' | 'version' | 'watch'>
  readonly log: Logger
  readonly metrics: WatchMetrics
}

export interface Reflector<C> {
  readonly type: ResourceType
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined
  /** Whether nothing but objects of its kind has to wait where it is unread. */
  readonly standsAlone: boolean
  /** Why nothing may follow from what it holds; null where it may be relied on. */
  unread(): ServiceError | null
  /** Calls when that turns; returns the function that ends it. */
  onTurn(listener: () => void): () => void
  /**
   * Resolves when the first list is complete, or when the API server refuses it or does not know the kind: `unread`
   * then says so.
   * Rejects with the signal's reason.
   */
  initialized(signal: AbortSignal): Promise<void>
  /** Whether `initialized` has resolved; it stays true. */
  isInitialized(): boolean
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
  readonly freshness: Freshness
  readonly pauses: RetryDelay
  readonly signal: AbortSignal
  readonly initialized: PromiseWithResolvers<void>
  isInitialized: boolean
  /** Where the watch goes on; null: list first. */
  version: string | null
  /** The version that was known last. */
  lastVersion: string | null
  /** Refused watches in a row. */
  refusals: number
  aliveAtMs: number
}

const minWatchSeconds = 40
const watchSecondsSpread = 10
const defaultSilenceMs = 75_000
const defaultMinPauseMs = 800
const defaultMaxPauseMs = 30_000
/** After a watch that ended earlier, or after none, the next one waits longer each time. */
const shortWatchMs = 1_000
/** After so many refused watches in a row there is a list again. */
const maxRefusals = 3

/** Starts at once. An API server that fails is asked again and again, with growing pauses. */
export function openReflector<T extends KubernetesObject, C>(
  options: ReflectorOptions<T, C>,
  parts: ReflectorParts,
): Reflector<C> {
  const { type, namespace, labelSelector, standsAlone = false } = options
  const { minPauseMs = defaultMinPauseMs, maxPauseMs = defaultMaxPauseMs, unreadAfterMs } = options
  const place = namespace === undefined ? {} : { namespace }
  const log = parts.log.child({ kind: type.kind, ...place })
  const listeners = new Set<(change: Change<C>) => void>()
  const turnListeners = new Set<() => void>()
  const stopping = new AbortController()
  const state: Following<T, C> = {
    options,
    parts,
    selection: { type, namespace, labelSelector },
    log,
    cache: createObjectCache((change) => notifyAll(listeners, change, log)),
    freshness: createFreshness(
      { plural: type.plural, ...(unreadAfterMs === undefined ? {} : { unreadAfterMs }) },
      { log, onTurn: () => turnListeners.forEach((listener) => void listener()) },
    ),
    pauses: createRetryDelay({ minMs: minPauseMs, maxMs: maxPauseMs }),
    signal: stopping.signal,
    initialized: Promise.withResolvers<void>(),
    isInitialized: false,
    version: null,
    lastVersion: null,
    refusals: 0,
    aliveAtMs: performance.now(),
  }
  const following = keepUpToDate(state)
  const { cache, freshness } = state
  return {
    type,
    namespace,
    standsAlone,
    unread: () => freshness.unread(),
    onTurn(listener) {
      turnListeners.add(listener)
      return () => void turnListeners.delete(listener)
    },
    isInitialized: () => state.isInitialized,
    initialized: (signal) => untilAborted(state.initialized.promise, signal),
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
      freshness.close()
      await following
    },
  }
}

async function keepUpToDate<T extends KubernetesObject, C>(state: Following<T, C>): Promise<void> {
  const { signal, pauses, freshness } = state
  while (!signal.aborted) {
    try {
      if (freshness.needsList()) state.version = null
      state.version ??= await list(state)
      await watch(state, state.version)
    } catch (error) {
      if (signal.aborted) return
      const retryInMs = pauses.nextMs()
      failed(state, error, retryInMs)
      await sleep(retryInMs, undefined, { signal }).catch(() => undefined)
    }
  }
}

async function list<T extends KubernetesObject, C>(state: Following<T, C>): Promise<string> {
  const { options, parts, selection, cache, log, lastVersion, signal } = state
  const { type, pageSize } = options
  parts.metrics.lists.inc({ kind: type.kind })
  const replaceAll = cache.beginList()
  const { items, resourceVersion } = await parts.api.list<T, Cached<C>>(selection, {
    keep: (object) => entryOf(state, object),
    isLarge: true,
    signal,
    ...(pageSize === undefined ? {} : { pageSize }),
  })
  const isBack = lastVersion !== null && isNewer(lastVersion, resourceVersion)
  if (isBack)
    log.warn({ lastVersion, resourceVersion }, 'the API server is at an older state again')
  replaceAll(items, resourceVersion, { isBack })
  state.lastVersion = resourceVersion
  heard(state)
  state.freshness.listed()
  initialize(state)
  return resourceVersion
}

async function watch<T extends KubernetesObject, C>(
  state: Following<T, C>,
  resourceVersion: string,
): Promise<void> {
  const { options, parts, selection, pauses, freshness, signal } = state
  const { type, silenceMs = defaultSilenceMs, watchSeconds = chosenWatchSeconds() } = options
  parts.metrics.watches.inc({ kind: type.kind })
  let openedAtMs: number | null = null
  const lastedMs = (): number => (openedAtMs === null ? 0 : performance.now() - openedAtMs)
  const onOpen = (): void => {
    openedAtMs = performance.now()
    heard(state)
    freshness.watching()
  }
  const given = { resourceVersion, seconds: watchSeconds, silenceMs, onOpen, signal }
  let isSilent = true
  try {
    for await (const event of parts.api.watch<T>(selection, given)) {
      follow(state, event)
      isSilent = false
    }
  } finally {
    if (lastedMs() >= shortWatchMs) pauses.reset()
  }
  if (!isSilent) return
  if (lastedMs() < shortWatchMs) await sleep(pauses.nextMs(), undefined, { signal })
  const now = await parts.api.version(selection, { signal })
  if (isNewer(resourceVersion, now)) state.version = null
}

function chosenWatchSeconds(): number {
  return minWatchSeconds + Math.floor(Math.random() * (watchSecondsSpread + 1))
}

function follow<T extends KubernetesObject, C>(
  state: Following<T, C>,
  { type, object }: WatchEvent<T>,
): void {
  const { cache } = state
  const { resourceVersion } = object.metadata ?? {}
  if (type === 'DELETED') cache.remove(...identityOf(object), resourceVersion ?? '')
  else if (type !== 'BOOKMARK') cache.put(entryOf(state, object))
  state.version = resourceVersion ?? state.version
  state.lastVersion = state.version
  heard(state)
}

/** The API server said something. */
function heard<T extends KubernetesObject, C>(state: Following<T, C>): void {
  const { options, parts, cache } = state
  state.refusals = 0
  state.aliveAtMs = performance.now()
  const labels = { kind: options.type.kind, namespace: options.namespace ?? '' }
  parts.metrics.cached.set(labels, cache.size())
}

function failed<T extends KubernetesObject, C>(
  state: Following<T, C>,
  error: unknown,
  retryInMs: number,
): void {
  const { options, parts, log, freshness } = state
  const failure = toFailure(error)
  const operation = state.version === null ? 'list' : 'watch'
  parts.metrics.failures.inc({ kind: options.type.kind, operation })
  state.aliveAtMs = performance.now()
  state.refusals += failure.facts['status'] === undefined ? 0 : 1
  const isExpired = hasCode(failure, 'OPERATOR_API_EXPIRED')
  if (isExpired || state.refusals >= maxRefusals) state.version = null
  if (isExpired) {
    log.debug({ retryInMs }, 'the watch is too far behind, listing again')
    return
  }
  freshness.failed(failure)
  if (hasCode(failure, 'OPERATOR_API_FORBIDDEN', 'OPERATOR_API_NOT_FOUND')) initialize(state)
}

function initialize<T extends KubernetesObject, C>(state: Following<T, C>): void {
  state.isInitialized = true
  state.initialized.resolve()
}

function entryOf<T extends KubernetesObject, C>(
  { options: { type, keep } }: Following<T, C>,
  object: T,
): Cached<C> {
  return cacheEntry(type, keep, object)
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
