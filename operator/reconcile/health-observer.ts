/**
 * Asks every running replica for its `/health`, twice a minute and never in the way of a reconcile:
 * what was answered is kept, and whoever is concerned is told when it changes what conditions say.
 */
import type { Logger } from 'pino'
import { paths, ports } from '../../src/service/contract.ts'
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
}

export interface HealthObserver {
  /** Looks at exactly these replicas of an owner from now on, at new ones at once. */
  watch(owner: string, targets: readonly Target[]): void
  /** What the replica said last; null where it does not answer, undefined before it was asked. */
  view(owner: string, ordinal: number): HealthView | null | undefined
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
}

/** A replica that has not yet said who it is is asked again sooner, at first after this time. */
const firstPauseMs = 2_000

export function openHealthObserver(
  options: HealthObserverOptions,
  parts: HealthObserverParts,
): HealthObserver {
  const { intervalMs = 30_000, timeoutMs = 3_000, maxConcurrent = 64 } = options
  const watched = new Map<string, Map<number, Watched>>()
  const running = new Set<Promise<void>>()
  const due: [owner: string, entry: Watched][] = []

  const ask = async ({ target, stop }: Watched): Promise<HealthView | null> => {
    const host = target.ip.includes(':') ? `[${target.ip}]` : target.ip
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(timeoutMs)])
    try {
      return parseHealth(
        await parts.fetchText(`http://${host}:${ports.health}${paths.health}`, signal),
      )
    } catch {
      return null
    }
  }

  const look = async (owner: string, entry: Watched): Promise<void> => {
    if (entry.stop.signal.aborted) return
    const view = await ask(entry)
    if (entry.stop.signal.aborted) return
    const before = entry.view
    const isSame = before !== undefined && isSameState(before, view)
    entry.view = view
    entry.looks += 1
    schedule(owner, entry, pauseAfter(entry))
    const moved = view?.head !== before?.head || view?.lag !== before?.lag
    if (!isSame) parts.log.debug({ owner, ordinal: entry.target.ordinal, view }, 'replica changed')
    if (moved || !isSame) parts.onChange(owner)
  }

  const pauseAfter = ({ view, looks }: Watched): number => {
    const isKnown = (view?.peerID ?? null) !== null
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
      const before = watched.get(owner) ?? new Map<number, Watched>()
      const after = new Map<number, Watched>()
      for (const target of targets) {
        const known = before.get(target.ordinal)
        if (known?.target.uid === target.uid && known.target.ip === target.ip) {
          after.set(target.ordinal, known)
          continue
        }
        const stop = new AbortController()
        const entry: Watched = { target, stop, view: undefined, timer: undefined, looks: 0 }
        after.set(target.ordinal, entry)
        schedule(owner, entry, 0)
      }
      for (const [ordinal, entry] of before) if (after.get(ordinal) !== entry) drop(entry)
      if (after.size === 0) watched.delete(owner)
      else watched.set(owner, after)
    },
    view: (owner, ordinal) => watched.get(owner)?.get(ordinal)?.view,
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
