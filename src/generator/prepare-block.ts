/** From what a node answered to what the store takes: documents, body, root and index terms. */
import type { WholeBlock } from '../chain/block-reader.ts'
import { encodeBody, openBody } from '../primitives/body.ts'
import { type BlockDocuments, toDocuments } from '../primitives/documents.ts'
import { indexTerms } from '../primitives/index-terms.ts'
import { sealRoot } from '../primitives/seal.ts'
import type { BlockToStore } from '../store/store.ts'

/** Throws PRIMITIVES_BLOCK_MALFORMED for answers that no documents can be made of. */
export function prepareBlock(network: string, { block, receipts }: WholeBlock): BlockToStore {
  const documents = toDocuments(network, block, receipts)
  const { body, cids } = encodeBody(documents)
  const { root, count } = sealRoot(cids)
  const { number, hash, parentHash, timestamp } = documents
  const sections = sectionCounts(documents)
  const header = { number, hash, parentHash, root, count, timestamp, sections }
  return {
    header: { ...header, bodyBytes: body.length },
    body,
    terms: indexTerms(openBody(body, { maxRawBytes: Number.POSITIVE_INFINITY }), cids),
  }
}

function sectionCounts({ documents }: BlockDocuments): BlockToStore['header']['sections'] {
  const { Block, Transaction, AccessListEntry, Log } = documents
  return {
    Block: Block.length,
    Transaction: Transaction.length,
    AccessListEntry: AccessListEntry.length,
    Log: Log.length,
  }
}
