/**
 * Where a verified block goes: beside its stored neighbours, in the place of a shorter branch, or
 * aside until its chain is known. Stored blocks of neighbouring heights are always parent and child,
 * and the chain grows along parent links: a block that touches nothing stored is only taken where
 * the caller looked for a link and found that nobody has one.
 *
 * The longer parent chain wins. On equal length what is stored stays, so that two Generators on
 * two forks cannot make a Host swap back and forth; only when everyone who sealed the stored end
 * has sealed the new end as well, which is what a Generator does that follows its node through a
 * reorganisation, the new one is taken, and never one that was given up before.
 */
import type { HeightRange } from '../height-ranges.ts'

/** A block as far as its place in the chain is concerned. */
export interface Link {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
  /** Identities with a valid seal on it. */
  readonly signers: readonly string[]
}

/** The stored chain. */
export interface ChainView {
  at(height: number): Link | undefined
  /** True when a block of this hash was stored once and given up for another branch. */
  wasGivenUp(hash: string): boolean
}

/** Verified blocks that wait for their chain to be known. */
export interface HeldBlocks<B extends Link> {
  get(hash: string): B | undefined
  childrenOf(hash: string): readonly B[]
}

/** What to do with a block, and with held blocks that it connects. */
export type Placement<B extends Link> =
  /** Store these, ascending; nothing has to go. */
  | { readonly kind: 'append'; readonly blocks: readonly B[] }
  /** Remove everything above `above` and store these, ascending, in one transaction. */
  | { readonly kind: 'replace'; readonly above: number; readonly blocks: readonly B[] }
  /** Keep it aside: what is stored is as long or longer. */
  | { readonly kind: 'keep' }
  /** Keep it aside; it could win, once the blocks down to the common parent are known. */
  | { readonly kind: 'incomplete'; readonly missing: HeightRange }
  /** Keep it aside: nothing is stored beside it. */
  | { readonly kind: 'detached' }
  /** More stored blocks would have to go than may be given up. */
  | { readonly kind: 'too-deep' }

/** Stored blocks that may be given up for a longer branch. */
export const maxReorgDepth = 64

/** Decides on a block that is not stored; `mayFloat` takes one that touches nothing stored. */
export function placeBlock<B extends Link>(
  block: B,
  view: ChainView,
  held: HeldBlocks<B>,
  mayFloat: boolean,
): Placement<B> {
  const branch = [...ancestors(block, view, held), block, ...longestDescent(block, held)]
  const [lowest = block] = branch
  const tip = branch.at(-1) ?? block
  const below = view.at(lowest.number - 1)
  const isAttached = below !== undefined && below.hash === lowest.parentHash
  const isFloating = below === undefined
  const isFree = branch.every((member) => view.at(member.number) === undefined)
  if ((isAttached || isFloating) && isFree && fitsAbove(tip, view)) {
    const touches = isAttached || view.at(tip.number + 1) !== undefined
    return touches || mayFloat ? { kind: 'append', blocks: branch } : { kind: 'detached' }
  }
  if (!isAttached && !isFloating) return placeUnattached(lowest, tip, view)
  const storedTip = topAbove(lowest.number - 1, tip.number + 1, isFloating, view)
  if (!wins(tip, storedTip, view)) return { kind: 'keep' }
  const depth = (storedTip?.number ?? 0) - lowest.number + 1
  if (depth > maxReorgDepth) return { kind: 'too-deep' }
  return { kind: 'replace', above: lowest.number - 1, blocks: branch }
}

function placeUnattached(lowest: Link, tip: Link, view: ChainView): Placement<never> {
  const storedTip = topAbove(lowest.number - 2, tip.number + 1, false, view)
  if (!wins(tip, storedTip, view)) return { kind: 'keep' }
  const depth = (storedTip?.number ?? 0) - lowest.number + 2
  if (depth > maxReorgDepth) return { kind: 'too-deep' }
  const from = Math.max(0, (storedTip?.number ?? lowest.number) - maxReorgDepth + 1)
  return { kind: 'incomplete', missing: { from, to: lowest.number - 1 } }
}

/** Held blocks below, ascending, down to the first whose parent is stored or unknown. */
function ancestors<B extends Link>(block: B, view: ChainView, held: HeldBlocks<B>): B[] {
  const chain: B[] = []
  let lowest = block
  while (view.at(lowest.number - 1)?.hash !== lowest.parentHash) {
    const parent = held.get(lowest.parentHash)
    if (parent === undefined || parent.number !== lowest.number - 1) break
    chain.unshift(parent)
    lowest = parent
  }
  return chain
}

/** The longest chain of held blocks above. */
function longestDescent<B extends Link>(block: B, held: HeldBlocks<B>): B[] {
  let longest: B[] = []
  for (const child of held.childrenOf(block.hash)) {
    if (child.number !== block.number + 1) continue
    const descent = [child, ...longestDescent(child, held)]
    if (descent.length > longest.length) longest = descent
  }
  return longest
}

function fitsAbove(tip: Link, view: ChainView): boolean {
  const above = view.at(tip.number + 1)
  return above === undefined || above.parentHash === tip.hash
}

/**
 * The end of the stored blocks that a branch above `base` competes with, looked at up to height
 * `limit`: those that follow `base` without a gap, or, where nothing is stored at `base`, the
 * first ones above it.
 */
function topAbove(
  base: number,
  limit: number,
  skipGap: boolean,
  view: ChainView,
): Link | undefined {
  let height = base + 1
  while (skipGap && height < limit && view.at(height) === undefined) height++
  let top: Link | undefined
  for (let next = view.at(height); next !== undefined && height <= limit; next = view.at(++height))
    top = next
  return top
}

function wins(tip: Link, stored: Link | undefined, view: ChainView): boolean {
  if (stored === undefined || tip.number > stored.number) return true
  if (tip.number < stored.number || view.wasGivenUp(tip.hash)) return false
  return stored.signers.every((signer) => tip.signers.includes(signer))
}
