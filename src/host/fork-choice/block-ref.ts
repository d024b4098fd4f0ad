/** A block as far as its place in the chain is concerned, and the blocks that a Host knows. */

export interface BlockRef {
  readonly number: number
  /** 0x-prefixed lower-case hex. */
  readonly hash: string
  readonly parentHash: string
  /** Root over the documents that name this parent: lower-case hex without 0x. */
  readonly root: string
}

/** What fork choice asks of the blocks that are stored, and of those that wait beside them. */
export interface KnownBlocks {
  /** The stored block of a height. */
  stored(height: number): BlockRef | undefined
  /** Whether every height from `low` to `high` is stored, both included. */
  isStoredThrough(low: number, high: number): boolean
  /** A block that waits, with the documents that most signers sealed; none that is stored. */
  waiting(hash: string): BlockRef | undefined
  /**
   * Whether nothing can be known of what lies below a block: it stands at the end of the window, or no
   * connected peer serves its parent.
   */
  isRoot(link: BlockRef): boolean
  /** Blocks with a seal of this signer, none above a height, the highest first. */
  sealedBy(identity: string, most: number): Iterable<BlockRef>
  /** Whether more than half of all accepted signers sealed these documents of a block. */
  isMostSealed(link: BlockRef): boolean
  /**
   * The root over the documents of a block that most signers sealed, on a tie the smaller one; null where it is
   * that of these documents, or no signer has sealed the block.
   */
  betterRoot(link: BlockRef): string | null
  /** What `footOf` has found out of these blocks. */
  readonly feet: Map<string, Foot>
}

/** The block of a height and hash, stored or waiting. */
export function findBlock(blocks: KnownBlocks, number: number, hash: string): BlockRef | undefined {
  const waiting = blocks.waiting(hash)
  if (waiting !== undefined) return waiting.number === number ? waiting : undefined
  const stored = blocks.stored(number)
  return stored?.hash === hash ? stored : undefined
}

/** Whether this very block is stored, with these very documents. */
export function isStored(blocks: KnownBlocks, link: BlockRef): boolean {
  const stored = blocks.stored(link.number)
  return stored?.hash === link.hash && stored.root === link.root
}

export function parentOf(blocks: KnownBlocks, link: BlockRef): BlockRef | undefined {
  return findBlock(blocks, link.number - 1, link.parentHash)
}

/** What a chain of waiting blocks stands on. */
export interface Foot {
  /** Its lowest block. */
  readonly lowest: BlockRef
  /** The stored block below that one; null where there is none. */
  readonly base: BlockRef | null
  /** Whether it stands on a stored block, or begins at a root. */
  readonly isLinked: boolean
}

/** Follows a block downwards to what is stored, to a root, or to where its parent is unknown. */
export function footOf(blocks: KnownBlocks, link: BlockRef): Foot {
  const path: BlockRef[] = []
  let at = link
  for (;;) {
    const known = blocks.feet.get(keyOf(at)) ?? endAt(blocks, at, path.at(-1))
    if (known !== null) {
      for (const { hash, root } of path) blocks.feet.set(keyOf({ hash, root }), known)
      return known
    }
    path.push(at)
    const parent = parentOf(blocks, at)
    if (parent === undefined) {
      const foot = { lowest: at, base: null, isLinked: blocks.isRoot(at) }
      for (const each of path) blocks.feet.set(keyOf(each), foot)
      return foot
    }
    at = parent
  }
}

/** The foot of what stands on a stored block; null for a waiting one. */
function endAt(blocks: KnownBlocks, at: BlockRef, above: BlockRef | undefined): Foot | null {
  if (!isStored(blocks, at)) return null
  return { lowest: above ?? at, base: at, isLinked: true }
}

const keyOf = ({ hash, root }: Pick<BlockRef, 'hash' | 'root'>): string => `${hash} ${root}`

/** Whether the ancestry of a block is known as far as it has to be. */
export function isLinked(blocks: KnownBlocks, link: BlockRef): boolean {
  return footOf(blocks, link).isLinked
}

/** The waiting blocks from the lowest of its chain up to a block; empty for a stored one. */
export function pathTo(blocks: KnownBlocks, link: BlockRef): BlockRef[] {
  const path: BlockRef[] = []
  for (let at: BlockRef | undefined = link; at !== undefined; at = parentOf(blocks, at)) {
    if (isStored(blocks, at)) break
    path.push(at)
  }
  return path.reverse()
}
