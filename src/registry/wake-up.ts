/** A pause that somebody else may end early. */
import { setTimeout } from 'node:timers/promises'

export interface WakeUp {
  /** Ends the pause of now, or the next one before it begins. */
  wake(): void
  /** Resolves after `ms` or when woken, true then; throws the signal's reason. */
  pause(ms: number, signal: AbortSignal): Promise<boolean>
}

export function createWakeUp(): WakeUp {
  let woken = Promise.withResolvers<true>()
  return {
    wake: () => woken.resolve(true),
    async pause(ms, signal) {
      const ending = new AbortController()
      const options = { signal: AbortSignal.any([signal, ending.signal]), ref: false }
      const slept = setTimeout(ms, false as const, options).catch(() => false as const)
      const isWoken = await Promise.race([woken.promise, slept])
      ending.abort()
      signal.throwIfAborted()
      if (isWoken) woken = Promise.withResolvers()
      return isWoken
    },
  }
}
