/** Requests in both directions: how many a second we answer, and how many a second we make. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Fault } from '../limits/fault.ts'
import type { P2pLimits } from '../limits/limits.ts'
import { createRates } from '../limits/rates.ts'
import { asRemote, ofEach, type Remote } from '../limits/remote.ts'

interface RequestGateParts {
  remoteOf(peer: string): Remote
  onFault(peer: string, fault: Fault, detail: string): void
}

export interface RequestGate {
  /**
   * Resolves when a request of the peer may be answered: with true when it may, with false when it is
   * refused or `signal` aborts. More than one peer may make are a fault; what strangers of one address
   * make together waits.
   */
  admit(peer: string, what: string, signal: AbortSignal): Promise<boolean>
}

/** The answering side: one gate for all protocols. */
export function createRequestGate(limits: P2pLimits, parts: RequestGateParts): RequestGate {
  const { requestsPerSecond, maxRemembered: maxRemotes } = limits
  const byPeer = createRates(ofEach(requestsPerSecond), { maxRemotes })
  const byRemote = createRates(limits.requests, { maxRemotes })
  return {
    admit: async (peer, what, signal) => {
      if (!byPeer.take(asRemote(peer), 1)) {
        parts.onFault(peer, 'request flood', what)
        return false
      }
      const waitMs = byRemote.owe(parts.remoteOf(peer), 1, limits.requestWaitMs)
      if (waitMs === null) return false
      await pause(waitMs, signal)
      return !signal.aborted
    },
  }
}

/** What part of `requestsPerSecond` we make: the other side's clock is not ours. */
const ownPart = 0.8
/** Seconds' worth that we make at once; a program that starts again begins with them once more. */
const ownBurstSeconds = 1

export interface Pacer {
  /** Resolves when it is time to ask the peer once more. Throws the signal's reason when it aborts. */
  wait(peer: string, signal: AbortSignal): Promise<void>
}

/** The asking side: keeps us below what an honest peer of the same limits takes for a flood. */
export function createPacer(limits: P2pLimits): Pacer {
  const options = { maxRemotes: limits.maxRemembered, burstSeconds: ownBurstSeconds }
  const rates = createRates(ofEach(limits.requestsPerSecond * ownPart), options)
  return {
    wait: async (peer, signal) => {
      signal.throwIfAborted()
      await pause(rates.owe(asRemote(peer), 1) ?? 0, signal)
      signal.throwIfAborted()
    },
  }
}

/** Resolves after so many milliseconds, or when `signal` aborts. */
export async function pause(waitMs: number, signal: AbortSignal): Promise<void> {
  if (waitMs > 0) await delay(waitMs, undefined, { signal }).catch(() => undefined)
}
