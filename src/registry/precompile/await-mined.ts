/** Waits until a transaction that was sent is in a block. */
import { setTimeout as delay } from 'node:timers/promises'
import { tolerateUnreachable } from './tolerate-unreachable.ts'

const stepMs = 500
const minedWithinMs = 120_000

/**
 * What `read` returns of it as soon as that is not null; null where it is in no block after two minutes.
 * @throws what `read` throws, but for a chain that is not reached for a while; the reason of the signal
 */
export async function awaitMined<T>(
  signal: AbortSignal,
  read: () => Promise<T | null>,
): Promise<T | null> {
  const deadline = performance.now() + minedWithinMs
  for (;;) {
    const found = await tolerateUnreachable(deadline, read)
    if (found !== null || performance.now() > deadline) return found
    await delay(stepMs, undefined, { signal })
  }
}
