/** How far a follower is with one View, and where that is on the chain that is stored now. Pure but for what it reads. */
import type { FollowedBlock, FollowedView } from '../../follow/open-frames.ts'
import type { Snapshot } from '../../store/store.ts'
import type { HostedView } from '../views/hosted-view.ts'
import type { Moment } from './moments.ts'

/** Blocks that are remembered: of as many a reorganisation is followed without beginning again. */
const rememberedBlocks = 1_024

export interface Position {
  readonly view: HostedView
  readonly withRows: boolean
  /** First height where the follower has nothing. */
  readonly from: number
  /** Blocks that the follower has, lowest first: those of its cursor that are on the chain, and those that were sent. */
  blocks: FollowedBlock[]
  /** The height that is sent next. */
  next: number
  /** How many parts of the rows of the next height were sent, and of which block. */
  part: { readonly hash: string; readonly count: number } | null
  /** What gave way and was not sent yet: the block that is left; null for none. */
  retract: { readonly place: FollowedBlock | null } | null
  /** Missing heights above the last block, and since when they are those. */
  gap: { readonly from: number; readonly to: number; readonly sinceMs: number } | null
}

/** Why a follower cannot go on from where it is. */
interface Pruned {
  /** Where it may begin. */
  readonly tail: number
}

/** What says which heights a View may have rows of. */
export interface FillBounds {
  /** Heights below this one do not come any more where they are not stored. */
  readonly fillsFrom: number
  readonly nowMs: number
  /** How long a gap that does not change is waited for. */
  readonly gapMs: number
}

/** Where a follower is that comes with a cursor. */
export function openPosition(
  moment: Moment,
  view: HostedView,
  { cursor, withRows, from }: Omit<FollowedView, 'view'> & { readonly from: number },
): Position {
  const { snapshot } = moment
  const place = commonBlock(snapshot, cursor)
  const [newest] = cursor
  const kept = place === undefined ? [] : cursor.slice(cursor.indexOf(place)).toReversed()
  const base = { view, withRows, from, blocks: kept, part: null, gap: null }
  // Where all of it was pruned, nobody knows whether it gave way.
  if (newest !== undefined && isBelowAll(snapshot, newest))
    return { ...base, blocks: [newest], next: newest.number + 1, retract: null }
  const next = place === undefined ? from : place.number + 1
  const isNewest = place === newest
  return { ...base, next, retract: isNewest ? null : { place: place ?? null } }
}

/**
 * The newest block of a cursor that is on the chain, found by binary search: what lies below one that is, is as well. In a
 * cursor that jumps between branches, or over what is not stored yet, it may be a lower one.
 */
function commonBlock(
  snapshot: Snapshot,
  cursor: readonly FollowedBlock[],
): FollowedBlock | undefined {
  let [from, to] = [0, cursor.length]
  while (from < to) {
    const middle = (from + to) >> 1
    const block = cursor[middle]
    if (block === undefined || isOnChain(snapshot, block) || isBelowAll(snapshot, block))
      to = middle
    else from = middle + 1
  }
  const found = cursor[from]
  return found !== undefined && isOnChain(snapshot, found) ? found : undefined
}

/** Goes back to the highest common block where the last one gave way. */
export function followChain(snapshot: Snapshot, position: Position): void {
  const { part, next } = position
  const last = position.blocks.at(-1)
  if (last === undefined || isBelowAll(snapshot, last) || isOnChain(snapshot, last)) {
    if (part === null || snapshot.rowBlocks.header(next)?.hash === part.hash) return
    position.retract = { place: last ?? null }
    position.part = null
    return
  }
  const index = position.blocks.findLastIndex((block) => isOnChain(snapshot, block))
  const place = position.blocks[index] ?? null
  position.blocks = position.blocks.slice(0, index + 1)
  position.next = place === null ? position.from : place.number + 1
  position.retract = { place }
  position.part = null
  position.gap = null
}

/**
 * Waits for a gap in the chain, and leaves it out when nothing fills it. A follower without any block begins where there
 * is one; another one is told that what comes next was pruned.
 */
export function passGap(
  { snapshot }: Moment,
  position: Position,
  bounds: FillBounds,
): Pruned | null {
  const { view, next } = position
  const range = snapshot.rowBlocks.range()
  const viewTail = snapshot.viewFrom(view.slot)
  if (next < viewTail) return goOnAt(position, Math.max(viewTail, range?.tail ?? viewTail))
  if (range === null || next > range.head || snapshot.rowBlocks.header(next) !== undefined) {
    position.gap = null
    return null
  }
  if (next < range.tail && next < bounds.fillsFrom)
    return goOnAt(position, Math.min(range.tail, bounds.fillsFrom))
  const [above = next] = snapshot.rowBlocks.heights(next, range.head, false)
  const { gap } = position
  if (gap?.from !== next || gap.to !== above) {
    position.gap = { from: next, to: above, sinceMs: bounds.nowMs }
    return null
  }
  if (bounds.nowMs - gap.sinceMs < bounds.gapMs) return null
  if (next < range.tail) return goOnAt(position, range.tail)
  position.next = above
  position.gap = null
  return null
}

function goOnAt(position: Position, tail: number): Pruned | null {
  if (position.blocks.length > 0 || position.part !== null) return { tail }
  position.next = tail
  position.gap = null
  return null
}

/** The follower has all of this block. */
export function passBlock(position: Position, { number, hash }: FollowedBlock): void {
  position.blocks.push({ number, hash })
  if (position.blocks.length >= 2 * rememberedBlocks)
    position.blocks = position.blocks.slice(-rememberedBlocks)
  position.next = number + 1
  position.part = null
}

/** Also a block that was pruned, while the one above is kept. */
function isOnChain({ rowBlocks }: Snapshot, { number, hash }: FollowedBlock): boolean {
  return (rowBlocks.header(number)?.hash ?? rowBlocks.header(number + 1)?.parentHash) === hash
}

function isBelowAll({ rowBlocks }: Snapshot, { number }: FollowedBlock): boolean {
  const range = rowBlocks.range()
  return range !== null && number + 1 < range.tail
}
