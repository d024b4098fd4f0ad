/**
 * Follows the Views of the registry chain without a gap: the list at the start, after each subscription and on a timer,
 * events in between. Nothing of what it passes on is verified but its form.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ServiceError } from '../errors.ts'
import { type Backoff, backoffMs } from '../primitives/backoff.ts'
import { type CometSocket, openCometSocket } from './comet-socket.ts'
import { createEventQueue, type EventQueue } from './event-queue.ts'
import { type Lcd, openLcd } from './lcd.ts'
import { defaultListBounds, listViews } from './list-views.ts'
import { isListed, type ListedView, type RefusedView, type SentView } from './listed-view.ts'
import type { RegistryMetrics } from './metrics.ts'
import { createMissedViews } from './missed-views.ts'
import { asFailure, placeOf, retryAfterMs } from './registry-failure.ts'
import { readTxEvents, registrationQueries } from './tx-events.ts'
import { createWakeUp, type WakeUp } from './wake-up.ts'

interface FollowOptions {
  readonly lcdUrl: string
  /** Consensus RPC, http, https, ws or wss; null to list on the timer alone. */
  readonly rpcUrl: string | null
  readonly timings?: Partial<FollowTimings>
}

interface FollowTimings {
  /** Between two lists while nothing happens. Default 5 minutes. */
  readonly listIntervalMs: number
  /** Of a request to the LCD, and of a subscription. Default 30,000. */
  readonly timeoutMs: number
  /** A connection that is silent for so long is closed. Default 30,000. */
  readonly silentMs: number
  /** Between attempts. Default 1 to 60 seconds. */
  readonly retry: Backoff
}

interface FollowParts {
  readonly log: Logger
  readonly metrics: RegistryMetrics
  /** Views of one page of a list. */
  readonly onListed: (views: readonly ListedView[]) => void
  /** The list has ended, or nothing more of it can be read. */
  readonly onListEnd: () => void
  /** A View that was registered now. */
  readonly onSent: (view: SentView) => void
  readonly onRefused: (view: RefusedView) => void
}

export interface RegistryState {
  /** Of the subscription; `off` without REGISTRY_RPC_URL. */
  readonly stream: 'off' | 'connecting' | 'live'
  /** When a list was read to its end last; null before the first. */
  readonly listedAtMs: number | null
  /** Views in that list. */
  readonly listed: number
  /** Why the last list failed; null where it did not. */
  readonly listFailure: ServiceError | null
  /** Why there is no subscription; null while there is one, or nothing has failed yet. */
  readonly streamFailure: ServiceError | null
}

export interface RegistryFollower {
  state(): RegistryState
  /** The View of this ID with its bytes, see `Lcd.view`. */
  fetch(id: string): ReturnType<Lcd['view']>
  close(): Promise<void>
}

const defaults: FollowTimings = {
  listIntervalMs: 300_000,
  timeoutMs: 30_000,
  silentMs: 30_000,
  retry: { minMs: 1_000, maxMs: 60_000 },
}

interface FollowState extends FollowParts {
  readonly options: FollowOptions
  readonly timings: FollowTimings
  readonly signal: AbortSignal
  readonly lcd: Lcd
  readonly queue: EventQueue
  /** Woken where a list is wanted at once. */
  readonly listing: WakeUp
  readonly missed: ReturnType<typeof createMissedViews>
  socket: CometSocket | null
  /** The socket that was subscribed when the last whole list began. */
  listedWith: CometSocket | null
  listedAtMs: number | null
  listed: number
  listFailure: ServiceError | null
  streamFailure: ServiceError | null
}

/** Begins at once; nothing that the chain does or fails to do ends it. */
export function followRegistry(options: FollowOptions, parts: FollowParts): RegistryFollower {
  const timings = { ...defaults, ...options.timings }
  const stopping = new AbortController()
  const { signal } = stopping
  const lcd = openLcd({ url: options.lcdUrl, timeoutMs: timings.timeoutMs })
  const listing = createWakeUp()
  const queue = createEventQueue({ ...parts, lcd, signal, wantList: listing.wake })
  const state: FollowState = {
    ...{ ...parts, options, timings, signal, lcd, queue, listing, missed: createMissedViews() },
    ...{ socket: null, listedWith: null, listedAtMs: null, listed: 0 },
    ...{ listFailure: null, streamFailure: null },
  }
  const { rpcUrl } = options
  const loops = [keepListing(state), ...(rpcUrl === null ? [] : [keepSubscribed(state, rpcUrl)])]
  return {
    state: () => ({
      stream: streamOf(state),
      listedAtMs: state.listedAtMs,
      listed: state.listed,
      listFailure: state.listFailure,
      streamFailure: state.streamFailure,
    }),
    fetch: (id) => lcd.view(id, signal),
    async close() {
      stopping.abort(new Error('closed'))
      await Promise.allSettled([...loops, queue.idle()])
      await lcd.close()
    },
  }
}

function streamOf({ options, socket }: FollowState): RegistryState['stream'] {
  if (options.rpcUrl === null) return 'off'
  return socket === null ? 'connecting' : 'live'
}

async function keepListing(state: FollowState): Promise<void> {
  const { signal, timings, metrics, listing, log } = state
  for (let failures = 0, isTimer = false; !signal.aborted; ) {
    try {
      await listOnce(state, isTimer)
      failures = 0
      state.listFailure = null
      metrics.lists.inc({ result: 'whole' })
    } catch (error) {
      signal.throwIfAborted()
      failures += 1
      state.listFailure = asFailure(error, placeOf(state.options.lcdUrl))
      metrics.lists.inc({ result: 'failed' })
      log.debug({ err: error }, 'Views of the registry chain not listed')
    }
    // However often a list is wanted, the chain is not asked without a pause.
    const pauseMs = backoffMs(timings.retry, Math.max(1, failures), Math.random())
    const askedMs = retryAfterMs(state.listFailure)
    await delay(Math.max(pauseMs, askedMs), undefined, { signal, ref: false })
    if (failures === 0) isTimer = !(await listing.pause(timings.listIntervalMs, signal))
  }
}

async function listOnce(state: FollowState, isTimer: boolean): Promise<void> {
  const { lcd, signal, onListed, onRefused } = state
  const ids = state.missed.begin()
  let listed = 0
  const { socket } = state
  try {
    for await (const page of listViews(lcd, defaultListBounds, signal)) {
      const views = page.views.filter((view) => isListed(view))
      for (const view of page.views) if (!isListed(view)) onRefused(view)
      listed += page.views.length
      ids.add(views.map(({ id }) => id))
      onListed(views)
    }
  } finally {
    state.onListEnd()
  }
  const missed = ids.end()
  state.listed = listed
  state.listedAtMs = Date.now()
  const before = state.listedWith
  state.listedWith = socket
  if (isTimer && socket !== null && socket === state.socket && socket === before)
    suspect(state, socket, missed)
}

/** A subscription that was there all the time should have announced each new View. */
function suspect(state: FollowState, socket: CometSocket, missed: number): void {
  if (missed === 0) return
  state.metrics.missed.inc(missed)
  state.log.warn({ views: missed }, 'the subscription to the registry chain missed Views')
  socket.close()
}

async function keepSubscribed(state: FollowState, rpcUrl: string): Promise<void> {
  const { signal, timings, metrics, log } = state
  const { timeoutMs, silentMs } = timings
  const options = { url: rpcUrl, queries: registrationQueries, timeoutMs, silentMs }
  const endpoint = placeOf(rpcUrl)
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      const openedMs = performance.now()
      const socket = await openCometSocket(options, (message) => onMessage(state, message), signal)
      state.socket = socket
      state.streamFailure = null
      metrics.connections.inc({ result: 'opened' })
      log.info({ endpoint }, 'registry chain followed')
      state.listing.wake()
      const reason = await socket.closed
      state.socket = null
      signal.throwIfAborted()
      // A list finds out whether the chain is away, or its events alone.
      state.listing.wake()
      metrics.connections.inc({ result: 'lost' })
      log.warn({ endpoint, reason }, 'connection to the registry chain lost')
      if (performance.now() - openedMs > timings.retry.maxMs) failures = 0
    } catch (error) {
      signal.throwIfAborted()
      state.streamFailure = asFailure(error, endpoint)
      metrics.connections.inc({ result: 'failed' })
      log.debug({ err: error }, 'registry chain not followed')
    }
    const pauseMs = backoffMs(timings.retry, failures + 1, Math.random())
    await delay(pauseMs, undefined, { signal, ref: false })
  }
}

function onMessage({ queue, listing, missed, onRefused }: FollowState, message: unknown): void {
  const { height, views, isCut } = readTxEvents(message)
  for (const view of views) {
    missed.announced(view.id)
    if ('reason' in view) onRefused(view)
    else queue.add(view, height)
  }
  if (isCut) listing.wake()
}
