/**
 * What a Host does about what it knows: a pure function of its blocks, its signers' heads and what it
 * remembers of the minutes before. Times are of a monotonic clock in milliseconds.
 */
import type { BlockRef, KnownBlocks } from './block-ref.ts'
import { footOf, pathTo } from './block-ref.ts'
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
}

interface Since {
  /** Hash of the lowest block of the branch that is not stored. */
  readonly branch: string
  readonly sinceMs: number
}

export const noMemory: Memory = { canonical: null, majority: null, replaced: [] }

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
  /** A canonical branch that leaves more stored blocks behind than these signers may decide; null without one. */
  readonly tooDeep: TooDeep | null
}

export interface TooDeep {
  readonly target: BlockRef
  readonly depth: number
  /** Accepted signers that do not stand on it. */
  readonly missing: readonly Signer[]
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
  const choice = {
    signers,
    counted,
    stands: counted.length === 0 ? [] : stands,
    canonical,
    reached: reachedHeight(counted),
    horizon: reachedHeight(followed),
    tooDeep: null,
  }
  const nextMs = nextCountMs(signers, time)
  const replaced = before.replaced.filter(({ atMs }) => time.nowMs - atMs < replacedForMs)
  const memory = { ...noMemory, replaced }
  const replacement = canonical === null ? null : replacementFor(blocks, canonical)
  if (canonical === null || replacement === null) return { choice, step: null, memory, nextMs }
  const { path, conflict } = replacement
  if (conflict === null) return { choice, step: { kind: 'append', path }, memory, nextMs }
  // Nothing that is stored gives way to what somebody said once.
  if (counted.length === 0) return { choice, step: null, memory, nextMs }
  const contested = { ...choice, canonical }
  return resolve(blocks, contested, { path, conflict }, { ...before, replaced }, time)
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
  const missing = choice.signers.filter((signer) => {
    const { link } = standOf(blocks, signer)
    return link === null || !standsOn(blocks, link, lowest)
  })
  const isMajority = 2 * missing.length < choice.signers.length
  const canonical = sinceWhen(before.canonical, lowest.hash, nowMs)
  const majority = isMajority ? sinceWhen(before.majority, lowest.hash, nowMs) : null
  const permission = mayReplace({
    depth: conflict.depth,
    accepted: choice.signers.length,
    counted: choice.counted.length,
    canonicalForMs: nowMs - canonical.sinceMs,
    majorityForMs: majority === null ? null : nowMs - majority.sinceMs,
    replacedLately: before.replaced.reduce((sum, { depth }) => sum + depth, 0),
  })
  const tooDeep =
    permission.kind === 'too-deep'
      ? { target: choice.canonical, depth: conflict.depth, missing }
      : null
  return {
    choice: { ...choice, tooDeep },
    step: permission.kind === 'now' ? stepOf(replacement) : null,
    memory: { canonical, majority, replaced: before.replaced },
    nextMs: nextDecisionMs(nextCountMs(choice.signers, time), permission, nowMs),
  }
}

function sinceWhen(before: Since | null, branch: string, nowMs: number): Since {
  return before?.branch === branch ? before : { branch, sinceMs: nowMs }
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
