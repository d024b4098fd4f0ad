/**
 * All blocks that a Host knows, as fork choice sees them: what is stored or being written, and
 * what waits beside it. Of a hash with several sets of documents the one with most votes counts, on a
 * tie the one with the smaller root.
 */
import type { PendingWrites } from '../../mesh/pending-writes.ts'
import type { Snapshot } from '../../store/store.ts'
import type { BlockRef, KnownBlocks } from '../fork-choice/block-ref.ts'
import type { SealBook } from './seal-book.ts'
import type { WaitingBlock, WaitingBlocks } from './waiting-blocks.ts'

interface KnownBlocksParts {
  readonly snapshot: Snapshot
  readonly pending: PendingWrites<WaitingBlock>
  readonly waiting: Pick<WaitingBlocks, 'variants' | 'all'>
  readonly book: Pick<SealBook, 'votes' | 'isSealedBy'>
  readonly isRoot: KnownBlocks['isRoot']
  /** How many signers are accepted. */
  readonly accepted: number
}

/** Stored blocks below the highest that are searched for a signer's seal. */
const sealedDepth = 64

/** The blocks at one moment; usable while the snapshot is. */
export function createKnownBlocks(parts: KnownBlocksParts): KnownBlocks {
  const { snapshot, waiting, book } = parts
  const stored = (height: number): BlockRef | undefined => storedLink(parts, height)
  const waitingLink: KnownBlocks['waiting'] = (hash) => {
    const known = waiting.variants(hash)
    const [first] = known
    if (first === undefined) return undefined
    const there = stored(first.number)
    const isStoredToo = there?.hash === hash
    // Nearly every block has one set of documents, and is read often: no votes have to be counted for it.
    if (known.length === 1 && !isStoredToo) return first
    const votes = book.votes(first.number, hash)
    const best = bestVariant(known, votes)
    return !isStoredToo || isBetter(best.root, there.root, votes) ? best : undefined
  }

  return {
    feet: new Map(),
    stored,
    isRoot: parts.isRoot,
    isStoredThrough: (low, high) => {
      let height = high
      for (; height >= Math.max(low, parts.pending.floor()); height--)
        if (stored(height) === undefined) return false
      return height < low || isContiguous(snapshot, low, height)
    },
    waiting: waitingLink,
    isMostSealed: ({ number, hash, root }) =>
      2 * (book.votes(number, hash).get(root) ?? 0) > parts.accepted,
    betterRoot: ({ number, hash, root }) => {
      const best = bestRoot(book.votes(number, hash), root)
      return best === root ? null : best
    },
    sealedBy: (identity, most) => sealedBlocks(parts, waitingLink, identity, most),
  }
}

/**
 * Sealed blocks that wait, with the documents that count, and sealed ones that are stored, the highest first, of
 * equally high ones the stored one.
 */
function* sealedBlocks(
  parts: KnownBlocksParts,
  waitingLink: KnownBlocks['waiting'],
  identity: string,
  most: number,
): Generator<BlockRef> {
  const isSealed = ({ number, hash }: BlockRef): boolean =>
    number <= most && parts.book.isSealedBy(number, hash, identity)
  const waiting = [...parts.waiting.all()]
    .filter((link) => isSealed(link) && waitingLink(link.hash) === link)
    .sort((a, b) => b.number - a.number)
  let next = 0
  const head = Math.min(most, headOf(parts))
  for (let height = head; height > head - sealedDepth && height >= 0; height--) {
    for (; (waiting[next]?.number ?? -1) > height; next++) yield waiting[next] as BlockRef
    const link = storedLink(parts, height)
    if (link !== undefined && isSealed(link)) yield link
  }
  yield* waiting.slice(next)
}

/** The highest stored height, or one that is about to be; -1 without any. */
export function headOf({
  snapshot,
  pending,
}: Pick<KnownBlocksParts, 'snapshot' | 'pending'>): number {
  let head = Math.max(pending.head(), snapshot.range()?.head ?? -1)
  while (head > pending.head() && pending.isRemoved(head)) head--
  return head
}

function storedLink(
  { snapshot, pending }: Pick<KnownBlocksParts, 'snapshot' | 'pending'>,
  height: number,
): BlockRef | undefined {
  const own = pending.at(height)
  if (own !== undefined || pending.isRemoved(height)) return own
  return snapshot.header(height)
}

function isContiguous(snapshot: Snapshot, low: number, high: number): boolean {
  const range = snapshot.range()
  if (range === null || low < range.tail || high > range.head) return false
  return !snapshot.gaps(maxGaps).some(({ from, to }) => from <= high && to >= low)
}

/** Gaps that are read; a store with more of them counts as having one everywhere above. */
const maxGaps = 1_000

/** The root with most votes, on a tie the smaller one; `own` is one of them, also without a vote. */
export function bestRoot(votes: ReadonlyMap<string, number>, own: string): string {
  return [...votes.keys()].reduce((best, root) => (isBetter(root, best, votes) ? root : best), own)
}

/** The variant with most votes, on a tie the one with the smaller root. */
function bestVariant(
  variants: readonly WaitingBlock[],
  votes: ReadonlyMap<string, number>,
): WaitingBlock {
  return variants.reduce((best, other) => (isBetter(other.root, best.root, votes) ? other : best))
}

/** Whether the documents under one root are to be served rather than those under another. */
function isBetter(root: string, other: string, votes: ReadonlyMap<string, number>): boolean {
  const difference = (votes.get(root) ?? 0) - (votes.get(other) ?? 0)
  return difference === 0 ? root < other : difference > 0
}
