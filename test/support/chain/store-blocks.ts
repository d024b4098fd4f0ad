/** Blocks in the form in which the store takes them. */
import { type Body, openBody } from '../../../src/primitives/body/body.ts'
import type { Section } from '../../../src/primitives/collections.ts'
import { indexTerms } from '../../../src/primitives/index-terms.ts'
import type { BlockHeader, SealedBlockToStore } from '../../../src/store/store.ts'
import type { ChainBlock } from './block-factory.ts'
import { sealBlock, testSigner } from './sealed-blocks.ts'

/** A generated block with its terms and the seal of one test Generator. */
export function storableBlock(source: ChainBlock, signer = 'generator'): SealedBlockToStore {
  const { body, cids, documents, seal } = sealBlock(source, testSigner(signer))
  const opened = openBody(body)
  const header: BlockHeader = {
    number: source.number,
    hash: source.hash,
    parentHash: source.parentHash,
    root: seal.merkleRoot,
    count: seal.cidCount,
    timestamp: documents.timestamp,
    sections: opened.counts,
    bodyBytes: body.length,
  }
  return { header, body, terms: indexTerms(opened, cids), seals: [seal] }
}

/** The values bytes of the document at a position. */
export function valuesAt(body: Body, section: Section, position: number): Uint8Array {
  return body.openChunk(section, body.chunkOf(section, position)).values(position)
}
