/**
 * Whether a Host has the data that it should be asked for. What is behind shows by what accepted signers signed and
 * by what other replicas say that they have, never by time: where no Generator runs, all replicas that are equally
 * far stay ready. By default the replica that has most always is, so that no Service loses its last one.
 */
import type { UnreadyReport } from '../service/contract.ts'

export interface ReadySettings {
  /** Fewer stored blocks are too few. */
  readonly readyMinBlocks: number
  /** More blocks below most signers are too many; null for any number. */
  readonly readyMaxLag: number | null
}

/** What a Host knows of itself and of other replicas. */
export interface ReadyFacts {
  /** Stored blocks. */
  readonly blocks: number
  /** The highest height that was stored since the start, also where blocks gave way since; -1 for none. */
  readonly highest: number
  /** Blocks below the height that most counted signers have reached; null while that is not known. */
  readonly lag: number | null
  /** The highest head of an accepted signer, whenever that was heard; -1 for none. */
  readonly signed: number
  /** The highest heights that connected replicas of the same Host say they have. */
  readonly siblings: readonly number[]
}

/** How far another replica may be ahead where no lag is set. */
const maxBehindSibling = 64

/** Why a Host is not ready; null where it is. */
export function unreadyReport(
  { readyMinBlocks, readyMaxLag }: ReadySettings,
  { blocks, highest, lag, signed, siblings }: ReadyFacts,
): UnreadyReport | null {
  if (blocks < readyMinBlocks) {
    const message = `${blocks} blocks are stored, and it is ready with ${readyMinBlocks} (HOST_READY_MIN_BLOCKS).`
    return { reason: 'too-few-blocks', message }
  }
  if (readyMaxLag !== null && lag !== null && lag > readyMaxLag) {
    const message = `It is ${lag} blocks behind its signers, and ready with ${readyMaxLag} at most (HOST_READY_MAX_LAG).`
    return { reason: 'lagging', message }
  }
  // No replica can have more than somebody has signed: one that says so keeps no other from being ready.
  const ahead = Math.min(Math.max(-1, ...siblings), signed)
  const most = readyMaxLag ?? maxBehindSibling
  if (ahead - highest <= most) return null
  const message = `Another replica has block ${ahead}, and this one no more than block ${highest}: it is ready with ${most} fewer at most.`
  return { reason: 'behind-sibling', message }
}
