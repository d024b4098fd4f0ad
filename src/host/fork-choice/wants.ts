/**
 * What a Host lacks to follow its signers: a pure function of what it knows. Each want is a range of
 * heights to pull from a peer, with the block that is expected at its upper end where that is known.
 */
import { type BlockRef, findBlock, footOf, type KnownBlocks, pathTo } from './block-ref.ts'
import type { Signer } from './counting.ts'

export interface Want {
  /** Heights, both included. */
  readonly from: number
  readonly to: number
  /** Hash of the block at `to`. */
  readonly hash: string
  /** Root over the documents that are wanted of it; null for any. */
  readonly root: string | null
  /** For whom: the identity of a signer whose head is out of reach, else what is missing. */
  readonly purpose: string
}

/** What wants that no signer's head is behind are called. */
export const purposes = { documents: 'documents', gap: 'gap' } as const

export interface WantFacts {
  /** Accepted signers, those of another chain without their heads. */
  readonly signers: readonly Signer[]
  /** The highest stored height; -1 without any. */
  readonly head: number
  /** Nothing below it is wanted to reach a head; what is missing further down is a gap. */
  readonly windowFloor: number
  /** The lowest height that is kept. */
  readonly floor: number
  /** Waiting blocks that are canonical, of which the bytes were dropped, ascending. */
  readonly dropped: readonly BlockRef[]
  /** Blocks of which other documents are to be served than the stored ones. */
  readonly revised: readonly BlockRef[]
  /** Missing heights with a stored block right above them, the highest first. */
  readonly gaps: readonly Gap[]
}

/** Heights without a block, below a stored one. */
export interface Gap {
  readonly from: number
  readonly to: number
  /** Hash of the missing block at `to`. */
  readonly hash: string
}

/** Blocks that are asked of a peer at a time; a want that goes downwards has no more. */
export const pieceBlocks = 64
/** Gaps that are filled at a time. */
const maxGaps = 2

/** The wants, the most urgent first. */
export function wantsOf(blocks: KnownBlocks, facts: WantFacts): Want[] {
  const wants = [
    ...facts.signers.flatMap((signer) => headWants(blocks, signer, facts)),
    ...facts.revised.flatMap((link) => revisedWants(blocks, link)),
    ...droppedWants(facts.dropped),
    ...facts.gaps.slice(0, maxGaps).flatMap((gap) => gapWants(blocks, gap, facts.floor)),
  ]
  const keys = wants.map(({ from, to, hash, root }) => `${from} ${to} ${hash} ${root}`)
  return wants.filter((_, index) => keys.indexOf(keys[index] ?? '') === index)
}

function wantOf(
  purpose: string,
  from: number,
  to: number,
  hash: string,
  root: string | null = null,
): Want {
  return { from, to, hash, root, purpose }
}

/** What is missing between what is stored and a signer's head. */
function headWants(blocks: KnownBlocks, signer: Signer, facts: WantFacts): Want[] {
  const { head, identity: purpose } = signer
  if (head === null || head.number < facts.floor) return []
  const known = findBlock(blocks, head.number, head.hash)
  const { linked, unlinked } = sealedTops(blocks, purpose, head.number)
  const base = Math.max(facts.head, facts.windowFloor - 1, linked?.number ?? -1)
  const top = known ?? unlinked[0]
  const missing = top === undefined ? null : missingBelow(blocks, top)
  const inTheAir = unlinked.find(({ number }) => number < (missing?.number ?? 0))
  const below =
    missing === null ? [] : belowWants(blocks, missing, base, inTheAir?.number ?? -1, purpose)
  if (known !== undefined) return below
  const reached = missing === null ? base : Math.max(base, top?.number ?? 0)
  const from = head.number > reached ? reached + 1 : head.number
  return [...below, wantOf(purpose, from, head.number, head.hash)]
}

/** The highest block of a signer up to a height whose ancestry is known, and those above it whose is not, the highest first. */
function sealedTops(
  blocks: KnownBlocks,
  identity: string,
  most: number,
): { readonly linked: BlockRef | undefined; readonly unlinked: readonly BlockRef[] } {
  const unlinked: BlockRef[] = []
  for (const link of blocks.sealedBy(identity, most)) {
    if (footOf(blocks, link).isLinked) return { linked: link, unlinked }
    unlinked.push(link)
  }
  return { linked: undefined, unlinked }
}

/** An ancestor that is not known. */
interface Missing {
  readonly number: number
  readonly hash: string
  /** The block that names it. */
  readonly child: BlockRef
  /** Number of blocks that are known above it. */
  readonly depth: number
}

/** The missing ancestor of a waiting block; null where nothing is missing. */
function missingBelow(blocks: KnownBlocks, link: BlockRef): Missing | null {
  const { isLinked, lowest } = footOf(blocks, link)
  if (isLinked) return null
  const { number, parentHash: hash } = lowest
  return { number: number - 1, hash, child: lowest, depth: link.number - number + 1 }
}

/**
 * A want of a missing ancestor, and of the block that names it once more: only documents name a parent, and as long
 * as they are not those that most signers sealed, others of the same block may name one that there is.
 */
function withChild(blocks: KnownBlocks, child: BlockRef, below: Want): Want[] {
  if (blocks.isMostSealed(child)) return [below]
  const root = blocks.betterRoot(child)
  const again = wantOf(below.purpose, child.number, child.number, child.hash, root)
  return root === null ? [below, again] : [again, below]
}

/**
 * Upwards from what is linked where that lies below, and from what is already received between them; else
 * downwards, more at a time the deeper it goes. What was received may be of another branch than what is missing:
 * of that it is never more than goes downwards.
 */
function belowWants(
  blocks: KnownBlocks,
  { number, hash, child, depth }: Missing,
  base: number,
  inTheAir: number,
  purpose: string,
): Want[] {
  const down = Math.max(0, number - Math.min(depth, pieceBlocks) + 1)
  const up = Math.max(base + 1, Math.min(inTheAir + 1, down))
  return withChild(blocks, child, wantOf(purpose, number > base ? up : down, number, hash))
}

/** The documents that are to be served, and where they are here what they stand on. */
function revisedWants(blocks: KnownBlocks, { number, hash, root }: BlockRef): Want[] {
  const here = blocks.waiting(hash)
  if (here?.root !== root) return [wantOf(purposes.documents, number, number, hash, root)]
  const missing = missingBelow(blocks, here)
  return missing === null ? [] : belowWants(blocks, missing, missing.number, -1, purposes.documents)
}

/** The first neighbours among blocks whose bytes were dropped. */
function droppedWants(dropped: readonly BlockRef[]): Want[] {
  const [first] = dropped
  if (first === undefined) return []
  let last = first
  for (const link of dropped.slice(1, pieceBlocks)) {
    if (link.number !== last.number + 1) break
    last = link
  }
  return [wantOf(purposes.documents, first.number, last.number, last.hash)]
}

/** Gaps fill from above, where it is known which block is missing. */
function gapWants(blocks: KnownBlocks, gap: Gap, floor: number): Want[] {
  const waiting = blocks.waiting(gap.hash)
  const missing = waiting === undefined ? null : missingBelow(blocks, waiting)
  if (waiting !== undefined && missing === null) return []
  const { number, hash } = missing ?? { ...gap, number: gap.to }
  if (number < floor) return []
  const least = number < gap.from ? floor : Math.max(gap.from, floor)
  const below = wantOf(purposes.gap, Math.max(least, number - pieceBlocks + 1), number, hash)
  return missing === null ? [below] : withChild(blocks, missing.child, below)
}

/** Waiting blocks up to one, ascending, that have no bytes; for `WantFacts.dropped`. */
export function droppedOf(
  blocks: KnownBlocks,
  target: BlockRef,
  hasBody: (link: BlockRef) => boolean,
): BlockRef[] {
  return pathTo(blocks, target).filter((link) => !hasBody(link))
}
