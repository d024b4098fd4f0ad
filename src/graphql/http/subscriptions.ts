/**
 * Subscriptions: every distinct request is executed once for each new height, and the rows it finds go
 * to all of its subscribers. Subscribers, what waits for each of them and pending heights are bounded;
 * a subscriber that falls behind gets an error, and its stream ends.
 */
import type { Logger } from 'pino'
import { Counter, type Registry } from 'prom-client'
import { declareScrapedGauge } from '../../scraped-gauge.ts'
import type { MemoryAccount } from '../budget/memory-pool.ts'
import type { GraphqlRequest, GraphqlResult } from '../graphql.ts'
import {
  defaultRowLimits,
  findErrors,
  type RowLimits,
  type SubscribedEngine,
  sendRows,
  tooLargeResult,
  tooSlow,
} from '../subscribed-rows.ts'
import { type EventStream, nextEvent } from './event-stream.ts'
import { resultText } from './result-text.ts'

/** Bounds of all subscriptions of a program together. */
export interface SubscriptionLimits extends RowLimits {
  /** Streams open at once. */
  readonly maxSubscribers: number
  /** Between two comments on an idle stream. */
  readonly heartbeatMs: number
}

/** The limits a program starts from. */
export const defaultSubscriptionLimits: SubscriptionLimits = {
  ...defaultRowLimits,
  maxSubscribers: 256,
  heartbeatMs: 15_000,
}

/** What subscriptions work with. */
interface SubscriptionParts {
  readonly graphql: SubscribedEngine
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
  readonly readers: Set<EventStream>
  readonly controller: AbortController
}

interface Hub extends SubscriptionParts {
  readonly limits: SubscriptionLimits
  readonly feeds: Map<string, Feed>
  /** Every open stream, also one whose request is still being checked. */
  readonly streams: Set<EventStream>
  readonly metrics: SubscriptionMetrics
}

/** Without subscribers. */
export function openSubscriptions(
  limits: SubscriptionLimits,
  parts: SubscriptionParts,
): Subscriptions {
  const streams = new Set<EventStream>()
  const feeds = new Map<string, Feed>()
  const readers = (): EventStream[] => [...feeds.values()].flatMap((feed) => [...feed.readers])
  const metrics = createSubscriptionMetrics(parts.registry, () => readers().length)
  const hub: Hub = { ...parts, limits, feeds, streams, metrics }
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
      clearInterval(heart)
      for (const stream of [...streams]) stream.end()
    },
  }
}

async function subscribe(hub: Hub, request: GraphqlRequest, stream: EventStream): Promise<void> {
  if (stream.signal.aborted) return
  hub.streams.add(stream)
  stream.signal.addEventListener('abort', () => hub.streams.delete(stream))
  const failed = await findErrors(hub.graphql, request, stream.signal)
  if (stream.signal.aborted) return
  if (failed !== null) {
    stream.end(toEvent(failed))
    return
  }
  const feed = feedOf(hub, request)
  feed.readers.add(stream)
  stream.signal.addEventListener('abort', () => leave(hub, feed, stream))
  stream.beat()
}

const keyOf = ({ query, operationName, variables }: GraphqlRequest): string =>
  JSON.stringify([query, operationName, variables])

function feedOf(hub: Hub, request: GraphqlRequest): Feed {
  const key = keyOf(request)
  const known = hub.feeds.get(key)
  if (known !== undefined) return known
  const { graphql, limits } = hub
  const feed: Feed = { request, readers: new Set(), controller: new AbortController() }
  hub.feeds.set(key, feed)
  sendRows(
    { graphql, request, limits },
    {
      send: (result, account) => deliver(hub, [...feed.readers], result, account),
      end(last, why) {
        for (const reader of [...feed.readers])
          if (why === 'slow') endLate(hub, reader)
          else reader.end(toEvent(last))
      },
    },
    feed.controller.signal,
  )
  return feed
}

function leave({ feeds }: Hub, feed: Feed, stream: EventStream): void {
  feed.readers.delete(stream)
  if (feed.readers.size > 0) return
  feed.controller.abort()
  feeds.delete(keyOf(feed.request))
}

const toEvent = (result: GraphqlResult): Buffer => nextEvent(resultText(result))

/** Sends an event to all subscribers; its bytes are held until each of them has read it. */
function deliver(
  hub: Hub,
  readers: readonly EventStream[],
  result: GraphqlResult,
  account: MemoryAccount,
): void {
  const whole = toEvent(result)
  const event =
    whole.length <= hub.limits.maxQueuedBytes ? whole : toEvent(tooLargeResult(hub.limits))
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

/** A subscriber that reads too slowly must know that events are missing. */
function endLate({ log, metrics }: Hub, reader: EventStream): void {
  metrics.late.inc()
  log.info({ queuedBytes: reader.queuedBytes() }, 'subscriber fell behind')
  reader.end(toEvent(tooSlow()))
}

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
