/** The newest head of this Generator, for peers that ask. */
import type { HeadTiming } from './timing.ts'

interface NewestHead {
  set(bytes: Uint8Array): void
  /** Its message, where these identities include ours or are empty. */
  among(identities: readonly string[]): Uint8Array[]
}

/** Holds a message for the time in which two follow it: a Generator without its node serves none. */
export function createNewestHead(
  identity: string,
  { everyMs }: Pick<HeadTiming, 'everyMs'>,
): NewestHead {
  let newest: { readonly bytes: Uint8Array; readonly sinceMs: number } | null = null
  return {
    set(bytes) {
      newest = { bytes, sinceMs: performance.now() }
    },
    among(identities) {
      const isWanted = identities.length === 0 || identities.includes(identity)
      if (!isWanted || newest === null || performance.now() - newest.sinceMs > 2 * everyMs)
        return []
      return [newest.bytes]
    },
  }
}
