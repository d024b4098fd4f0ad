/**
 * What a Host does about what it knows: a pure function of its blocks, its signers' heads and what it
 * remembers of the minutes before. Times are of a monotonic clock in milliseconds.
 */
import type { BlockRef, KnownBlocks } from './block-ref.ts'
import { footOf, isStored, pathTo } from './block-ref.ts'
import { standsOn } from './canonical.ts'
import {
  type CountingTime,
  countedSigners,
  followedSigners,
  nextCountMs,
  reachedHeight,
  type Signer,
} from './counting.ts'
import { maxReorgDepth, mayReplace, type Permission, replacedForMs } from './permission.ts'
import { type Conflict, conflictFrom, type Replacement, replacementFor } from './replacement.ts'
import { type Stand, sharedBlock, standOf } from './stand.ts'

/** A change of the stored chain that leaves a valid one behind. */
export type Step =
  /** Stores these blocks, ascending, on top of what they stand on. */
  | { readonly kind: 'append'; readonly path: readonly BlockRef[] }
  /** Removes what contradicts them, and stores them, in one transaction. */
  | { readonly kind: 'replace'; readonly path: readonly BlockRef[]; readonly conflict: Conflict }
  /** Removes the highest of more blocks than one transaction replaces. */
  | { readonly kind: 'shrink'; readonly conflict: Conflict }

/** What is remembered from one decision to the next. */
export interface Memory {
  /** The branch that has been canonical without being stored, and since when. */
  readonly canonical: Since | null
  /** The branch on which more than half of all accepted signers have stood, and since when. */
  readonly majority: Since | null
  /** Stored blocks that gave way within the last hour. */
  readonly replaced: readonly { readonly atMs: number; readonly depth: number }[]
  /** See `Choice`. */
  readonly fork: DeepFork | null
}

interface Since {
  /** Hash of the lowest block of the branch that is not stored; it rises with the window. */
  readonly branch: string
  /** The block of the branch that was canonical last. */
  readonly tip: BlockRef
  readonly sinceMs: number
}

export const noMemory: Memory = { canonical: null, majority: null, replaced: [], fork: null }

/** What the signers say. */
export interface Choice {
  readonly signers: readonly Signer[]
  readonly counted: readonly Signer[]
  /** Where each counted signer stands. */
  readonly stands: readonly Stand[]
  /** Null where no majority stands on a block; where nobody counts, of those of which a head is known. */
  readonly canonical: BlockRef | null
  /** The height that most counted heads have reached; null where no signer counts. */
  readonly reached: number | null
  /** The same where nobody counts: the height that most have reached of which a head is known. */
  readonly horizon: number | null
  /**
   * A canonical branch that leaves more stored blocks behind than give way at once; null without one. It lasts while
   * nobody counts, and while heads are not linked, which says nothing of where their signers stand.
   */
  readonly fork: DeepFork | null
}

export interface DeepFork {
  readonly target: BlockRef
  readonly depth: number
  /** Accepted signers that do not stand on it. */
  readonly missing: readonly Signer[]
  /** Whether these signers may not decide it without the others; else it is followed after a while. */
  readonly isTooDeep: boolean
}

interface Decision {
  readonly choice: Choice
  /** What to do now; null for nothing. */
  readonly step: Step | null
  readonly memory: Memory
  /** When time alone may change the decision; null when it cannot. */
  readonly nextMs: number | null
}

export function decide(
  blocks: KnownBlocks,
  signers: readonly Signer[],
  before: Memory,
  time: CountingTime,
): Decision {
  const counted = countedSigners(signers, time)
  const followed = followedSigners(signers, time)
  const stands = followed.map((signer) => standOf(blocks, signer))
  const canonical = sharedBlock(blocks, stands)
  const nextMs = nextCountMs(signers, time)
  const replaced = before.replaced.filter(({ atMs }) => time.nowMs - atMs < replacedForMs)
  const counting = counted.length === 0 ? [] : stands
  const memory = { ...(isMostLinked(counting) ? noMemory : before), replaced }
  const choice = {
    signers,
    counted,
    stands: counting,
    canonical,
    reached: reachedHeight(counted),
    horizon: reachedHeight(followed),
    fork: memory.fork,
  }
  const replacement = canonical === null ? null : replacementFor(blocks, canonical)
  if (canonical === null || replacement === null) return { choice, step: null, memory, nextMs }
  const { path, conflict } = replacement
  if (conflict === null) return { choice, step: { kind: 'append', path }, memory, nextMs }
  // Nothing that is stored gives way to what somebody said once.
  if (counted.length === 0) return { choice, step: null, memory, nextMs }
  const contested = { ...choice, canonical }
  return resolve(blocks, contested, { path, conflict }, { ...before, replaced }, time)
}

/** Whether more than half of the heads are linked. A head mostly arrives before its block does. */
function isMostLinked(stands: readonly Stand[]): boolean {
  return 2 * stands.filter(({ isHead }) => isHead).length > stands.length
}

/** Whether and how stored blocks give way to the canonical branch. */
function resolve(
  blocks: KnownBlocks,
  choice: Choice & { readonly canonical: BlockRef },
  replacement: Replacement & { readonly conflict: Conflict },
  before: Memory,
  time: CountingTime,
): Decision {
  const { nowMs } = time
  const { path, conflict } = replacement
  const [lowest = choice.canonical] = path
  const branch = { branch: lowest.hash, tip: choice.canonical, sinceMs: nowMs }
  const support = supportOf(blocks, choice, lowest)
  const canonical = continued(blocks, before.canonical, branch)
  const kept = support.mayBeMajority ? before.majority : null
  const majority = support.isMajority ? continued(blocks, before.majority, branch) : kept
  const permission = mayReplace({
    depth: conflict.depth,
    accepted: choice.signers.length,
    counted: choice.counted.length,
    canonicalForMs: nowMs - canonical.sinceMs,
    majorityForMs: majority === null || !support.isMajority ? null : nowMs - majority.sinceMs,
    replacedLately: before.replaced.reduce((sum, { depth }) => sum + depth, 0),
  })
  const { missing, isMajority, mayBeMajority } = support
  const isDeep = permission.kind === 'too-deep' || conflict.depth > maxReorgDepth
  const found = { target: choice.canonical, depth: conflict.depth, missing }
  const isOpen = !isMajority && mayBeMajority && before.fork !== null
  const fork = isOpen ? before.fork : { ...found, isTooDeep: permission.kind === 'too-deep' }
  const memory = { canonical, majority, replaced: before.replaced, fork: isDeep ? fork : null }
  return {
    choice: { ...choice, fork: memory.fork },
    step: permission.kind === 'now' ? stepOf(replacement) : null,
    memory,
    nextMs: nextDecisionMs(nextCountMs(choice.signers, time), permission, nowMs),
  }
}

/** Who of all accepted signers, silent ones included, stands on a branch. */
interface Support {
  /** Those that are not known to. */
  readonly missing: readonly Signer[]
  /** Whether more than half stand on it. */
  readonly isMajority: boolean
  /** Whether more than half may, since nothing is known of where those stand whose heads are not linked. */
  readonly mayBeMajority: boolean
}

function supportOf(blocks: KnownBlocks, { signers, counted }: Choice, lowest: BlockRef): Support {
  const standing = signers.map((signer) => standOf(blocks, signer))
  const missing = standing.filter(({ link }) => link === null || !standsOn(blocks, link, lowest))
  const elsewhere = missing.filter(({ isHead, signer }) => isHead || !counted.includes(signer))
  return {
    missing: missing.map(({ signer }) => signer),
    isMajority: 2 * missing.length < signers.length,
    mayBeMajority: 2 * elsewhere.length < signers.length,
  }
}

/** A branch since it was first met, where it is the one from before: by its lowest block, or by what stands on what. */
function continued(blocks: KnownBlocks, before: Since | null, now: Since): Since {
  if (before === null) return now
  const isSame =
    before.branch === now.branch ||
    (!isStored(blocks, before.tip) &&
      (standsOn(blocks, now.tip, before.tip) || standsOn(blocks, before.tip, now.tip)))
  return isSame ? { ...now, sinceMs: before.sinceMs } : now
}

function stepOf({ path, conflict }: Replacement & { readonly conflict: Conflict }): Step {
  if (conflict.depth <= maxReorgDepth) return { kind: 'replace', path, conflict }
  const from = conflict.to - maxReorgDepth + 1
  return { kind: 'shrink', conflict: { from, to: conflict.to, depth: maxReorgDepth } }
}

function nextDecisionMs(
  countMs: number | null,
  permission: Permission,
  nowMs: number,
): number | null {
  if (permission.kind !== 'wait') return countMs
  return Math.min(countMs ?? Number.POSITIVE_INFINITY, nowMs + permission.forMs)
}

/** What is remembered once stored blocks have given way. */
export function withReplaced(memory: Memory, depth: number, nowMs: number): Memory {
  return { ...memory, replaced: [...memory.replaced, { atMs: nowMs, depth }] }
}

/**
 * What to do about a waiting block that a stored one stands on, or that has better documents than the stored
 * one of its hash: it belongs to what was chosen before. Null where it does neither. Where it goes
 * down to another branch than what is stored below, that one gives way where most signers say so, from the top, a
 * piece at a time with a gap beneath.
 */
export function fillStep(blocks: KnownBlocks, link: BlockRef): Step | 'later' | null {
  if (blocks.waiting(link.hash)?.root !== link.root) return null
  const isRevision = blocks.stored(link.number)?.hash === link.hash
  if (!isRevision && blocks.stored(link.number + 1)?.parentHash !== link.hash) return null
  if (isRevision && fitsBelow(blocks, link)) {
    return {
      kind: 'replace',
      path: [link],
      conflict: { from: link.number, to: link.number, depth: 1 },
    }
  }
  const whole = pathTo(blocks, link)
  const { base, isLinked } = footOf(blocks, link)
  if (contradicted(blocks, whole, link, base !== null) === null)
    return { kind: 'append', path: whole }
  const path = whole.slice(-maxFill)
  const isPiece = path.length < whole.length
  // What is stored below is of another branch: as long as that may end here, more of this one is awaited.
  if (!isLinked && path.length < maxFill) return 'later'
  const conflict = contradicted(blocks, path, link, base !== null && !isPiece)
  if (conflict === null) return { kind: 'append', path }
  // Only documents say what a block stands on: those of one signer among several take nothing away.
  return path.every(blocks.isMostSealed) ? { kind: 'replace', path, conflict } : 'later'
}

/** The stored blocks that contradict a path up to a block; without a stored parent also that in its place. */
function contradicted(
  blocks: KnownBlocks,
  [lowest]: readonly BlockRef[],
  link: BlockRef,
  isAttached: boolean,
): Conflict | null {
  const { number } = lowest ?? link
  return conflictFrom(blocks, Math.max(0, number - (isAttached ? 0 : 1)), link)
}

/** With the block below that gives way for a gap, no more than `maxReorgDepth`. */
const maxFill = maxReorgDepth - 1

/** Whether other documents of a stored block can take its place and leave what is below. */
export function fitsBelow(blocks: KnownBlocks, link: BlockRef): boolean {
  const below = blocks.stored(link.number - 1)
  return below === undefined || below.hash === link.parentHash
}
