/**
 * Checks the `/health` of every running replica, three times a minute and never in the way of a reconcile: the
 * last report is kept, and the owner is reconciled when it changes what conditions say, so that a program or an
 * execution node that hangs is soon known; for new figures alone it is twice a minute at most. After a change a
 * replica is checked within two seconds, then after pauses that double. Some replicas are checked at an external
 * address as well.
 */
import { get } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Logger } from 'pino'
import { paths, ports } from '../../../src/service/contract.ts'
import { parseKey } from '../../runtime/client/resource-type.ts'
import { untilAborted } from '../../runtime/client/until-aborted.ts'
import { type CheckSchedule, createCheckSchedule } from './check-schedule.ts'
import { createGroupQueue, type GroupQueue } from './group-queue.ts'
import { type HealthView, isSameState, parseHealth } from './health-view.ts'
import { parseObservedName } from './observed-name.ts'
import { parseHostedViews, viewsUrl } from './view-at-replica.ts'

interface HealthObserverOptions {
  /** Longest pause between two checks of a replica; chance takes off up to half. Default 20,000. */
  readonly intervalMs?: number
  /** Shortest time between two calls of `onChange` that only figures ask for. Default 30,000. */
  readonly figuresMs?: number
  /** Time for one answer. Default 3,000. */
  readonly timeoutMs?: number
  /** Answers waited for at once. Default 64. */
  readonly maxConcurrent?: number
}

/** Asks at an address; throws where nothing answers. */
type FetchText = (url: string, signal: AbortSignal) => Promise<string>

interface HealthObserverParts {
  readonly log: Logger
  readonly fetchText: FetchText
  /** Called with the owner of a replica whose state changed. */
  readonly onChange: (owner: string) => void
}

/** A replica to check. */
export interface Target {
  readonly ordinal: number
  /** UID of the pod: another pod is another target. */
  readonly uid: string
  readonly ip: string
  /** Where `ip` is an external address of the replica: the peer ID that should answer there. */
  readonly expected?: string
  /** Text that changes with the pod, so that its replica may say something else. */
  readonly occasion?: string
  /** IDs of Views that it is asked for as well. */
  readonly views?: readonly string[]
}

export interface HealthObserver {
  /** Checks exactly these replicas of an owner from now on, new ones at once, and soon those with another occasion. */
  watch(owner: string, targets: readonly Target[]): void
  /**
   * The last report; null where there is no answer, undefined before the first check. Of an external address
   * an unexpected one is returned only once it came three times in a row.
   */
  view(owner: string, target: Target): HealthView | null | undefined
  /** Checks all replicas of an owner now. */
  checkNow(owner: string): void
  close(): Promise<void>
}

interface Watched {
  readonly target: Target
  readonly stop: AbortController
  readonly times: CheckSchedule
  occasion: string | undefined
  views: readonly string[]
  view: HealthView | null | undefined
  /** The report that `onChange` was called for last, and when, in milliseconds of `performance.now()`. */
  announced: { readonly view: HealthView | null | undefined; readonly atMs: number }
  timer: NodeJS.Timeout | undefined
  /** Whether a check is due or under way, after which the next one is scheduled. */
  isChecking: boolean
  /** Checks in a row at which the expected peer did not answer. */
  misses: number
}

/** One lost packet, or a load balancer that is just being created, is no reason to report anything. */
const maxMisses = 3

/** Where health is asked for at an IP address. */
export function healthUrl(ip: string): string {
  return `http://${ip.includes(':') ? `[${ip}]` : ip}:${ports.health}${paths.health}`
}

/** An observer at work. */
interface Observation {
  readonly options: Required<HealthObserverOptions>
  readonly parts: HealthObserverParts
  /** By owner, by key of the target. */
  readonly watched: Map<string, Map<string, Watched>>
  readonly running: Set<Promise<void>>
  /** By namespace: replicas that do not answer take their time, and one namespace may have many of them. */
  readonly due: GroupQueue<readonly [owner: string, entry: Watched]>
}

/** Checks nothing before the first `watch`. */
export function openHealthObserver(
  {
    intervalMs = 20_000,
    figuresMs = 30_000,
    timeoutMs = 3_000,
    maxConcurrent = 64,
  }: HealthObserverOptions,
  parts: HealthObserverParts,
): HealthObserver {
  const observation: Observation = {
    options: { intervalMs, figuresMs, timeoutMs, maxConcurrent },
    parts,
    watched: new Map(),
    running: new Set(),
    due: createGroupQueue(),
  }
  const { watched, running } = observation
  return {
    watch: (owner, targets) => watchExactly(observation, owner, targets),
    view: (owner, target) => watched.get(owner)?.get(keyOf(target))?.view,
    checkNow: (owner) => {
      for (const entry of watched.get(owner)?.values() ?? []) {
        entry.times.change()
        schedule(observation, owner, entry, 0)
      }
    },
    close: async () => {
      for (const entries of watched.values()) for (const entry of entries.values()) drop(entry)
      watched.clear()
      await Promise.allSettled(running)
    },
  }
}

function watchExactly(observation: Observation, owner: string, targets: readonly Target[]): void {
  const { watched } = observation
  const before = watched.get(owner) ?? new Map<string, Watched>()
  const after = new Map<string, Watched>()
  for (const target of targets) {
    const known = before.get(keyOf(target))
    const entry = known ?? begin(target, observation.options)
    after.set(keyOf(target), entry)
    if (known === undefined) schedule(observation, owner, entry, 0)
    else if (entry.occasion !== target.occasion) checkSoon(observation, owner, entry)
    entry.occasion = target.occasion
    entry.views = target.views ?? []
  }
  for (const [key, entry] of before) if (!after.has(key)) drop(entry)
  if (after.size === 0) watched.delete(owner)
  else watched.set(owner, after)
}

function checkSoon(observation: Observation, owner: string, entry: Watched): void {
  const isSoon = entry.times.change()
  if (isSoon && !entry.isChecking) schedule(observation, owner, entry, entry.times.nextMs())
}

function drop(entry: Watched): void {
  clearTimeout(entry.timer)
  entry.stop.abort()
}

function schedule(observation: Observation, owner: string, entry: Watched, delayMs: number): void {
  clearTimeout(entry.timer)
  entry.timer = setTimeout(() => {
    entry.isChecking = true
    observation.due.add(parseKey(parseObservedName(owner).key).namespace, [owner, entry])
    startChecks(observation)
  }, delayMs)
  entry.timer.unref()
}

function startChecks(observation: Observation): void {
  const { running, due, options } = observation
  while (running.size < options.maxConcurrent) {
    const next = due.next()
    if (next === undefined) return
    const started = check(observation, ...next).finally(() => {
      running.delete(started)
      startChecks(observation)
    })
    running.add(started)
  }
}

async function check(observation: Observation, owner: string, entry: Watched): Promise<void> {
  const { parts, options } = observation
  if (entry.stop.signal.aborted) return
  const view = await fetchView(observation, entry)
  if (entry.stop.signal.aborted) return
  const { target, view: before } = entry
  const isNews = takeIn(entry, view)
  const isSame = before !== undefined && isSameState(before, view)
  if (isNews && !isSame) entry.times.change()
  entry.isChecking = false
  schedule(observation, owner, entry, entry.times.nextMs())
  if (!isNews) return
  const { ordinal, ip, expected } = target
  const said = expected === undefined ? { view } : { isThere: view?.peerID === expected }
  if (!isSame) parts.log.debug({ owner, ordinal, ip, ...said }, 'replica changed')
  const { announced } = entry
  const isDue = performance.now() - announced.atMs >= options.figuresMs
  const isFigure = isDue ? hasMoved(announced.view, view) : hasBegunOrEnded(announced.view, view)
  if (isSame && (expected !== undefined || !isFigure)) return
  entry.announced = { view, atMs: performance.now() }
  parts.onChange(owner)
}

async function fetchView(
  { options, parts }: Observation,
  { target, views, stop }: Watched,
): Promise<HealthView | null> {
  const ask = async <T>(url: string, read: (text: string) => T | null): Promise<T | null> => {
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(options.timeoutMs)])
    try {
      return read(await parts.fetchText(url, signal))
    } catch {
      return null
    }
  }
  const health = await ask(healthUrl(target.ip), parseHealth)
  if (health === null || views.length === 0) return health
  return {
    ...health,
    views: await ask(viewsUrl(target.ip), (text) => parseHostedViews(text, views)),
  }
}

/** Keeps the report, and returns whether it counts already. */
function takeIn(entry: Watched, view: HealthView | null): boolean {
  const { expected } = entry.target
  const isMissed = expected !== undefined && view?.peerID !== expected
  entry.misses = isMissed ? entry.misses + 1 : 0
  if (isMissed && entry.misses < maxMisses) return false
  entry.view = view
  return true
}

/** Figures that move. Those of a replica are what it says itself, wherever else it is asked. */
function hasMoved(before: HealthView | null | undefined, after: HealthView | null): boolean {
  return after?.head !== before?.head || after?.lag !== before?.lag
}

/** Figures that come, as with the first block, or go. */
function hasBegunOrEnded(before: HealthView | null | undefined, after: HealthView | null): boolean {
  const there = (view: HealthView | null | undefined): string =>
    [view?.head, view?.lag].map((figure) => (figure ?? null) === null).join()
  return there(before) !== there(after)
}

function begin(target: Target, { intervalMs }: Observation['options']): Watched {
  // A load balancer that is just being created fails for a while: not all of its chances are taken at once.
  const isEven = target.expected !== undefined
  return {
    target,
    stop: new AbortController(),
    times: createCheckSchedule({ intervalMs, isEven }, () => performance.now()),
    occasion: target.occasion,
    views: target.views ?? [],
    view: undefined,
    announced: { view: undefined, atMs: Number.NEGATIVE_INFINITY },
    timer: undefined,
    isChecking: true,
    misses: 0,
  }
}

/** Another pod, address or expectation is another target. */
function keyOf({ ordinal, uid, ip, expected }: Target): string {
  return [ordinal, uid, ip, expected].join(' ')
}

const maxAnswerBytes = 1048576

/**
 * The body of the answer, whatever its status. Throws where nothing answers before `signal` is aborted, or
 * more than 1 MiB. It always ends with `signal`: of an answer that switches protocols Node reports neither an end
 * nor a failure.
 */
export async function fetchText(url: string, signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const request = get(url, { agent: false, signal }, (response) => {
    let bytes = 0
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > maxAnswerBytes) response.destroy(new Error('the answer is too long'))
    })
    text(response).then(resolve, reject)
  })
  request.on('error', reject)
  return await untilAborted(promise, signal)
}
