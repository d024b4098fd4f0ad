/** The CIDs of a block's documents; not stored, so recomputed and kept for the blocks asked for last. */
import { LRUCache } from 'lru-cache'
import { documentCid } from '../../primitives/cid.ts'
import { blockSections, type Section } from '../../primitives/collections.ts'
import { merkleTree } from '../../primitives/merkle.ts'
import { sealRoot } from '../../primitives/seal.ts'
import {
  type BlockCids,
  type BlockProofs,
  type BlockView,
  type CidCache,
  storedBlock,
  storedValues,
} from './block-view.ts'
import { sectionDocID } from './document-id.ts'

/** Memory of all blocks together, and of one CID in it with what its proof is read from, roughly. */
const maxBytes = 16 * 1024 * 1024
const cidBytes = 320

/** An empty cache; the CIDs under one root never change. */
export function createCidCache(): CidCache {
  return new LRUCache({ maxSize: maxBytes, sizeCalculation: bytesOf })
}

const bytesOf = ({ inOrder }: BlockCids): number => (1 + inOrder.length) * cidBytes

/** The CIDs of a block. Hashes all of its documents unless the CIDs are cached. */
export function cidsOf(view: BlockView): BlockCids {
  const { session, header, memo } = view
  const known = memo.cids ?? session.cids.get(header.root)
  if (known !== undefined) return known
  session.budget.countDocuments(header.count)
  const inOrder = blockSections.flatMap((section) => sectionCids(view, section))
  const { sorted, root } = sealRoot(inOrder)
  memo.cids = { inOrder, sorted, root, proofs: undefined }
  session.cids.set(header.root, memo.cids)
  session.opened.note(view, bytesOf(memo.cids))
  return memo.cids
}

/** What the proofs of a block are read from. Hashes all of its CIDs unless the tree is cached. */
export function proofsOf(view: BlockView): BlockProofs {
  const cids = cidsOf(view)
  if (cids.proofs === undefined) {
    view.session.budget.countDocuments(cids.sorted.length)
    const places = new Map(cids.sorted.map((cid, place) => [cid, place]))
    cids.proofs = { tree: merkleTree(cids.sorted), places }
  }
  return cids.proofs
}

function sectionCids(view: BlockView, section: Section): Uint8Array[] {
  const { session, header } = view
  const stored = storedBlock(view)
  return Array.from({ length: header.sections[section] }, (_, position) => {
    const docID = sectionDocID(section, stored, header, position)
    return documentCid(session.network, section, docID, storedValues(view, section, position))
  })
}
