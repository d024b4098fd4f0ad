/**
 * From a node's response to a block's encoded documents: the half of the processing that the reader thread
 * does. The result is flat, so that it can be transferred to another thread without a copy.
 */
import type { WholeBlock } from '../../chain/block-reader.ts'
import { encodeBody } from '../../primitives/body/body.ts'
import { cidBytes } from '../../primitives/cid.ts'
import { type BlockDocuments, toDocuments } from '../../primitives/documents.ts'
import type { BlockHeader } from '../../store/store.ts'

/** A block as its documents; root and index terms are still to be computed. */
export interface EncodedBlock {
  readonly header: Omit<BlockHeader, 'root' | 'count' | 'bodyBytes'>
  readonly body: Uint8Array<ArrayBuffer>
  /** The body's chunks, not compressed; see `EncodedBody`. */
  readonly raw: Uint8Array<ArrayBuffer>
  /** The documents' CIDs one after the other, in section and position order. */
  readonly cids: Uint8Array<ArrayBuffer>
}

/** Throws PRIMITIVES_BLOCK_MALFORMED for a response that cannot be turned into documents. */
export function encodeBlock(network: string, { block, receipts }: WholeBlock): EncodedBlock {
  const documents = toDocuments(network, block, receipts)
  const { body, raw, cids } = encodeBody(documents)
  const flat = new Uint8Array(cids.length * cidBytes)
  for (const [index, cid] of cids.entries()) flat.set(cid, index * cidBytes)
  const { number, hash, parentHash, timestamp } = documents
  const sections = sectionCounts(documents)
  const header = { number, hash, parentHash, timestamp, sections }
  return { header, body: withOwnBuffer(body), raw: withOwnBuffer(raw), cids: flat }
}

function sectionCounts({ documents }: BlockDocuments): BlockHeader['sections'] {
  const { Block, Transaction, AccessListEntry, Log } = documents
  return {
    Block: Block.length,
    Transaction: Transaction.length,
    AccessListEntry: AccessListEntry.length,
    Log: Log.length,
  }
}

/** Small buffers share memory with others, which must not be transferred along. */
function withOwnBuffer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes
  const isAlone = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength
  return isAlone ? new Uint8Array(buffer) : new Uint8Array(bytes)
}
