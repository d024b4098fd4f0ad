/**
 * What a follower was sent of who signed the blocks that it has, and of which heights there may be more to send. Bounded:
 * the newest heights whole, and of older ones only that this Host had not signed them yet.
 */
import { runtimeVersion } from '../../lens/program/run-limits.ts'
import {
  addHeights,
  eachHeight,
  type HeightRanges,
  hasHeight,
  removeHeights,
} from '../../primitives/height-ranges.ts'
import type { Seal } from '../../primitives/seal.ts'
import type { RowStatement } from '../../row-votes/row-statement.ts'
import type { Snapshot } from '../../store/store.ts'

/** Heights of which what comes later is sent. */
const watchedHeights = 64
/** Ranges of older heights that wait for the signature of this Host; beyond that the lowest are dropped. */
const maxPending = 1_024

/** What was sent of a block. */
export interface Sent {
  readonly hash: string
  /** Seals that were sent, and how many there were then. */
  seals: { readonly sent: number; readonly of: number }
  /** Leaves that were sent of the statement of a Host. */
  readonly leaves: Map<string, number>
}

export interface VoteBook {
  /** Identity of this Host. */
  readonly own: string
  readonly sent: Map<number, Sent>
  /** Heights of which there may be something to send. */
  dirty: HeightRanges
  /** Heights of blocks that the follower has and this Host has not signed for all its Views. */
  pending: HeightRanges
}

export function createVoteBook(own: string): VoteBook {
  return { own, sent: new Map(), dirty: [], pending: [] }
}

/** What was sent of a block of which the follower gets rows. */
export function sentOf(book: VoteBook, height: number, hash: string): Sent {
  const known = book.sent.get(height)
  if (known?.hash === hash) return known
  const fresh: Sent = { hash, seals: { sent: 0, of: 0 }, leaves: new Map() }
  book.sent.set(height, fresh)
  return fresh
}

/** The follower has a block of one View more. */
export function noteBlock(book: VoteBook, height: number): void {
  book.dirty = addHeights(book.dirty, height)
}

/** What is there of the newest blocks that the follower has from before, and what comes of them, is sent as well. */
export function noteCursor(
  book: VoteBook,
  { rowBlocks }: Pick<Snapshot, 'rowBlocks'>,
  next: number,
): void {
  for (const height of rowBlocks.heights(Math.max(0, next - watchedHeights), next - 1, false)) {
    const hash = rowBlocks.header(height)?.hash
    if (hash === undefined) continue
    sentOf(book, height, hash)
    noteBlock(book, height)
  }
}

/** This Host has signed a block. */
export function noteSigned(book: VoteBook, height: number): void {
  if (book.sent.has(height) || hasHeight(book.pending, height)) noteBlock(book, height)
}

/** All there is now was sent of a height; `isSigned` is whether this Host has signed it for all Views. */
export function settle(book: VoteBook, height: number, isSigned: boolean): void {
  book.dirty = removeHeights(book.dirty, height)
  book.pending = isSigned ? removeHeights(book.pending, height) : addHeights(book.pending, height)
  if (book.pending.length > maxPending) book.pending = book.pending.slice(1)
  if (book.sent.size <= watchedHeights) return
  const settled = [...book.sent.keys()].filter((each) => !hasHeight(book.dirty, each))
  for (const each of settled.sort((a, b) => a - b).slice(0, book.sent.size - watchedHeights))
    book.sent.delete(each)
}

/** Nothing is known of blocks above a height any more. */
export function forgetAbove(book: VoteBook, height: number): void {
  for (const each of book.sent.keys()) if (each > height) book.sent.delete(each)
  book.dirty = removeHeights(book.dirty, height + 1, Number.MAX_SAFE_INTEGER)
  book.pending = removeHeights(book.pending, height + 1, Number.MAX_SAFE_INTEGER)
}

/** The lowest height of which there may be something to send, unless it waits. */
export function lowestDirty(book: VoteBook, waits: ReadonlySet<number>): number | null {
  for (const height of eachHeight(book.dirty)) if (!waits.has(height)) return height
  return null
}

/** Notes heights with seals and statements of others that came since the last were sent. */
export function noteNewVotes(book: VoteBook, snapshot: Snapshot): void {
  if (book.sent.size === 0) return
  const top = Math.max(...book.sent.keys())
  const from = Math.max(0, top - watchedHeights + 1)
  for (const place of snapshot.rowStatementPlaces(from, top)) {
    if (place.signatureIdentity === book.own || place.runtime !== runtimeVersion) continue
    const sent = book.sent.get(place.blockNumber)
    if (sent?.hash === place.blockHash && !sent.leaves.has(signedKey(book, place)))
      noteBlock(book, place.blockNumber)
  }
  for (const [height, sent] of book.sent) {
    if (height >= from && shownSeals(snapshot, height, sent.hash).length !== sent.seals.of)
      noteBlock(book, height)
  }
}

/** Seals over a block. */
export function shownSeals(snapshot: Snapshot, height: number, hash: string): readonly Seal[] {
  return snapshot.seals(height).filter(({ blockHash }) => blockHash === hash)
}

/** What this Host signs of more Views stands in the place of what it signed before; others may say two things. */
export function signedKey(
  { own }: VoteBook,
  { signatureIdentity, root }: Pick<RowStatement, 'signatureIdentity' | 'root'>,
): string {
  return signatureIdentity === own ? 'own' : `${signatureIdentity} ${root}`
}
