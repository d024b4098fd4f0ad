/** Which Hosts are asked again for what they have and signed, and when. */
import { backoffMs } from '../../primitives/backoff.ts'
import { serves } from './feeders.ts'
import type { Links } from './link-state.ts'

/** The wait of a Host that is asked in vain for a signature doubles each time, up to so many times the first. */
const longestWait = 32

/**
 * Opens another stream to Hosts of which a block lacks the signature: each begins with all that was signed of what is not
 * stored yet. A stream says everything once, and what a Host withheld then, or has computed again since, it may say now.
 * The same to Hosts that did not have a View which nobody feeds.
 */
export function askAgain({ links, options, parts, feeding }: Links): void {
  const { views, patience } = options
  const { unheardMs, askServedMs } = patience
  const waits = { minMs: unheardMs, maxMs: longestWait * unheardMs }
  const nowMs = performance.now()
  for (const link of links) {
    const { isOpen, identity, head, openedMs, changingRole } = link
    if (!isOpen || identity === null) continue
    const isUnheard = (view: string): boolean => {
      if (!serves(link, view)) return false
      const lowest = parts.follower.unheard(view, identity, unheardMs)
      return lowest !== null && (head ?? -1) >= lowest
    }
    const isMissed = (view: string): boolean => !feeding.has(view) && !serves(link, view)
    const openMs = nowMs - openedMs
    const isHeard = !views.some(isUnheard)
    if (isHeard) link.unheardAsks = 0
    const waitMs = backoffMs(waits, link.unheardAsks + 1, 1)
    const isDue = !isHeard && openMs >= waitMs
    if (isDue) link.unheardAsks += 1
    if (isDue || (openMs >= askServedMs && views.some(isMissed)))
      changingRole.abort(new Error('it is asked again for what it has and signed'))
  }
}
