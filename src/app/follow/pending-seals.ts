/** Who sealed blocks that are not stored yet, as far as the application accepts them. */

import type { FollowedBlock } from '../../follow/open-frames.ts'
import { isSealSigned } from '../../mesh/signed-claims.ts'
import type { Seal } from '../../primitives/seal.ts'

interface SealOptions {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** Identities of the Generators that are accepted. */
  readonly signers: ReadonlySet<string>
}

export interface PendingSeals {
  /** Those of these seals over a block that accepted Generators signed; others cost nothing. */
  accepted(place: FollowedBlock, seals: readonly Seal[]): readonly Seal[]
  /** Keeps seals of a block until it is stored, the first of each Generator. */
  add(place: FollowedBlock, seals: readonly Seal[]): void
  /** Takes out those of a block. */
  take(hash: string): readonly Seal[]
  forgetBelow(height: number): void
}

/** Blocks whose seals are kept; the oldest ones go. */
const maxBlocks = 4_096

interface SealedBlock {
  readonly number: number
  readonly seals: readonly Seal[]
}

export function createPendingSeals({ network, signers }: SealOptions): PendingSeals {
  const blocks = new Map<string, SealedBlock>()
  return {
    accepted: ({ number, hash }, seals) =>
      seals.filter(
        (seal) =>
          signers.has(seal.signatureIdentity) &&
          seal.network === network &&
          seal.blockNumber === number &&
          seal.blockHash === hash &&
          isSealSigned(seal),
      ),
    add: ({ number, hash }, seals) => {
      const known = blocks.get(hash)?.seals ?? []
      const fresh = seals.filter(
        ({ signatureIdentity }, index) =>
          ![...known, ...seals.slice(0, index)].some(
            (other) => other.signatureIdentity === signatureIdentity,
          ),
      )
      if (fresh.length === 0) return
      blocks.set(hash, { number, seals: [...known, ...fresh] })
      const [oldest] = blocks.keys()
      if (blocks.size > maxBlocks && oldest !== undefined) blocks.delete(oldest)
    },
    take: (hash) => {
      const { seals = [] } = blocks.get(hash) ?? {}
      blocks.delete(hash)
      return seals
    },
    forgetBelow: (height) => {
      for (const [hash, { number }] of blocks) if (number < height) blocks.delete(hash)
    },
  }
}

/** The root that most distinct Generators sealed, of as many the smaller; null without a seal. */
export function sealedRoot(seals: readonly Seal[]): string | null {
  const byRoot = Map.groupBy(seals, ({ merkleRoot }) => merkleRoot)
  const [best] = [...byRoot]
    .map(([root, own]) => ({
      root,
      votes: new Set(own.map(({ signatureIdentity }) => signatureIdentity)).size,
    }))
    .sort((a, b) => b.votes - a.votes || (a.root < b.root ? -1 : 1))
  return best?.root ?? null
}
