/** How long a Host has stored nothing while most heads of its signers went on, whatever the cause. */

/** The newest head of a signer that was heard lately. */
interface HeardHead {
  readonly identity: string
  readonly hash: string
  /** Whether this very block is stored here; none of another chain is. */
  readonly isStored: boolean
}

interface Progress {
  /** The highest stored height; -1 without any. */
  readonly head: number
  /** Of all accepted signers, those of another chain included. */
  readonly heads: readonly HeardHead[]
}

export interface StandStill {
  /** For how long heads have gone on that are not stored here, since the head of the Host last changed. */
  readonly forMs: number
  /** When the first of them came; null where none did. */
  readonly sinceMs: number | null
}

/** A function to call whenever something may have changed, with a monotonic time in milliseconds. */
export function watchStandStill(): (progress: Progress, nowMs: number) => StandStill {
  let lastHead: number | null = null
  let lastMissing = ''
  let sinceMs: number | null = null
  let movedMs = 0
  return ({ head, heads }, nowMs) => {
    const missing = heads.filter(({ isStored }) => !isStored)
    const text = missing.map(({ identity, hash }) => `${identity} ${hash}`).join()
    if (head !== lastHead || 2 * missing.length <= heads.length) sinceMs = null
    else if (text !== lastMissing) {
      sinceMs ??= nowMs
      movedMs = nowMs
    }
    lastHead = head
    lastMissing = text
    return { forMs: sinceMs === null ? 0 : movedMs - sinceMs, sinceMs }
  }
}
