/** A fair scheduler of handshakes, so many a second: of those that wait, the address served longest ago goes first. */
import { remember } from '../../remember.ts'

interface HandshakeScheduler {
  /** Resolves with true when `key` is served, with false when `signal` aborts first. */
  schedule(key: string, signal: AbortSignal): Promise<boolean>
}

interface Waiting {
  readonly key: string
  go(isTurn: boolean): void
}

/** Seconds' worth of handshakes that may begin at once. */
const burstSeconds = 2

/** Remembers when at most `maxRemembered` keys were served. */
export function createHandshakeScheduler(
  perSecond: number,
  maxRemembered: number,
): HandshakeScheduler {
  const waiting = new Set<Waiting>()
  const lastTurns = new Map<string, number>()
  const capacity = Math.max(1, perSecond * burstSeconds)
  let tokens = capacity
  let tokensAt = performance.now()
  let turns = 0
  let timer: NodeJS.Timeout | undefined

  const hasTurn = (): boolean => {
    const now = performance.now()
    tokens = Math.min(capacity, tokens + ((now - tokensAt) / 1_000) * perSecond)
    tokensAt = now
    return tokens >= 1
  }

  const next = (): Waiting | undefined => {
    const lastOf = ({ key }: Waiting): number => lastTurns.get(key) ?? 0
    return [...waiting].reduce<Waiting | undefined>(
      (best, each) => (best === undefined || lastOf(each) < lastOf(best) ? each : best),
      undefined,
    )
  }

  const run = (): void => {
    clearTimeout(timer)
    while (hasTurn()) {
      const chosen = next()
      if (chosen === undefined) return
      tokens -= 1
      turns += 1
      waiting.delete(chosen)
      remember(lastTurns, chosen.key, turns, maxRemembered)
      chosen.go(true)
    }
    if (waiting.size > 0) timer = setTimeout(run, ((1 - tokens) / perSecond) * 1_000).unref()
  }

  return {
    schedule: async (key, signal) => {
      if (signal.aborted) return false
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const entry: Waiting = { key, go: resolve }
      const leave = (): void => {
        waiting.delete(entry)
        resolve(false)
      }
      signal.addEventListener('abort', leave)
      waiting.add(entry)
      run()
      return await promise.finally(() => signal.removeEventListener('abort', leave))
    },
  }
}
