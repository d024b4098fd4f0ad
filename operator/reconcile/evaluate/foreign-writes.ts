/**
 * Whether something else writes the status of a resource, as an operator of an earlier version does whose installation
 * watches the same namespace: it leaves no name in `status.managedBy`, and takes away what it does not know. One write
 * may be a person's; an operator does it each time it reconciles.
 */
import type { Resource } from '../../api.ts'
import { canonicalJson, shortHash } from '../../resources/names/canonical-json.ts'

type Status = Resource['status']

/** What one operator remembers of it; nothing has to be kept. */
export interface ForeignWrites {
  /** Hash of the status as we wrote it last; null where that was overwritten, or was not yet written. */
  readonly own: string | null
  /** When another one was found in its place last, in milliseconds of a monotonic clock. */
  readonly foundMs: readonly number[]
}

/** How a resource that was never written begins. */
export const noForeignWrites: ForeignWrites = { own: null, foundMs: [] }

/** So many within this time are another operator's. */
const enough = 3
const withinMs = 3_600_000

/** We have written this status. */
export function ownWrite(before: ForeignWrites, status: Status): ForeignWrites {
  return { ...before, own: hashOf(status) }
}

/** Counts a status that is not the one we wrote. */
export function seenStatus(before: ForeignWrites, status: Status, nowMs: number): ForeignWrites {
  const { own, foundMs } = before
  if (own === null || own === hashOf(status)) return before
  return { own: null, foundMs: [...foundMs, nowMs].slice(-enough) }
}

/** Whether they were so many lately that it is another operator. */
export function isWrittenByOthers({ foundMs }: ForeignWrites, nowMs: number): boolean {
  return foundMs.filter((atMs) => nowMs - atMs < withinMs).length >= enough
}

/** Who manages it is written by itself, also by operators that then leave it. */
function hashOf(status: Status = {}): string {
  const { managedBy: _, ...rest } = status
  return shortHash(canonicalJson(rest))
}
