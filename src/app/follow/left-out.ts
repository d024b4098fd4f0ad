/**
 * Heights that the Host which feeds left out below a block. An honest one leaves out what it does not have, and others do
 * not have it either; so what others signed there is waited for, from one of them.
 */
import type { FollowedBlock } from '../../follow/open-frames.ts'
import type { Patience } from './patience.ts'
import type { PendingBlock } from './pending-blocks.ts'

export interface LeftOutFacts {
  /** What the lowest block has to stand on; null where any may be the first. */
  readonly base: FollowedBlock | null
  storedHash(number: number): string | undefined
  /** The highest height below one of which the View has something; null for none. */
  doneBelow(number: number): number | null
  /** The first height that is followed. */
  readonly lowestWanted: number
  /** Whether some accepted Host may have rows of the View at a height or below. */
  mayHave(number: number): boolean
  /** Accepted Hosts that signed rows of the View at some of these heights, both included. */
  signersOf(from: number, to: number): readonly string[]
  /** Since when nothing has come of a height although the Host that feeds sent what is above, whichever Host that was. */
  leftOutSinceMs(from: number): number
  readonly nowMs: number
  readonly patience: Pick<Patience, 'unseenMs'>
}

/** How long those that showed it may take to send it; afterwards it is a hole, which is asked for again. */
const seenPatienceMs = 60_000

/** Hosts that have what was left out below the lowest block, which has to wait; null where it need not. */
export function waitsForLeftOut(
  facts: LeftOutFacts,
  first: PendingBlock,
): readonly string[] | null {
  const below = nextBelow(facts, first)
  // Nobody said that what is stored right below gave way, and yet it is no part of the chain of this block.
  const isTorn = below === first.number - 1 && !fits(facts, first)
  if (isTorn) return facts.signersOf(first.number - 1, first.number)
  if (below >= first.number - 1) return null
  const signers = facts.signersOf(below + 1, first.number - 1)
  if (signers.length === 0 && !facts.mayHave(first.number - 1)) return null
  const patienceMs = signers.length === 0 ? facts.patience.unseenMs : seenPatienceMs
  return facts.nowMs - facts.leftOutSinceMs(below + 1) < patienceMs ? signers : null
}

/** The height of what the View has, or need not have, next below a block. */
export function nextBelow(
  { base, doneBelow, lowestWanted }: LeftOutFacts,
  { number }: PendingBlock,
): number {
  return base?.number ?? doneBelow(number) ?? lowestWanted - 1
}

/** Whether a block stands on what is stored right below it. */
export function fits(
  { storedHash }: Pick<LeftOutFacts, 'storedHash'>,
  { number, parent }: PendingBlock,
): boolean {
  return (storedHash(number - 1) ?? parent) === parent
}
