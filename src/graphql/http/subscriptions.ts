/**
 * Subscriptions: every distinct request is executed once for each new height, and the rows it finds go
 * to all of its subscribers. Subscribers, what waits for each of them and pending heights are bounded;
 * a subscriber that falls behind gets an error, and its stream ends.
 */
import type { GraphQLError } from 'graphql'
import type { Logger } from 'pino'
import { Counter, type Registry } from 'prom-client'
import { declareScrapedGauge } from '../../scraped-gauge.ts'
import { refusal } from '../budget/limits.ts'
import type { MemoryAccount } from '../budget/memory-pool.ts'
import type { Graphql, GraphqlRequest, GraphqlResult } from '../graphql.ts'
import { type EventStream, nextEvent } from './event-stream.ts'
import { resultText } from './result-text.ts'

/** Bounds of all subscriptions of a program together. */
export interface SubscriptionLimits {
  /** Streams open at once. */
  readonly maxSubscribers: number
  /** Bytes that may wait for one subscriber; also the largest event. */
  readonly maxQueuedBytes: number
  /** Heights that may wait for one request. */
  readonly maxPendingHeights: number
  /** Between two comments on an idle stream. */
  readonly heartbeatMs: number
}

/** The limits a program starts from. */
export const defaultSubscriptionLimits: SubscriptionLimits = {
  maxSubscribers: 256,
  maxQueuedBytes: 4 * 1024 * 1024,
  maxPendingHeights: 1_000,
  heartbeatMs: 15_000,
}

/** What subscriptions work with. */
interface SubscriptionParts {
  readonly graphql: Pick<
    Graphql,
    'executeAt' | 'onHeight' | 'onViews' | 'subscribedView' | 'memory'
  >
  readonly registry: Registry
  readonly log: Logger
}

/** The open subscriptions of a program, of all its ports. */
export interface Subscriptions {
  /** True when no further stream may be opened, as after `close`. */
  isFull(): boolean
  /**
   * Opens the stream and sends the rows of every height from then on, or only the errors of an invalid
   * request.
   */
  subscribe(request: GraphqlRequest, stream: EventStream): Promise<void>
  /** Ends every stream. */
  close(): void
}

/** One distinct request and its subscribers. */
interface Feed {
  readonly request: GraphqlRequest
  /** The View whose rows are sent, which come after their block; null for what comes with it. */
  readonly view: string | null
  readonly readers: Set<EventStream>
  readonly pending: number[]
  readonly controller: AbortController
  isRunning: boolean
}

interface Hub extends SubscriptionParts {
  readonly limits: SubscriptionLimits
  readonly feeds: Map<string, Feed>
  /** Every open stream, also one whose request is still being checked. */
  readonly streams: Set<EventStream>
  readonly metrics: SubscriptionMetrics
}

/** A height that no block has: a request over it says whether the request is valid. */
const nowhere = { from: -1, to: -1 }

/** Starts listening for heights. */
export function openSubscriptions(
  limits: SubscriptionLimits,
  parts: SubscriptionParts,
): Subscriptions {
  const streams = new Set<EventStream>()
  const feeds = new Map<string, Feed>()
  const readers = (): EventStream[] => [...feeds.values()].flatMap((feed) => [...feed.readers])
  const metrics = createSubscriptionMetrics(parts.registry, () => readers().length)
  const hub: Hub = { ...parts, limits, feeds, streams, metrics }
  const stopListening = parts.graphql.onHeight((height, view) => noteHeight(hub, height, view))
  const stopWatching = parts.graphql.onViews(() => endGone(hub))
  const heart = setInterval(() => {
    for (const reader of readers()) reader.beat()
  }, limits.heartbeatMs)
  heart.unref()
  let isClosed = false
  return {
    isFull: () => isClosed || streams.size >= limits.maxSubscribers,
    subscribe: (request, stream) => subscribe(hub, request, stream),
    close() {
      isClosed = true
      stopListening()
      stopWatching()
      clearInterval(heart)
      for (const stream of [...streams]) stream.end()
    },
  }
}

async function subscribe(hub: Hub, request: GraphqlRequest, stream: EventStream): Promise<void> {
  if (stream.signal.aborted) return
  hub.streams.add(stream)
  stream.signal.addEventListener('abort', () => hub.streams.delete(stream), { once: true })
  const trial = await hub.graphql.executeAt(request, nowhere, stream.signal)
  if (stream.signal.aborted) return
  if (trial.errors !== undefined) {
    stream.end(nextEvent(resultText(trial)))
    return
  }
  const feed = feedOf(hub, request)
  feed.readers.add(stream)
  stream.signal.addEventListener('abort', () => leave(hub, feed, stream), { once: true })
  stream.beat()
}

const keyOf = ({ query, operationName, variables }: GraphqlRequest): string =>
  JSON.stringify([query, operationName ?? null, variables ?? null])

function feedOf({ feeds, graphql }: Hub, request: GraphqlRequest): Feed {
  const key = keyOf(request)
  const known = feeds.get(key)
  if (known !== undefined) return known
  const feed: Feed = {
    request,
    view: graphql.subscribedView(request),
    readers: new Set(),
    pending: [],
    controller: new AbortController(),
    isRunning: false,
  }
  feeds.set(key, feed)
  return feed
}

function leave({ feeds }: Hub, feed: Feed, stream: EventStream): void {
  feed.readers.delete(stream)
  if (feed.readers.size > 0) return
  feed.controller.abort()
  const key = keyOf(feed.request)
  if (feeds.get(key) === feed) feeds.delete(key)
}

function noteHeight(hub: Hub, height: number, view: string | null): void {
  for (const feed of [...hub.feeds.values()]) {
    if (feed.view !== view) continue
    if (feed.pending.length >= hub.limits.maxPendingHeights) {
      for (const reader of [...feed.readers]) endLate(hub, reader)
      continue
    }
    feed.pending.push(height)
    if (!feed.isRunning) void run(hub, feed)
  }
}

/** Executes the request for the pending heights, one after the other. `executeAt` never rejects. */
async function run(hub: Hub, feed: Feed): Promise<void> {
  feed.isRunning = true
  for (;;) {
    const height = feed.pending.shift()
    if (height === undefined || feed.controller.signal.aborted) break
    const account = hub.graphql.memory.openAccount()
    const heights = { from: height, to: height }
    const { signal } = feed.controller
    const result = await hub.graphql.executeAt(feed.request, heights, signal, account)
    const event = signal.aborted ? null : toEvent(result, hub.limits.maxQueuedBytes)
    if (event === null) account.close()
    else deliver(hub, [...feed.readers], event, account)
    if (signal.aborted) break
  }
  feed.isRunning = false
}

/** An answer of empty lists: a height has no row that was asked for. */
const nothingFound = /^\{"data":\{(?:"\w+":\[\],?)*\}\}$/

/** The event of a height; null where it has nothing that was asked for. */
function toEvent(result: GraphqlResult, maxBytes: number): Buffer | null {
  const length = (result.data ?? []).reduce((sum, text) => sum + text.length, 0)
  if (length > maxBytes) return tooLargeEvent(maxBytes)
  const text = resultText(result)
  if (nothingFound.test(text)) return null
  const event = nextEvent(text)
  return event.length <= maxBytes ? event : tooLargeEvent(maxBytes)
}

const tooLargeEvent = (maxBytes: number): Buffer => nextEvent(failureText(tooLarge(maxBytes)))

/** Sends an event to all subscribers; its bytes are held until each of them has read it. */
function deliver(
  hub: Hub,
  readers: readonly EventStream[],
  event: Buffer,
  account: MemoryAccount,
): void {
  let waiting = 1 + readers.length
  const onTaken = (): void => {
    if (--waiting === 0) account.close()
  }
  for (const reader of readers) {
    if (reader.queuedBytes() + event.length > hub.limits.maxQueuedBytes) {
      endLate(hub, reader)
      onTaken()
    } else {
      reader.send(event, onTaken)
      hub.metrics.events.inc()
    }
  }
  onTaken()
}

/** Ends the streams of Views that are no longer served. */
function endGone({ feeds, graphql }: Hub): void {
  for (const { view, request, readers } of [...feeds.values()]) {
    if (view === null || graphql.subscribedView(request) === view) continue
    for (const reader of [...readers]) reader.end(nextEvent(failureText(gone(view))))
  }
}

/** A subscriber that reads too slowly must know that events are missing. */
function endLate({ log, metrics }: Hub, reader: EventStream): void {
  metrics.late.inc()
  log.info({ queuedBytes: reader.queuedBytes() }, 'subscriber fell behind')
  reader.end(nextEvent(failureText(tooSlow())))
}

/** A result that has failed, as JSON. */
function failureText(error: GraphQLError): string {
  return resultText({ data: null, errors: [error] })
}

const tooSlow = (): GraphQLError =>
  refusal(
    'GRAPHQL_SUBSCRIBER_SLOW',
    'Events come faster than this subscriber reads them; some are lost.',
    'Subscribe again, and query the blocks in between; select fewer fields or filter if it happens often.',
  )

const gone = (view: string): GraphQLError =>
  refusal(
    'GRAPHQL_VIEW_GONE',
    `The View ${view} is no longer served.`,
    'Ask the operator why; GET /api/v0/views lists those that are.',
  )

const tooLarge = (maxBytes: number): GraphQLError =>
  refusal(
    'GRAPHQL_SIZE_LIMIT',
    `An event is larger than ${maxBytes} bytes and was left out.`,
    'Select fewer fields (input, data and logsBloom are the largest) or add a filter.',
  )

interface SubscriptionMetrics {
  readonly events: Counter<string>
  readonly late: Counter<string>
}

function createSubscriptionMetrics(registry: Registry, count: () => number): SubscriptionMetrics {
  const registers = [registry]
  declareScrapedGauge(registry, {
    name: 'viewmesh_graphql_subscribers',
    help: 'Subscribers now.',
    read: count,
  })
  return {
    events: new Counter({
      name: 'viewmesh_graphql_subscription_events_total',
      help: 'Events sent to subscribers.',
      registers,
    }),
    late: new Counter({
      name: 'viewmesh_graphql_subscribers_late_total',
      help: 'Subscribers whose stream was ended because they fell behind.',
      registers,
    }),
  }
}
