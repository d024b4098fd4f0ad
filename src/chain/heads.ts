/**
 * Follows the newest head: over a WebSocket while there is one, by polling otherwise. Reading over
 * HTTP continues in both cases, rarely while the WebSocket delivers, so that a subscription that has
 * gone silent is noticed.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ServiceError } from '../errors.ts'
import { type Backoff, backoffMs } from '../primitives/backoff.ts'
import type { ChainHead } from './block-reader.ts'
import { type HeadSocket, type HeadSocketOptions, openHeadSocket } from './head-socket.ts'
import { createLatestValue } from './latest-value.ts'

/** Of a WebSocket that cannot be used. */
const remedy = 'Fix NODE_WS_URL, or open its port; HTTP polling is used meanwhile.'

export interface HeadsOptions {
  /** Absent: heads are polled. */
  readonly socket?: HeadSocketOptions
  /** Poll interval while there is no WebSocket. */
  readonly pollIntervalMs: number
  /** Silence of the WebSocket after which HTTP is polled for a newer head. */
  readonly maxSilenceMs: number
  /** Between attempts to open the WebSocket again. */
  readonly backoff: Backoff
}

interface HeadsParts {
  readonly log: Logger
  /** The newest head over HTTP; waits for the node as long as it takes. */
  readonly poll: (signal: AbortSignal) => Promise<ChainHead>
  /** Called each time the transport of heads changes. */
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
): AsyncGenerator<ChainHead, void, undefined> {
  const left = new AbortController()
  const stop = AbortSignal.any([signal, left.signal])
  const newest = createLatestValue<ChainHead>(isSameHead)
  const follower = createHeadFollower(options, parts, newest.put, stop)
  const tasks = Promise.all([
    untilStopped(stop, poll(follower)),
    untilStopped(stop, listen(follower)),
  ])
  tasks.catch(newest.fail)
  stop.addEventListener('abort', () => newest.end())
  try {
    for (let head = await newest.take(); head !== null; head = await newest.take()) yield head
  } finally {
    left.abort()
    await tasks.catch(() => undefined)
  }
}

function isSameHead(a: ChainHead, b: ChainHead): boolean {
  return a.number === b.number && a.hash === b.hash
}

/** What both tasks of a follower share. */
interface HeadFollower {
  readonly options: HeadsOptions
  readonly parts: HeadsParts
  readonly put: (head: ChainHead) => void
  readonly stop: AbortSignal
  socket: HeadSocket | null
  /** When a head was last confirmed, in milliseconds of `performance.now()`. */
  confirmedAt: number
  /** Height of the last head; -1 before the first. */
  lastHeight: number
  /** Ends the wait between two polls. */
  wake: AbortController
}

function createHeadFollower(
  options: HeadsOptions,
  parts: HeadsParts,
  put: (head: ChainHead) => void,
  stop: AbortSignal,
): HeadFollower {
  const wake = new AbortController()
  return { options, parts, put, stop, socket: null, confirmedAt: 0, lastHeight: -1, wake }
}

function onHead(follower: HeadFollower, head: ChainHead): void {
  follower.confirmedAt = performance.now()
  follower.lastHeight = head.number
  follower.put(head)
}

// --- Polling over HTTP -----------------------------------------------------------------------

async function poll(follower: HeadFollower): Promise<void> {
  while (!follower.stop.aborted) {
    if (follower.socket === null) await pollUntilOpen(follower)
    else await pollWhileOpen(follower, follower.socket)
  }
}

async function pollUntilOpen(follower: HeadFollower): Promise<void> {
  const { options, parts, stop } = follower
  while (follower.socket === null && !stop.aborted) {
    onHead(follower, await parts.poll(stop))
    await sleep(follower, options.pollIntervalMs)
  }
}

async function pollWhileOpen(follower: HeadFollower, current: HeadSocket): Promise<void> {
  const { options, parts, stop } = follower
  onHead(follower, await parts.poll(stop))
  while (follower.socket === current && !stop.aborted) {
    await sleep(follower, Math.max(options.pollIntervalMs, msUntilSilent(follower)))
    if (follower.socket !== current || msUntilSilent(follower) > 0) continue
    if (await isStalled(follower)) current.close()
  }
}

/** Whether the WebSocket has not reported a head one poll after HTTP did. */
async function isStalled(follower: HeadFollower): Promise<boolean> {
  const head = await follower.parts.poll(follower.stop)
  follower.put(head)
  if (head.number <= follower.lastHeight) {
    follower.confirmedAt = performance.now()
    return false
  }
  await sleep(follower, follower.options.pollIntervalMs)
  return head.number > follower.lastHeight
}

function msUntilSilent({ confirmedAt: heardAt, options }: HeadFollower): number {
  return heardAt + options.maxSilenceMs - performance.now()
}

async function sleep(follower: HeadFollower, waitMs: number): Promise<void> {
  const signal = AbortSignal.any([follower.stop, follower.wake.signal])
  await pause(waitMs, undefined, { signal }).catch(ignore)
  if (follower.wake.signal.aborted) follower.wake = new AbortController()
}

// --- Listening at the WebSocket ---------------------------------------------------------------

async function listen(follower: HeadFollower): Promise<void> {
  const { options, parts, stop } = follower
  const { socket: target } = options
  if (target === undefined) return
  const endpoint = new URL(target.url).host
  let reported = false
  let failures = 0
  const onOpen = (): void => {
    const message = reported ? 'WebSocket is back' : 'follows heads over the WebSocket'
    parts.log.info({ endpoint }, message)
    reported = false
    failures = 0
  }
  while (!stop.aborted) {
    const reason = await listenOnce(follower, target, onOpen)
    if (stop.aborted) return
    if (!reported)
      parts.log.warn({ endpoint, reason, remedy }, 'WebSocket unavailable, will use HTTP-only mode')
    reported = true
    failures++
    const waitMs = backoffMs(options.backoff, failures, Math.random())
    await pause(waitMs, undefined, { signal: stop }).catch(ignore)
  }
}

/** Runs one socket until it closes; returns why it did. */
async function listenOnce(
  follower: HeadFollower,
  target: HeadSocketOptions,
  onOpen: () => void,
): Promise<string> {
  const { parts, stop } = follower
  let socket: HeadSocket
  try {
    socket = await openHeadSocket(target, (head) => onHead(follower, head), stop)
  } catch (error) {
    if (error instanceof ServiceError) return error.message
    throw error
  }
  follower.socket = socket
  follower.confirmedAt = performance.now()
  onOpen()
  parts.onMode('websocket')
  follower.wake.abort()
  const reason = await socket.closed
  follower.socket = null
  parts.onMode('http')
  follower.wake.abort()
  return reason
}

async function untilStopped(stop: AbortSignal, task: Promise<void>): Promise<void> {
  try {
    await task
  } catch (error) {
    if (!stop.aborted) throw error
  }
}

function ignore(): void {}
