/**
 * One stored block as a request sees it: everything beyond the header is read when it is first
 * asked for, and at most once.
 */
import { LRUCache } from 'lru-cache'
import { invariant } from '../errors.ts'
import { documentCid } from '../primitives/cid.ts'
import { blockSections, type Section } from '../primitives/collections.ts'
import { type Seal, sealRoot } from '../primitives/seal.ts'
import type { BlockHeader, Snapshot, StoredBlock } from '../store/store.ts'
import { sectionDocID } from './document-id.ts'
import type { Work } from './work.ts'

/** What the rows of one request share. */
export interface Session {
  readonly network: string
  readonly snapshot: Snapshot
  readonly work: Work
  readonly cids: CidCache
}

/** The CIDs of a block's documents, in the order of its sections and positions, and in the order of the Merkle tree. */
export interface BlockCids {
  readonly inOrder: readonly Uint8Array[]
  readonly sorted: readonly Uint8Array[]
  readonly root: string
}

/** Recomputed CIDs of the blocks asked for last, by block hash; a full block's take about 60 kB. */
export type CidCache = LRUCache<string, BlockCids>

const cachedBlocks = 64

/** An empty cache; the CIDs of a block hash never change. */
export function createCidCache(): CidCache {
  return new LRUCache({ max: cachedBlocks })
}

/** The votes for one root: distinct identities, in the order of their seals. */
export interface Votes {
  readonly blockHash: string
  readonly root: string
  readonly identities: readonly string[]
}

/** A block of the request's snapshot. */
export interface BlockView {
  readonly session: Session
  readonly height: number
  readonly header: BlockHeader
  stored(): StoredBlock
  /** Seals of this very block, not of others at its height. */
  seals(): readonly Seal[]
  /** The votes at this height, those for what is stored first. */
  votes(): readonly Votes[]
  /** How many distinct identities vouch for the stored documents. */
  attestations(): number
  cids(): BlockCids
}

/** The view of a height, or undefined where nothing is stored. */
export function openBlockView(session: Session, height: number): BlockView | undefined {
  const header = session.snapshot.header(height)
  return header === undefined ? undefined : viewOf(session, header)
}

function viewOf(session: Session, header: BlockHeader): BlockView {
  const height = header.number
  const stored = once(() => {
    const block = session.snapshot.block(height)
    invariant(block !== undefined, `the block with header ${height} has a body`)
    return block
  })
  const allSeals = once(() => session.snapshot.seals(height))
  const seals = once(() => allSeals().filter((seal) => seal.blockHash === header.hash))
  const votes = once(() => countVotes(allSeals(), header))
  const cids = once(() => blockCids(session, header, stored()))
  return {
    session,
    height,
    header,
    stored,
    seals,
    votes,
    attestations: () => votes().find((vote) => isStored(vote, header))?.identities.length ?? 0,
    cids,
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
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

function blockCids(session: Session, header: BlockHeader, stored: StoredBlock): BlockCids {
  const known = session.cids.get(header.hash)
  if (known?.root === header.root) return known
  session.work.look(header.count)
  const inOrder = blockSections.flatMap((section) => sectionCids(session, header, stored, section))
  const { sorted, root } = sealRoot(inOrder)
  const cids = { inOrder, sorted, root }
  session.cids.set(header.hash, cids)
  return cids
}

function sectionCids(
  session: Session,
  header: BlockHeader,
  stored: StoredBlock,
  section: Section,
): Uint8Array[] {
  return Array.from({ length: header.sections[section] }, (_, position) => {
    const docID = sectionDocID(section, stored, header, position)
    return documentCid(session.network, section, docID, stored.values(section, position))
  })
}
