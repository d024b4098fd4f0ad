/**
 * The canonical block: the highest on which more than half of the counted signers stand. Who stands on a
 * block stands on its ancestors too, so any two majorities share a signer, and with it a chain.
 */
import { type BlockRef, isStored, type KnownBlocks, parentOf } from './block-ref.ts'

/** Signers that stand on the same block. */
interface Group {
  readonly link: BlockRef
  readonly size: number
}

/** `stands` has an entry for each counted signer, null for one that stands on no linked block. */
export function canonicalBlock(
  blocks: KnownBlocks,
  stands: readonly (BlockRef | null)[],
): BlockRef | null {
  const majority = Math.floor(stands.length / 2) + 1
  let groups = stands.flatMap((link) => (link === null ? [] : [{ link, size: 1 }]))
  for (;;) {
    groups = merged(groups)
    const [highest, next] = groups
    if (highest === undefined || sizeOf(groups) < majority) return null
    if (highest.size >= majority) return highest.link
    const level = Math.min(highest.link.number - 1, next?.link.number ?? 0)
    if (level < 0) return null
    groups = groups.flatMap((group) => {
      const link = ancestorAt(blocks, group.link, level)
      return link === undefined ? [] : [{ ...group, link }]
    })
  }
}

function sizeOf(groups: readonly Group[]): number {
  return groups.reduce((sum, { size }) => sum + size, 0)
}

/** One group a block, the highest first, of equally high ones the largest. */
function merged(groups: readonly Group[]): Group[] {
  const byHash = new Map<string, Group>()
  for (const { link, size } of groups) {
    byHash.set(link.hash, { link, size: size + (byHash.get(link.hash)?.size ?? 0) })
  }
  return [...byHash.values()].sort((a, b) => b.link.number - a.link.number || b.size - a.size)
}

/**
 * The ancestor of a linked block at a height, the block itself where it is not above that; undefined where
 * nothing is known of it.
 */
export function ancestorAt(
  blocks: KnownBlocks,
  link: BlockRef,
  number: number,
): BlockRef | undefined {
  for (let at: BlockRef | undefined = link; at !== undefined; at = parentOf(blocks, at)) {
    if (at.number <= number) return at
    if (isStored(blocks, at))
      return blocks.isStoredThrough(number, at.number) ? blocks.stored(number) : undefined
  }
  return undefined
}

/** Whether a linked block is another one or stands on it. */
export function standsOn(blocks: KnownBlocks, link: BlockRef, lower: BlockRef): boolean {
  return ancestorAt(blocks, link, lower.number)?.hash === lower.hash
}
