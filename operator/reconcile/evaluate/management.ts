/**
 * Which of several operators manages a resource, where their installations watch the same namespaces. Each leaves
 * its name in `status.managedBy`. One that finds another's name there writes its own, and nothing else until the
 * other had time to object: an operator that was uninstalled does not, and one at work puts its own name back.
 * Where both are at work, the one whose name sorts first goes on, and the other leaves the resource alone and asks
 * again now and then. So they do not undo each other's writes for ever, and one that is alone is never held up long.
 */

/** What one operator remembers of it; nothing has to be kept. */
export interface Management {
  /** Whether this operator has managed the resource, or asked to. */
  readonly isOurs: boolean
  /** Until then nothing is written for the resource. */
  readonly waitUntilMs: number
  /** The other operator that is at work as well, and when that showed last. */
  readonly rival: { readonly name: string; readonly seenMs: number } | null
}

/** How a resource that was never seen begins. */
export const unmanaged: Management = { isOurs: false, waitUntilMs: 0, rival: null }

/**
 * `manage`: go on. `takeOver`: write our name; whether to go on then says `waitUntilMs`. `wait`: another operator
 * may object. `yield`: leave it to the other.
 */
interface ManagementDecision {
  readonly step: 'manage' | 'takeOver' | 'wait' | 'yield'
  readonly after: Management
}

/** How long another operator has to object. */
const objectionMs = 15_000
/** How long a resource is left to another operator before it is asked again whether it is still at work. */
const yieldMs = 600_000
/** How long an overlap is reported after it showed: until the other operator has asked again. */
const reportedMs = 1.5 * yieldMs

/** `managedBy` is the name in the status, `self` our own. */
export function decideManagement(
  managedBy: string | undefined,
  self: string,
  before: Management,
  nowMs: number,
): ManagementDecision {
  const isWaiting = before.waitUntilMs > nowMs
  const ours = { ...before, isOurs: true }
  if (managedBy === self) return { step: isWaiting ? 'wait' : 'manage', after: ours }
  if (managedBy === undefined) return { step: 'takeOver', after: ours }
  if (!before.isOurs) {
    if (isWaiting) return { step: 'wait', after: before }
    return { step: 'takeOver', after: { ...ours, waitUntilMs: nowMs + objectionMs } }
  }
  const rival = { name: managedBy, seenMs: nowMs }
  if (self < managedBy) return { step: 'takeOver', after: { ...before, rival } }
  return { step: 'yield', after: { isOurs: false, waitUntilMs: nowMs + yieldMs, rival } }
}

/** The name of the other operator at work, while that is worth saying; null otherwise. */
export function rivalOf({ rival }: Management, nowMs: number): string | null {
  return rival !== null && nowMs - rival.seenMs < reportedMs ? rival.name : null
}
