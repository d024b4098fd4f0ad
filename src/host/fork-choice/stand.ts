/** Where the signers stand: on their heads, as far as these are linked to what a Host knows. */
import { type BlockRef, findBlock, isLinked, type KnownBlocks } from './block-ref.ts'
import { ancestorAt, canonicalBlock } from './canonical.ts'
import type { Signer } from './counting.ts'

export interface Stand {
  readonly signer: Signer
  /** The block it stands on; null for none. */
  readonly link: BlockRef | null
  /** Whether that is its head. */
  readonly isHead: boolean
}

/**
 * A signer stands on its head where that is linked, else on the highest linked block below it that it has
 * sealed: so blocks that are pulled from below are stored while the head is still out of reach. Where it has
 * sealed several of that height, it stands on what they have in common.
 */
export function standOf(blocks: KnownBlocks, signer: Signer): Stand {
  const { head } = signer
  if (head === null) return { signer, link: null, isHead: false }
  const link = findBlock(blocks, head.number, head.hash)
  if (link !== undefined && isLinked(blocks, link)) return { signer, link, isHead: true }
  return { signer, link: sealedStand(blocks, signer.identity, head.number), isHead: false }
}

function sealedStand(blocks: KnownBlocks, identity: string, most: number): BlockRef | null {
  const highest: BlockRef[] = []
  for (const sealed of blocks.sealedBy(identity, most)) {
    const [first = sealed] = highest
    if (sealed.number < first.number) break
    if (isLinked(blocks, sealed)) highest.push(sealed)
  }
  return commonAncestor(blocks, highest)
}

/** The highest block below or among blocks of one height on which all of them stand. */
function commonAncestor(blocks: KnownBlocks, links: readonly BlockRef[]): BlockRef | null {
  let lowered = links
  for (;;) {
    const [first] = lowered
    if (first === undefined || lowered.every(({ hash }) => hash === first.hash))
      return first ?? null
    const level = first.number - 1
    const below = lowered.map((link) => (level < 0 ? undefined : ancestorAt(blocks, link, level)))
    if (below.includes(undefined)) return null
    lowered = below.filter((link) => link !== undefined)
  }
}

/** The highest block on which more than half of these stand. */
export function sharedBlock(blocks: KnownBlocks, stands: readonly Stand[]): BlockRef | null {
  return canonicalBlock(
    blocks,
    stands.map(({ link }) => link),
  )
}
