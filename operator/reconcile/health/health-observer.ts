/**
 * Asks every running replica for its `/health`, twice a minute and never in the way of a reconcile:
 * what was answered is kept, and whoever is concerned is told when it changes what conditions say. Some
 * are asked at an outside address as well.
 */
import type { Logger } from 'pino'
import { paths, ports } from '../../../src/service/contract.ts'
import { type HealthView, isSameState, parseHealth } from './health-view.ts'

export interface HealthObserverOptions {
  /** Pause between two looks at a replica, give or take a fifth. Default 30,000. */
  readonly intervalMs?: number
  /** Time for one answer. Default 3,000. */
  readonly timeoutMs?: number
  /** Answers waited for at once. Default 64. */
  readonly maxConcurrent?: number
}

/** Asks at an address; throws where nothing answers. */
export type FetchText = (url: string, signal: AbortSignal) => Promise<string>

export interface HealthObserverParts {
  readonly log: Logger
  readonly fetchText: FetchText
  /** Told the owner of a replica whose state changed. */
  readonly onChange: (owner: string) => void
}

/** A replica to look at. */
export interface Target {
  readonly ordinal: number
  /** UID of the pod: another pod is another target. */
  readonly uid: string
  readonly ip: string
  /** Where `ip` is an outside address of the replica: the peer ID that should answer there. */
  readonly expected?: string
}

export interface HealthObserver {
  /** Looks at exactly these replicas of an owner from now on, at new ones at once. */
  watch(owner: string, targets: readonly Target[]): void
  /**
   * What was said last; null where there is no answer, undefined before it was asked. Of an outside address
   * what is not as expected is told only once it was so three times in a row.
   */
  view(owner: string, target: Target): HealthView | null | undefined
  /** Looks at all replicas of an owner soon, because something happened that may concern them. */
  hurry(owner: string): void
  close(): Promise<void>
}

interface Watched {
  readonly target: Target
  readonly stop: AbortController
  view: HealthView | null | undefined
  timer: NodeJS.Timeout | undefined
  looks: number
  /** Looks in a row at which the expected peer did not answer. */
  misses: number
}

/** A replica that has not yet said who it is is asked again sooner, at first after this time. */
const firstPauseMs = 2_000

/** One lost packet, or a load balancer that is just being made, is no reason to say anything. */
const maxMisses = 3

/** Where health is asked for at an IP address. */
export function healthUrl(ip: string): string {
  return `http://${ip.includes(':') ? `[${ip}]` : ip}:${ports.health}${paths.health}`
}

export function openHealthObserver(
  options: HealthObserverOptions,
  parts: HealthObserverParts,
): HealthObserver {
  const { intervalMs = 30_000, timeoutMs = 3_000, maxConcurrent = 64 } = options
  const watched = new Map<string, Map<string, Watched>>()
  const running = new Set<Promise<void>>()
  const due: [owner: string, entry: Watched][] = []

  const ask = async ({ target, stop }: Watched): Promise<HealthView | null> => {
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(timeoutMs)])
    try {
      return parseHealth(await parts.fetchText(healthUrl(target.ip), signal))
    } catch {
      return null
    }
  }

  const look = async (owner: string, entry: Watched): Promise<void> => {
    if (entry.stop.signal.aborted) return
    const view = await ask(entry)
    if (entry.stop.signal.aborted) return
    const { target, view: before } = entry
    const isNews = takeIn(entry, view)
    schedule(owner, entry, pauseAfter(entry))
    if (!isNews) return
    const isSame = before !== undefined && isSameState(before, view)
    const { ordinal, ip, expected } = target
    const said = expected === undefined ? { view } : { isThere: view?.peerID === expected }
    if (!isSame) parts.log.debug({ owner, ordinal, ip, ...said }, 'replica changed')
    if (!isSame || hasMoved(target, before, view)) parts.onChange(owner)
  }

  const pauseAfter = ({ target, view, looks }: Watched): number => {
    const isKnown = target.expected !== undefined || (view?.peerID ?? null) !== null
    const pauseMs = isKnown ? intervalMs : Math.min(intervalMs, firstPauseMs * 2 ** (looks - 1))
    return pauseMs * (0.8 + 0.4 * Math.random())
  }

  const schedule = (owner: string, entry: Watched, delayMs: number): void => {
    clearTimeout(entry.timer)
    entry.timer = setTimeout(() => {
      due.push([owner, entry])
      startLooks()
    }, delayMs)
    entry.timer.unref()
  }

  const startLooks = (): void => {
    while (running.size < maxConcurrent) {
      const next = due.shift()
      if (next === undefined) return
      const started = look(...next).finally(() => {
        running.delete(started)
        startLooks()
      })
      running.add(started)
    }
  }

  const drop = (entry: Watched): void => {
    clearTimeout(entry.timer)
    entry.stop.abort()
  }

  return {
    watch: (owner, targets) => {
      const before = watched.get(owner) ?? new Map<string, Watched>()
      const after = new Map<string, Watched>()
      for (const target of targets) {
        const known = before.get(keyOf(target))
        const entry = known ?? begin(target)
        after.set(keyOf(target), entry)
        if (known === undefined) schedule(owner, entry, 0)
      }
      for (const [key, entry] of before) if (!after.has(key)) drop(entry)
      if (after.size === 0) watched.delete(owner)
      else watched.set(owner, after)
    },
    view: (owner, target) => watched.get(owner)?.get(keyOf(target))?.view,
    hurry: (owner) => {
      for (const entry of watched.get(owner)?.values() ?? []) {
        entry.looks = 0
        schedule(owner, entry, 0)
      }
    },
    close: async () => {
      for (const entries of watched.values()) for (const entry of entries.values()) drop(entry)
      watched.clear()
      await Promise.allSettled(running)
    },
  }
}

/** Keeps what was answered, and says whether that counts already. */
function takeIn(entry: Watched, view: HealthView | null): boolean {
  const { expected } = entry.target
  const isMissed = expected !== undefined && view?.peerID !== expected
  entry.looks += 1
  entry.misses = isMissed ? entry.misses + 1 : 0
  if (isMissed && entry.misses < maxMisses) return false
  entry.view = view
  return true
}

/** Figures of a replica are what it says itself, wherever else it is asked. */
function hasMoved(
  { expected }: Target,
  before: HealthView | null | undefined,
  after: HealthView | null,
): boolean {
  if (expected !== undefined) return false
  return after?.head !== before?.head || after?.lag !== before?.lag
}

function begin(target: Target): Watched {
  const stop = new AbortController()
  return { target, stop, view: undefined, timer: undefined, looks: 0, misses: 0 }
}

/** Another pod, address or expectation is another target. */
function keyOf({ ordinal, uid, ip, expected }: Target): string {
  return [ordinal, uid, ip, expected].join(' ')
}
