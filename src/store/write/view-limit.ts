/**
 * Bounds what the rows of one View take in the file: where they take more, those of the lowest blocks go, and no lower
 * ones are stored from then on. The newest block that is done stays, whatever it takes.
 */
import { hasHeight, removeHeights } from '../../primitives/height-ranges.ts'
import type { PackedRows } from '../../views/rows/rows.ts'
import type { FingerprintSeed } from '../disk/fingerprint.ts'
import { decodeViewBlock, heightOfViewKey, lowestKept, type ViewSlot } from '../disk/view-layout.ts'
import { maxTableBytes } from '../index/index-table.ts'
import type { HeldSnapshot } from '../read/snapshot.ts'
import type { ViewBlockToStore } from '../store.ts'
import type { Write } from './block-writes.ts'
import type { SlotChange, ViewSlots } from './view-slots.ts'
import { forgetMerged } from './view-spans.ts'
import { indexBytesOf, putViewBlock, removeViewBlockWrites } from './view-writes.ts'

/** Keys that are removed in one transaction, so that others need not wait long; the next one goes on. */
const removedAtOnce = 65_536

/** Whether a slot may take more than `maxBytes` with these blocks, so that what it has must be seen to put them. */
export function mayOverflow(
  has: ViewSlot,
  blocks: readonly ViewBlockToStore[],
  maxBytes: number,
): boolean {
  const more = blocks.reduce(
    (sum, block) => ('rows' in block ? sum + mostBytes(block.rows) : sum),
    0,
  )
  return slotBytes(has) + more > maxBytes
}

/** Puts what a View made of blocks but for those that it has no room for; each takes a serial number. */
export function putWithinLimit(
  snapshot: HeldSnapshot,
  has: ViewSlot,
  { slot, blocks }: { readonly slot: number; readonly blocks: readonly ViewBlockToStore[] },
  options: { readonly serial: number; readonly seed: FingerprintSeed; readonly maxBytes: number },
): SlotChange {
  const { serial, seed, maxBytes } = options
  const from = lowestKept(has)
  let change: SlotChange = { slot, has: from === 0 ? { ...has, limited: null } : has, writes: [] }
  for (const [index, block] of blocks.entries()) {
    if (block.height < from) continue
    change = putViewBlock(snapshot, change, block, { serial: serial + index, seed })
  }
  return mayOverflow(has, blocks, maxBytes) ? limitSlot(snapshot, change, maxBytes) : change
}

/** Removes the rows of the lowest blocks until the others, and so many `spare` bytes, take at most `maxBytes`. */
export function limitSlot(
  snapshot: HeldSnapshot,
  { slot, has: before, writes }: SlotChange,
  maxBytes: number,
  spare = 0,
): SlotChange {
  let has = before
  const newest = has.done.at(-1)?.[1] ?? 0
  const put = sizesOf(writes)
  const removals: Write[] = []
  let from = 0
  for (const height of ascending(snapshot.eachKept(slot), put.keys())) {
    const isRoom = slotBytes(has) + spare <= maxBytes
    if (isRoom || height >= newest || removals.length > removedAtOnce) break
    const size = put.get(height) ?? storedSize(snapshot, slot, height)
    if (!put.has(height)) removals.push(...removeViewBlockWrites(snapshot, slot, height))
    const forgotten = forgetMerged(snapshot, slot, has.merged, [from, height])
    removals.push(...forgotten.writes)
    has = {
      ...has,
      merged: forgotten.merged,
      rows: has.rows - size.rows,
      // Failures are not counted.
      bytes: has.bytes - (hasHeight(has.failed, height) ? 0 : size.bytes),
      indexBytes: Math.max(0, has.indexBytes - size.indexBytes - forgotten.bytes),
    }
    from = height + 1
  }
  if (from === 0) return { slot, has, writes }
  const done = removeHeights(has.done, 0, from - 1)
  const failed = removeHeights(has.failed, 0, from - 1)
  const kept = writes.filter((write) => !isPutBelow(write, from))
  return {
    slot,
    has: { ...has, done, failed, limited: { from, maxBytes } },
    writes: [...kept, ...removals],
  }
}

/** Lets slots that were bound to less have rows of lower blocks again. */
export function liftLimits(slots: ViewSlots, maxBytes: number): Write[] {
  return slots
    .all()
    .flatMap(([slot, has]) =>
      has.limited !== null && has.limited.maxBytes < maxBytes
        ? [slots.set(slot, { ...has, limited: null })]
        : [],
    )
}

const mostBytes = ({ bytes, terms }: Pick<PackedRows, 'bytes' | 'terms'>): number =>
  bytes.length + (terms.length === 0 ? 0 : maxTableBytes(terms.length))

/** What the rows of a slot take with their index. */
export const slotBytes = ({ bytes, indexBytes }: ViewSlot): number => bytes + indexBytes

interface BlockSize {
  readonly rows: number
  readonly bytes: number
  readonly indexBytes: number
}

function storedSize(snapshot: HeldSnapshot, slot: number, height: number): BlockSize {
  const { count = 0, bytes = 0 } = snapshot.viewBlock(slot, height) ?? {}
  return { rows: count, bytes, indexBytes: snapshot.viewTableSize(slot, { height }).bytes }
}

/** What the blocks that are put take, by height. */
function sizesOf(writes: readonly Write[]): ReadonlyMap<number, BlockSize> {
  const byHeight = Map.groupBy(writes.filter(isPut), ({ key }) => heightOfViewKey(Buffer.from(key)))
  return new Map(
    [...byHeight].map(([height, ofBlock]) => {
      const block = ofBlock.find(({ database }) => database === 'viewBlocks')?.value
      const { count, bytes } = decodeViewBlock(Buffer.from(block ?? []))
      return [height, { rows: count, bytes, indexBytes: indexBytesOf(ofBlock) }]
    }),
  )
}

const isPut = ({ value }: Write): boolean => value !== null

const isPutBelow = (write: Write, from: number): boolean =>
  isPut(write) && heightOfViewKey(Buffer.from(write.key)) < from

/** The heights of both, the first of which ascend, lowest first. */
function* ascending(stored: Iterable<number>, put: Iterable<number>): Generator<number> {
  const waiting = [...put].sort((a, b) => a - b)
  for (const height of stored) {
    for (let next = waiting[0]; next !== undefined && next <= height; next = waiting[0]) {
      if (next < height) yield next
      waiting.shift()
    }
    yield height
  }
  yield* waiting
}
