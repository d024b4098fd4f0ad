/** Blocks in the form in which the store takes them. */
import { createHash } from 'node:crypto'
import { openBody } from '../../src/primitives/body.ts'
import { writeHeader } from '../../src/primitives/body-header.ts'
import { createWriter } from '../../src/primitives/cbor.ts'
import { indexTerms } from '../../src/primitives/index-terms.ts'
import type { Seal } from '../../src/primitives/seal.ts'
import type { BlockHeader, SealedBlockToStore } from '../../src/store/store.ts'
import type { ChainBlock } from './block-factory.ts'
import { sealBlock, testNetwork, testSigner } from './sealed-blocks.ts'

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

/** A made-up 32-byte hash in 0x form, the same for the same name. */
export function namedHash(name: string): string {
  return `0x${createHash('sha256').update(name).digest('hex')}`
}

/**
 * A block with one document of bytes that do not compress: nothing to look into, but of any size,
 * the same for the same arguments. Blocks of another branch differ in everything but the height.
 */
export function opaqueBlock(height: number, bytes = 200, branch = 'main'): SealedBlockToStore {
  const hash = namedHash(`${branch}:${height}`)
  const root = namedHash(`root:${branch}:${height}`).slice(2)
  const stored = createHash('shake256', { outputLength: bytes }).update(hash).digest()
  const sections = { Block: 1, Transaction: 0, AccessListEntry: 0, Log: 0 }
  const out = createWriter(4096)
  writeHeader(out, {
    totalDifficulty: null,
    logsPerTransaction: [],
    entriesPerTransaction: [],
    counts: sections,
    chunks: {
      Block: [{ length: 1, rawBytes: bytes, stored }],
      Transaction: [],
      AccessListEntry: [],
      Log: [],
    },
  })
  const body = Buffer.concat([out.bytes.subarray(0, out.at), stored])
  const parentHash = namedHash(`${branch}:${height - 1}`)
  const shape = { count: 1, timestamp: height * 12, sections, bodyBytes: body.length }
  return {
    header: { number: height, hash, parentHash, root, ...shape },
    body,
    terms: [
      { kind: 'blockHash', value: bytesOf(hash), section: 'Block', chunk: 0 },
      { kind: 'logAddress', value: everywhere, section: 'Log', chunk: height % 7 },
    ],
    seals: [opaqueSeal(height, branch)],
  }
}

/** The value of a term that every opaque block has. */
export const everywhere: Uint8Array = Buffer.alloc(20, 0xee)

/** A seal over an opaque block; nothing in it would verify. */
export function opaqueSeal(height: number, branch = 'main', identity = '02'.repeat(33)): Seal {
  return {
    network: testNetwork,
    blockNumber: height,
    blockHash: namedHash(`${branch}:${height}`),
    merkleRoot: namedHash(`root:${branch}:${height}`).slice(2),
    cidCount: 1,
    signatureType: 'ES256K',
    signatureIdentity: identity,
    signatureValue: '30'.repeat(70),
    createdAt: '2026-01-01T00:00:00Z',
  }
}

/** The bytes of 0x-prefixed hex. */
export function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex.slice(2), 'hex')
}
