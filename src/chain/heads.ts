/**
 * Follows the newest head: over a WebSocket while there is one, by polling otherwise. Reading over
 * HTTP goes on in both cases, seldom while the WebSocket is heard, so that a subscription that has
 * gone silent is noticed.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ServiceError } from '../errors.ts'
import { type Backoff, backoffMs } from './backoff.ts'
import type { Head } from './block-reader.ts'
import { type HeadSocket, type HeadSocketOptions, openHeadSocket } from './head-socket.ts'

/** Of a WebSocket that cannot be used. */
const remedy = 'Fix NODE_WS_URL, or open its port; HTTP polling is used meanwhile.'

export interface HeadsOptions {
  /** Absent: heads are polled for. */
  readonly socket?: HeadSocketOptions
  /** Between polls while there is no WebSocket. */
  readonly pollIntervalMs: number
  /** Silence of the WebSocket after which HTTP is asked whether there is a newer head. */
  readonly maxSilenceMs: number
  /** Between attempts to open the WebSocket again. */
  readonly backoff: Backoff
}

export interface HeadsParts {
  readonly log: Logger
  /** The newest head by HTTP; waits for the node as long as it takes. */
  readonly poll: (signal: AbortSignal) => Promise<Head>
  /** Told each time the way in which heads arrive changes. */
  readonly onMode: (mode: 'websocket' | 'http') => void
}

/**
 * Yields the newest head whenever it changes, also to a lower or different one; heads that pass
 * while the consumer is busy are skipped. Ends when `signal` is aborted.
 */
export async function* followHeads(
  options: HeadsOptions,
  parts: HeadsParts,
  signal: AbortSignal,
): AsyncGenerator<Head, void, undefined> {
  const left = new AbortController()
  const stop = AbortSignal.any([signal, left.signal])
  const slot = createSlot<Head>(isSameHead)
  const follower = createFollower(options, parts, slot.put, stop)
  const tasks = Promise.all([follower.polling(), follower.listening()])
  tasks.catch(slot.fail)
  stop.addEventListener('abort', () => slot.end(), { once: true })
  try {
    for (let head = await slot.take(); head !== null; head = await slot.take()) yield head
  } finally {
    left.abort()
    await tasks.catch(() => undefined)
  }
}

function isSameHead(a: Head, b: Head): boolean {
  return a.number === b.number && a.hash === b.hash
}

interface Follower {
  polling(): Promise<void>
  listening(): Promise<void>
}

function createFollower(
  options: HeadsOptions,
  parts: HeadsParts,
  put: (head: Head) => void,
  stop: AbortSignal,
): Follower {
  const { log, poll, onMode } = parts
  let socket: HeadSocket | null = null
  let heardAt = 0
  let heard = -1
  let wake = new AbortController()

  const onHeard = (head: Head): void => {
    heardAt = performance.now()
    heard = head.number
    put(head)
  }

  const sleep = async (waitMs: number): Promise<void> => {
    await pause(waitMs, undefined, { signal: AbortSignal.any([stop, wake.signal]) }).catch(ignore)
    if (wake.signal.aborted) wake = new AbortController()
  }

  const untilSilent = (): number => heardAt + options.maxSilenceMs - performance.now()

  async function pollUntilOpen(): Promise<void> {
    while (socket === null && !stop.aborted) {
      onHeard(await poll(stop))
      if (socket === null) await sleep(options.pollIntervalMs)
    }
  }

  /** Whether a head found over HTTP is still untold one poll later. */
  async function isDeaf(): Promise<boolean> {
    const head = await poll(stop)
    put(head)
    if (head.number <= heard) {
      heardAt = performance.now()
      return false
    }
    await sleep(options.pollIntervalMs)
    return head.number > heard
  }

  async function pollWhileOpen(current: HeadSocket): Promise<void> {
    onHeard(await poll(stop))
    while (socket === current && !stop.aborted) {
      await sleep(Math.max(options.pollIntervalMs, untilSilent()))
      if (socket !== current || untilSilent() > 0) continue
      if (await isDeaf()) current.close()
    }
  }

  async function polling(): Promise<void> {
    while (!stop.aborted) {
      if (socket === null) await pollUntilOpen()
      else await pollWhileOpen(socket)
    }
  }

  /** Runs one socket until it closes; answers why. */
  async function listenOnce(target: HeadSocketOptions, onOpen: () => void): Promise<string> {
    try {
      socket = await openHeadSocket(target, onHeard, stop)
    } catch (error) {
      if (error instanceof ServiceError) return error.message
      throw error
    }
    heardAt = performance.now()
    onOpen()
    onMode('websocket')
    wake.abort()
    const reason = await socket.closed
    socket = null
    onMode('http')
    wake.abort()
    return reason
  }

  async function listening(): Promise<void> {
    const { socket: target } = options
    if (target === undefined) return
    const endpoint = new URL(target.url).host
    let reported = false
    let failures = 0
    const onOpen = (): void => {
      log.info({ endpoint }, reported ? 'WebSocket is back' : 'follows heads over the WebSocket')
      reported = false
      failures = 0
    }
    while (!stop.aborted) {
      const reason = await listenOnce(target, onOpen)
      if (stop.aborted) return
      if (!reported)
        log.warn({ endpoint, reason, remedy }, 'WebSocket unavailable, will use HTTP-only mode')
      reported = true
      failures++
      await pause(backoffMs(options.backoff, failures), undefined, { signal: stop }).catch(ignore)
    }
  }

  const untilStopped = async (task: () => Promise<void>): Promise<void> => {
    try {
      await task()
    } catch (error) {
      if (!stop.aborted) throw error
    }
  }

  return {
    polling: () => untilStopped(polling),
    listening: () => untilStopped(listening),
  }
}

function ignore(): void {}

interface Slot<T> {
  put(value: T): void
  /** The next value not yet taken; null after `end`. */
  take(): Promise<T | null>
  end(): void
  fail(error: unknown): void
}

/** Holds one value: a newer one takes its place, an equal one is dropped. */
function createSlot<T>(isSame: (a: T, b: T) => boolean): Slot<T> {
  let last: T | null = null
  let fresh = false
  let ended = false
  let failure: { readonly error: unknown } | null = null
  let bell = Promise.withResolvers<void>()
  const ring = (): void => bell.resolve()
  return {
    put(value) {
      if (last !== null && isSame(last, value)) return
      last = value
      fresh = true
      ring()
    },
    async take() {
      while (!fresh && !ended && failure === null) {
        bell = Promise.withResolvers()
        await bell.promise
      }
      if (failure !== null) throw failure.error
      if (ended) return null
      fresh = false
      return last
    },
    end() {
      ended = true
      ring()
    },
    fail(error) {
      failure = { error }
      ring()
    },
  }
}
