/**
 * Blocks for tests of the store that need many, of any size, and not what is in them. Child programs
 * load this in no time: nothing here signs or knows a chain.
 */
import { createHash } from 'node:crypto'
import { writeHeader } from '../../../src/primitives/body/body-header.ts'
import { packChunk } from '../../../src/primitives/body/chunk.ts'
import { createByteWriter } from '../../../src/primitives/cbor.ts'
import type { Seal } from '../../../src/primitives/seal.ts'
import type { SealedBlockToStore } from '../../../src/store/store.ts'

/** The network of their seals. */
export const opaqueNetwork = 'Ethereum__Mainnet'

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
  const values = createHash('shake256', { outputLength: bytes }).update(hash).digest()
  const chunk = packChunk([bytes], values, createByteWriter())
  const sections = { Block: 1, Transaction: 0, AccessListEntry: 0, Log: 0 }
  const out = createByteWriter(4096)
  writeHeader(out, {
    totalDifficulty: null,
    logsPerTransaction: [],
    entriesPerTransaction: [],
    counts: sections,
    chunks: {
      Block: [chunk],
      Transaction: [],
      AccessListEntry: [],
      Log: [],
    },
  })
  const body = Buffer.concat([out.bytes.subarray(0, out.at), chunk.stored])
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
export function opaqueSeal(
  height: number,
  branch = 'main',
  identity: string = '02'.repeat(33),
): Seal {
  return {
    network: opaqueNetwork,
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
