/** The branches on which signers stand, where they disagree. */
import type { BlockRef, KnownBlocks } from './block-ref.ts'
import { standsOn } from './canonical.ts'
import type { Stand } from './stand.ts'

/** Signers on one branch; the block is the highest that one of them stands on. */
export interface Side {
  readonly tip: BlockRef
  readonly identities: readonly string[]
}

/** The branches on which signers stand, the highest first; one where no signer contradicts another. */
export function sidesOf(blocks: KnownBlocks, stands: readonly Stand[]): Side[] {
  const placed = stands.flatMap(({ link, signer }) =>
    link === null ? [] : [{ link, identity: signer.identity }],
  )
  const sides: { tip: BlockRef; identities: string[] }[] = []
  for (const { link, identity } of placed.sort((a, b) => b.link.number - a.link.number)) {
    const own = sides.find(({ tip }) => standsOn(blocks, tip, link))
    if (own === undefined) sides.push({ tip: link, identities: [identity] })
    else own.identities.push(identity)
  }
  return sides
}
