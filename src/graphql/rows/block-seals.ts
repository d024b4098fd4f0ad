/** The seals of a block, and the votes they make. */
import type { Seal } from '../../primitives/seal.ts'
import type { BlockHeader, Snapshot } from '../../store/store.ts'
import type { BlockView, Votes } from './block-view.ts'

/** Seals of this very block, not of others at its height. */
export function sealsOf(view: BlockView): readonly Seal[] {
  return sealsAt(view).filter((seal) => seal.blockHash === view.header.hash)
}

/** Seals over exactly the stored documents. */
export function storedSealsOf(view: BlockView): readonly Seal[] {
  return sealsOf(view).filter((seal) => seal.merkleRoot === view.header.root)
}

/** The votes at this height, those for what is stored first. */
export function votesOf(view: BlockView): readonly Votes[] {
  view.memo.votes ??= countVotes(sealsAt(view), view.header)
  return view.memo.votes
}

/** How many distinct identities vouch for exactly the stored documents. */
export function attestationsOf(view: BlockView): number {
  return attestationsIn(votesOf(view), view.header)
}

/** The same for a height, 0 where there is no block: what `minimumAttestations` of a request goes by. */
export function attestationsAt(
  snapshot: Pick<Snapshot, 'rowBlocks' | 'seals'>,
  height: number,
): number {
  const header = snapshot.rowBlocks.header(height)
  if (header === undefined) return 0
  return attestationsIn(countVotes(snapshot.seals(height), header), header)
}

function attestationsIn([first]: readonly Votes[], header: BlockHeader): number {
  return first !== undefined && isStored(first, header) ? first.identities.length : 0
}

function sealsAt(view: BlockView): readonly Seal[] {
  view.memo.seals ??= view.session.snapshot.seals(view.height)
  return view.memo.seals
}

const isStored = (vote: Votes, header: BlockHeader): boolean =>
  vote.blockHash === header.hash && vote.root === header.root

function countVotes(seals: readonly Seal[], header: BlockHeader): readonly Votes[] {
  const byRoot = new Map<string, { blockHash: string; root: string; identities: Set<string> }>()
  for (const { blockHash, merkleRoot, signatureIdentity } of seals) {
    const key = `${blockHash}:${merkleRoot}`
    const vote = byRoot.get(key) ?? { blockHash, root: merkleRoot, identities: new Set<string>() }
    vote.identities.add(signatureIdentity)
    byRoot.set(key, vote)
  }
  const votes = [...byRoot.values()].map((vote) => ({ ...vote, identities: [...vote.identities] }))
  return [
    ...votes.filter((vote) => isStored(vote, header)),
    ...votes.filter((vote) => !isStored(vote, header)),
  ]
}
