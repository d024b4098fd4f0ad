/**
 * Blocks of one View that were received and are not stored yet, because they wait for the votes of Hosts. Each stands on
 * the one before it, the first on a block that is stored, where there is one.
 */
import type { FollowedBlock } from '../../follow/open-frames.ts'
import type { PackedRows } from '../../views/rows/rows.ts'

/** A block with what the Host that feeds made of it. */
export interface PendingBlock extends FollowedBlock {
  readonly parent: string
  /** Null where the View failed there. */
  readonly rows: PackedRows | null
  /** When it came, on a clock that never jumps. */
  readonly sinceMs: number
}

export interface PendingBlocks {
  /** Lowest first. */
  list(): readonly PendingBlock[]
  /** What the first has to stand on; null where any may come. */
  base(): FollowedBlock | null
  /** The newest block, or the one that the first has to stand on; null where any may come. */
  top(): FollowedBlock | null
  has(number: number): boolean
  /** Adds the next block; false, and nothing is changed, where it does not stand on the top. */
  add(block: PendingBlock): boolean
  /** Drops what is above a block, which becomes the top; null drops everything, and any block may come. */
  retract(place: FollowedBlock | null): void
  /** Drops the lowest ones, which are stored. */
  drop(blocks: number): void
  /** What the rows take. */
  bytes(): number
}

/** None yet, on top of a stored block. */
export function createPendingBlocks(base: FollowedBlock | null): PendingBlocks {
  let below = base
  let blocks: PendingBlock[] = []
  let bytes = 0
  const top = (): FollowedBlock | null => blocks.at(-1) ?? below
  const change = (next: PendingBlock[]): void => {
    blocks = next
    bytes = next.reduce((sum, block) => sum + bytesOf(block), 0)
  }
  return {
    list: () => blocks,
    base: () => below,
    top,
    has: (number) => blocks.some((block) => block.number === number),
    add: (block) => {
      const last = top()
      if (last !== null && !standsOn(block, last)) return false
      blocks.push(block)
      bytes += bytesOf(block)
      return true
    },
    retract: (place) => {
      change(blocks.filter(({ number }) => place !== null && number <= place.number))
      if (blocks.length === 0) below = place
    },
    drop: (count) => {
      below = blocks[count - 1] ?? below
      change(blocks.slice(count))
    },
    bytes: () => bytes,
  }
}

/** A height may be left out: a Host skips those that it does not have. */
function standsOn({ number, parent }: PendingBlock, last: FollowedBlock): boolean {
  return number === last.number + 1 ? parent === last.hash : number > last.number
}

/** Memory of a block, roughly. */
function bytesOf({ rows }: PendingBlock): number {
  const terms = rows?.terms.reduce((sum, { value }) => sum + termBytes + value.length, 0) ?? 0
  return blockBytes + terms + (rows?.bytes.length ?? 0)
}

const blockBytes = 512
const termBytes = 96
