/**
 * A copy of the objects of one kind, kept up to date by a list and a watch. It keeps of each object
 * what `keep` makes of it, so that thousands of them fit in little memory.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ServiceError } from '../../src/errors.ts'
import type { KubernetesApi } from './api.ts'
import { hasCode } from './api-error.ts'
import { createBackoff } from './backoff.ts'
import type { KubernetesObject, Metadata } from './kubernetes-object.ts'
import { isSelectedBy } from './label-selector.ts'
import type { Selection } from './list-watch.ts'
import type { WatchMetrics } from './metrics.ts'
import { type Cached, type Change, createObjectCache } from './object-cache.ts'
import { keyOf, type ResourceType } from './resource-type.ts'
import { untilAborted } from './until-aborted.ts'

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

export interface ReflectorParts {
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
   * Resolves when synced, or when the API server says that this kind may not be listed: then `failure` tells
   * so. Rejects with the signal's reason.
   */
  settled(signal: AbortSignal): Promise<void>
  /** Whether `settled` has resolved; it stays true. */
  isSettled(): boolean
  /** Why the API server cannot be followed at the moment; null where it can. */
  failure(): ServiceError | null
  get(namespace: string | undefined, name: string): Cached<C> | undefined
  list(): IterableIterator<Cached<C>>
  /** Calls for every change from now on; returns the function that ends it. */
  onChange(listener: (change: Change<C>) => void): () => void
  /** Milliseconds since the API server last said anything about this kind, or was last asked in vain. */
  silentForMs(): number
  /**
   * Takes in an object that a write of ours was answered with, so that whoever looks next does not act on
   * what was there before; what a watch tells of earlier states is passed over.
   */
  learn(object: KubernetesObject): void
  /** Takes out an object that a write of ours deleted. */
  forget(key: string, uid: string): void
  close(): Promise<void>
}

/** Where a reflector stands, as its loop knows it. */
interface Following {
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
/** A watch that the API server refuses so often in a row is given up for a list. */
const maxRefusals = 3

/** Starts at once. An API server that fails is asked again and again, with growing pauses. */
export function openReflector<T extends KubernetesObject, C>(
  options: ReflectorOptions<T, C>,
  { api, metrics, log: parent }: ReflectorParts,
): Reflector<C> {
  const { type, namespace } = options
  const log = parent.child({ kind: type.kind, ...(namespace === undefined ? {} : { namespace }) })
  const stopping = new AbortController()
  const { signal } = stopping
  const settled = Promise.withResolvers<void>()
  const listeners = new Set<(change: Change<C>) => void>()
  const cache = createObjectCache<C>((change) => tellAll(listeners, change, log))
  const pauses = createBackoff(
    options.minPauseMs ?? defaultMinPauseMs,
    options.maxPauseMs ?? defaultMaxPauseMs,
  )
  const selection: Selection = { type, namespace, labelSelector: options.labelSelector }
  const now: Following = { version: null, refusals: 0, failure: null, aliveAtMs: performance.now() }
  let isSynced = false
  let isSettled = false
  const settle = (): void => {
    isSettled = true
    settled.resolve()
  }

  const entryOf = (object: T): Cached<C> => toEntry(type, object, options.keep)
  const heard = (): void => {
    if (now.failure !== null) log.info('the API server answers again')
    now.failure = null
    now.refusals = 0
    now.aliveAtMs = performance.now()
    pauses.reset()
    metrics.cached.set({ kind: type.kind, namespace: namespace ?? '' }, cache.size())
  }
  const list = async (): Promise<string> => {
    metrics.lists.inc({ kind: type.kind })
    const { pageSize } = options
    const { items, resourceVersion } = await api.list<T, Cached<C>>(selection, {
      keep: entryOf,
      isLarge: true,
      signal,
      ...(pageSize === undefined ? {} : { pageSize }),
    })
    cache.replaceAll(items, resourceVersion)
    heard()
    isSynced = true
    settle()
    return resourceVersion
  }
  const watch = async (resourceVersion: string): Promise<void> => {
    metrics.watches.inc({ kind: type.kind })
    const silenceMs = options.silenceMs ?? defaultSilenceMs
    let isSilent = true
    for await (const { type: event, object } of api.watch<T>(selection, {
      resourceVersion,
      silenceMs,
      signal,
    })) {
      if (event === 'DELETED') {
        cache.remove(...identityOf(object), object.metadata?.resourceVersion ?? '')
      } else if (event !== 'BOOKMARK') cache.put(entryOf(object))
      now.version = object.metadata?.resourceVersion ?? now.version
      isSilent = false
      heard()
    }
    if (isSilent) await sleep(pauses.nextMs(), undefined, { signal })
  }
  const failed = (error: unknown): void => {
    const failure = toFailure(error)
    metrics.failures.inc({ kind: type.kind, operation: now.version === null ? 'list' : 'watch' })
    now.aliveAtMs = performance.now()
    now.refusals += failure.facts['status'] === undefined ? 0 : 1
    const isExpired = hasCode(failure, 'OPERATOR_API_EXPIRED')
    if (isExpired || now.refusals >= maxRefusals) now.version = null
    if (isExpired) {
      log.debug('the watch is too far behind, listing again')
      return
    }
    if (now.failure === null) log.warn({ err: failure }, 'the API server cannot be followed')
    now.failure = failure
    if (hasCode(failure, 'OPERATOR_API_FORBIDDEN')) settle()
  }
  const follow = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        now.version ??= await list()
        await watch(now.version)
      } catch (error) {
        if (signal.aborted) return
        failed(error)
        await sleep(pauses.nextMs(), undefined, { signal }).catch(() => undefined)
      }
    }
  }
  const following = follow()

  return {
    type,
    namespace,
    isSynced: () => isSynced,
    isSettled: () => isSettled,
    settled: (given) => untilAborted(settled.promise, given),
    failure: () => now.failure,
    get: (inNamespace, name) => cache.get(keyOf(inNamespace, name)),
    list: () => cache.values(),
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    silentForMs: () => performance.now() - now.aliveAtMs,
    learn(object) {
      if (isSelected(selection, object)) cache.put(entryOf(object as T))
    },
    forget: (key, uid) => cache.forget(key, uid),
    async close() {
      stopping.abort(new DOMException('the reflector closes', 'AbortError'))
      await following
    },
  }
}

/** Whether an object is one of those that are listed and watched. */
function isSelected(
  { namespace, labelSelector }: Selection,
  { metadata }: KubernetesObject,
): boolean {
  if (namespace !== undefined && metadata?.namespace !== namespace) return false
  return labelSelector === undefined || isSelectedBy(labelSelector, metadata?.labels)
}

function toEntry<T extends KubernetesObject, C>(
  type: ResourceType,
  object: T,
  keep: (object: T) => C,
): Cached<C> {
  const whole = { apiVersion: type.apiVersion, kind: type.kind, ...object }
  const [key, uid] = identityOf(object)
  const resourceVersion = object.metadata?.resourceVersion ?? ''
  return { key, uid, resourceVersion, value: keep(withoutBallast(whole)) }
}

const ballast: readonly string[] = ['kubectl.kubernetes.io/last-applied-configuration']

/** The object without what is large and never looked at. */
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

/** A listener that throws is a mistake of ours, and no reason to miss what comes next. */
function tellAll<C>(
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
    remedy: 'Report this: it is a mistake of the operator.',
    cause: error,
  })
}
