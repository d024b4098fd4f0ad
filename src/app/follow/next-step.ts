/**
 * What to do with the blocks of a View that wait: a pure function of them, of what is stored and of what Hosts signed.
 *
 * Rows are stored, and so seen, once as many accepted Hosts as the application asks for signed exactly them. What is
 * stored gives way to another branch only where so many Hosts say themselves that they follow it, or where so many
 * signed it up to a height above everything that is stored: a branch that they left long ago ends below.
 */
import { fits, type LeftOutFacts, nextBelow, waitsForLeftOut } from './left-out.ts'
import type { Patience } from './patience.ts'
import type { PendingBlock } from './pending-blocks.ts'
import type { RowsVerdict } from './pending-votes.ts'

/** What the decision is made from. */
export interface StepFacts extends LeftOutFacts {
  readonly patience: Pick<Patience, 'unseenMs' | 'failedMs'>
  readonly pending: readonly PendingBlock[]
  readonly minimumHosts: number
  /** How many Hosts there are whose word counts. */
  readonly acceptedHosts: number
  /** Whether the View has something of that height, or nothing that low is stored. */
  isDone(number: number): boolean
  /** The highest stored height; -1 for none. */
  readonly storedHead: number
  /** Since when the lowest block waits, whichever Hosts sent it. */
  readonly waitsSinceMs: number
  /** Accepted Hosts that say themselves that they signed rows above a height. */
  signersAbove(number: number): readonly string[]
  /** The height up to which a Host says itself that it has what is stored; Infinity where it said nothing of that. */
  leftAbove(host: string): number
  /** What accepted Hosts say of a block. */
  evaluate(block: PendingBlock): RowsVerdict
}

export type FeedStep =
  /**
   * Nothing now; `differing` are Hosts that signed other rows of the lowest block, where they are more than those that
   * agree, or that have what was left out below it.
   */
  | { readonly kind: 'wait'; readonly differing: readonly string[] }
  /** So many of the lowest are stored already. */
  | { readonly kind: 'known'; readonly blocks: number }
  /** Store these, once what is stored above a height has been removed; null removes nothing. */
  | {
      readonly kind: 'store'
      readonly blocks: readonly PendingBlock[]
      readonly removeAbove: number | null
    }
  /** Store that there are no rows of the lowest block, for a reason. */
  | { readonly kind: 'fail'; readonly why: 'failed' | 'disputed' }

/** Blocks that are stored at once. */
const maxBlocks = 64
/** How long rows wait at least that cannot get their votes any more, while later ones have theirs. */
const disputedPatienceMs = 60_000

export function nextStep(facts: StepFacts): FeedStep {
  const { pending } = facts
  const [first] = pending
  if (first === undefined) return { kind: 'wait', differing: [] }
  const known = leading(pending, (block) => isKnown(facts, block))
  if (known > 0) return { kind: 'known', blocks: known }
  const leftOut = waitsForLeftOut(facts, first)
  if (leftOut !== null) return { kind: 'wait', differing: leftOut }
  const lowest = withoutGap(pending.slice(0, maxBlocks))
  const agreed = agreedRun(facts, lowest)
  if (agreed === 0) return unagreed(facts, first)
  const verdict = facts.evaluate(first)
  const isOnOther = deniedBy(facts, verdict, first.number - 1).length > 0
  if (isConflict(facts, first) || !fits(facts, first) || isOnOther)
    return replace(facts, first, verdict, lowest.slice(0, agreed))
  const fitting = leading(lowest, (block) => !isConflict(facts, block))
  const blocks = lowest.slice(0, Math.min(agreed, fitting))
  return { kind: 'store', blocks, removeAbove: null }
}

/** How many of the lowest blocks are so, up to the first that is not. */
function leading(
  pending: readonly PendingBlock[],
  isSo: (block: PendingBlock, index: number) => boolean,
): number {
  const end = pending.findIndex((block, index) => !isSo(block, index))
  return end < 0 ? pending.length : end
}

/** Those up to the first height that was left out. */
function withoutGap(pending: readonly PendingBlock[]): readonly PendingBlock[] {
  const isNext = ({ number }: PendingBlock, index: number): boolean =>
    index === 0 || pending[index - 1]?.number === number - 1
  return pending.slice(0, leading(pending, isNext))
}

function isKnown({ storedHash, isDone }: StepFacts, { number, hash }: PendingBlock): boolean {
  const stored = storedHash(number)
  return isDone(number) && (stored === undefined || stored === hash)
}

function isConflict({ storedHash }: StepFacts, { number, hash }: PendingBlock): boolean {
  const stored = storedHash(number)
  return stored !== undefined && stored !== hash
}

/** How many of the lowest blocks have their votes. */
function agreedRun(facts: StepFacts, pending: readonly PendingBlock[]): number {
  return leading(pending, (block) => isAgreed(facts, block))
}

function isAgreed({ evaluate, minimumHosts }: StepFacts, block: PendingBlock): boolean {
  return block.rows !== null && evaluate(block).agreeing.length >= minimumHosts
}

function unagreed(facts: StepFacts, first: PendingBlock): FeedStep {
  const { differing: others, agreeing } = facts.evaluate(first)
  const differing = others.length > agreeing.length ? others : []
  const waitedMs = facts.nowMs - facts.waitsSinceMs
  if (isConflict(facts, first)) return { kind: 'wait', differing }
  if (first.rows === null)
    return waitedMs >= facts.patience.failedMs && others.length === 0 && isPassedOver(facts, first)
      ? { kind: 'fail', why: 'failed' }
      : { kind: 'wait', differing }
  const [, next] = facts.pending
  const isPassed = (): boolean => next !== undefined && isAgreed(facts, next)
  return waitedMs >= disputedPatienceMs && isPassed() && isHopeless(facts, first)
    ? { kind: 'fail', why: 'disputed' }
    : { kind: 'wait', differing }
}

/** Whether as many Hosts as are believed went on above a block of which none signed rows. */
function isPassedOver(
  { signersAbove, minimumHosts }: StepFacts,
  { number }: PendingBlock,
): boolean {
  return signersAbove(number).length >= minimumHosts
}

/** Whether no rows can get their votes, whatever those sign who have not said anything yet. */
function isHopeless(
  { acceptedHosts, minimumHosts, evaluate }: StepFacts,
  block: PendingBlock,
): boolean {
  const { agreeing, differing } = evaluate(block)
  const silent = acceptedHosts - agreeing.length - differing.length
  return Math.max(agreeing.length, differing.length) + silent < minimumHosts
}

/** What is stored, or a part of it, is of another branch than the lowest block. */
function replace(
  facts: StepFacts,
  first: PendingBlock,
  verdict: RowsVerdict,
  blocks: readonly PendingBlock[],
): FeedStep {
  const { pending, minimumHosts, storedHead } = facts
  const { agreeing, direct } = verdict
  const isFollowed = direct.length >= minimumHosts
  const isHigher = (): boolean =>
    pending.slice(0, agreedRun(facts, pending)).some(({ number }) => number > storedHead)
  if (!isFollowed && !isHigher()) return { kind: 'wait', differing: [] }
  const removeAbove = gaveWayAbove(facts, first, agreeing)
  if (removeAbove === null) return { kind: 'wait', differing: agreeing }
  const denying = deniedBy(facts, verdict, removeAbove)
  if (denying.length > 0) return { kind: 'wait', differing: denying }
  return { kind: 'store', blocks, removeAbove }
}

/**
 * The height above which what is stored goes for a block. Only the Host that feeds says how far below that is where it left
 * out what is between, and what its parent is: beyond the block itself nothing goes of which fewer than are believed say
 * themselves that they do not have it. Null where something has to go, and nobody knows from where on.
 */
function gaveWayAbove(
  facts: StepFacts,
  first: PendingBlock,
  agreeing: readonly string[],
): number | null {
  const right = first.number - 1
  const below = nextBelow(facts, first)
  const left = agreeing.map(facts.leftAbove).sort((a, b) => a - b)
  const above = Math.max(below, left[facts.minimumHosts - 1] ?? Infinity)
  if (above < right) return above
  return fits(facts, first) ? right : null
}

/**
 * Hosts that agree on a block, and say themselves that what it would stand on gave way, where too few are left without
 * them: that it stands there is the word of the Host that feeds.
 */
function deniedBy(
  { leftAbove, minimumHosts }: StepFacts,
  { agreeing }: RowsVerdict,
  below: number,
): readonly string[] {
  const denying = agreeing.filter((host) => leftAbove(host) < below)
  return agreeing.length - denying.length < minimumHosts ? denying : []
}
