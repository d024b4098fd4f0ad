/**
 * Lists page by page, of large lists one page at a time whatever their kinds, and watches line by line. How large objects
 * are is for those to say who make them, so a page that is too large is asked for again with fewer.
 */
import { ServiceError } from '../../../src/errors.ts'
import { answerError, type Call, describeCall, factsOf, hasCode, statusError } from './api-error.ts'
import { decodeLines } from './line-decoder.ts'
import { parseAnswer, type Requests, textOf } from './requests.ts'
import type { ResourceType } from './resource-type.ts'

/** Which objects of a kind. */
export interface Selection {
  readonly type: ResourceType
  /** Undefined: in all namespaces. */
  readonly namespace?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
}

export interface ListOptions<T, C> {
  readonly signal?: AbortSignal | undefined
  /** Objects in one answer, fewer where they are large. Default 100. */
  readonly pageSize?: number
  /** Whether pages wait until no other large list reads one. Default false. */
  readonly isLarge?: boolean
  /** What is kept of each object; the rest of a page is let go before the next is read. */
  readonly keep: (object: T) => C
}

export interface Listing<C> {
  readonly items: readonly C[]
  /** Where a watch goes on. */
  readonly resourceVersion: string
}

export interface WatchOptions {
  readonly signal?: AbortSignal | undefined
  readonly resourceVersion: string
  /** After so many whole seconds the API server ends the answer. */
  readonly seconds: number
  /** A connection on which nothing came for so long counts as dead. */
  readonly silenceMs: number
  /** Called when the API server has accepted the watch. */
  readonly onOpen?: () => void
}

/** A change; a bookmark carries a resourceVersion and nothing else. */
export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly object: T
}

const defaultPageSize = 100
/** Longest line of a watch; etcd holds objects of 1.5 MiB at most, and JSON is longer than what it stores. */
const maxLineBytes = 16_777_216
/** Largest page of a list: parsed it takes several times as much. One object fits in any case. */
const maxPageBytes = maxLineBytes

function queryOf({ labelSelector, fieldSelector }: Selection): Record<string, string> {
  return {
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  }
}

interface ListBody<T> {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
  readonly items?: readonly T[] | null
}

/** See `KubernetesApi.list`. */
export async function listAll<T, C>(
  requests: Requests,
  selection: Selection,
  options: ListOptions<T, C>,
): Promise<Listing<C>> {
  try {
    return await listPages(requests, selection, options, options.pageSize ?? defaultPageSize)
  } catch (error) {
    if (!hasCode(error, 'OPERATOR_API_EXPIRED')) throw error
    return await listPages(requests, selection, options, null)
  }
}

async function listPages<T, C>(
  requests: Requests,
  selection: Selection,
  { keep, signal, isLarge = false }: ListOptions<T, C>,
  pageSize: number | null,
): Promise<Listing<C>> {
  const call: Call = { verb: 'list', type: selection.type, namespace: selection.namespace }
  const items: C[] = []
  const take = (answer: unknown): ListBody<T>['metadata'] => {
    const page = answer as ListBody<T> | null
    // What is no list, as something between here and the API server may answer, would be one without objects.
    if (typeof page?.metadata?.resourceVersion !== 'string') throw malformed(call, 'no list')
    for (const item of page.items ?? []) items.push(keep(item))
    return page.metadata
  }
  let next = ''
  let limit = pageSize
  for (;;) {
    const query = {
      ...queryOf(selection),
      ...(limit === null ? {} : { limit: String(limit) }),
      ...(next === '' ? {} : { continue: next }),
    }
    const options = { query, signal, ...(limit === null ? {} : { maxBytes: maxPageBytes }) }
    try {
      const metadata = isLarge
        ? await requests.sendLarge(call, options, take)
        : take(await requests.send(call, options))
      next = metadata?.continue ?? ''
      if (next === '') return { items, resourceVersion: metadata?.resourceVersion ?? '' }
    } catch (error) {
      limit = smallerPage(limit, error)
    }
  }
}

/** How many objects to ask for where a page was too large; throws the failure where that helps nothing. */
function smallerPage(limit: number | null, error: unknown): number {
  const isTooLarge = hasCode(error, 'OPERATOR_API_ANSWER_TOO_LARGE')
  if (!isTooLarge || limit === null || limit === 1) throw error
  return Math.ceil(limit / 4)
}

/** See `KubernetesApi.version`. */
export async function currentVersion(
  requests: Requests,
  selection: Selection,
  signal: AbortSignal | undefined,
): Promise<string> {
  const call: Call = { verb: 'list', type: selection.type, namespace: selection.namespace }
  const query = { ...queryOf(selection), limit: '1' }
  const { metadata } = (await requests.send(call, { query, signal })) as ListBody<unknown>
  return metadata?.resourceVersion ?? ''
}

/** See `KubernetesApi.watch`. */
export async function* watchFrom<T>(
  requests: Requests,
  selection: Selection,
  { resourceVersion, seconds, silenceMs, onOpen, signal }: WatchOptions,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const call: Call = { verb: 'watch', type: selection.type, namespace: selection.namespace }
  const query = {
    ...queryOf(selection),
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion,
    timeoutSeconds: String(seconds),
  }
  const { status, retryAfter, chunks } = await requests.stream(call, { query, signal }, silenceMs)
  if (status >= 300) throw answerError(call, status, await textOf(chunks), retryAfter)
  onOpen?.()
  for await (const line of decodeLines(chunks, maxLineBytes)) yield parseEvent<T>(call, line)
}

const eventTypes: readonly string[] = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']

function parseEvent<T>(call: Call, line: string): WatchEvent<T> {
  const event = parseAnswer(call, line) as {
    readonly type?: string
    readonly object?: object
  } | null
  if (event?.type === 'ERROR') throw statusError(call, event.object ?? {})
  if (eventTypes.includes(event?.type ?? '') && isObject(event?.object))
    return event as WatchEvent<T>
  throw malformed(call, 'no event')
}

function malformed(call: Call, what: string): ServiceError {
  return new ServiceError('OPERATOR_API_ANSWER_MALFORMED', `${describeCall(call)}: ${what}`, {
    facts: factsOf(call),
    remedy: 'Nothing: it is tried again.',
  })
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
