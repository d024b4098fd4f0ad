/**
 * How many heads of one signer are taken: twice as many as a Generator signs. It is counted once a
 * signature has proved whose they are, so that nobody uses up what is another's.
 */

export interface HeadRate {
  /** Counts a head of a signer; false where it sent more than it may. */
  take(identity: string): boolean
  forget(identity: string): void
}

/** Heads of one signer a second; a Generator signs two at most. */
const headsPerSecond = 4
/** Heads that may come at once, after a connection was away. */
export const burstHeads = 16

/** Full budgets for everybody. `nowMs` is monotonic. */
export function createHeadRate(nowMs: () => number): HeadRate {
  const budgets = new Map<string, { readonly left: number; readonly atMs: number }>()
  return {
    take: (identity) => {
      const atMs = nowMs()
      const before = budgets.get(identity) ?? { left: burstHeads, atMs }
      const regained = ((atMs - before.atMs) / 1_000) * headsPerSecond
      const left = Math.min(burstHeads, before.left + regained)
      const isTaken = left >= 1
      budgets.set(identity, { left: isTaken ? left - 1 : left, atMs })
      return isTaken
    },
    forget: (identity) => budgets.delete(identity),
  }
}
