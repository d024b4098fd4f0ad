/**
 * Content identifiers of documents: CIDv1, codec dag-cbor, multihash sha2-256, shown in lower-case
 * base32 (https://github.com/multiformats/cid).
 */
import { hash } from 'node:crypto'
import { createWriter, reserve, writeText } from './cbor.ts'
import type { CollectionName } from './collections.ts'
import { canonicalBytes, writeEnvelopeHead } from './values.ts'

/** Version 1, dag-cbor, sha2-256, 32 bytes: what stands before the digest in every CID of ours. */
const cidPrefix = 0x01711220
const prefixBytes = 4

/** The length of a binary CID. */
export const cidBytes = 36

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const digitValues: ReadonlyMap<string, number> = new Map(
  [...alphabet].map((letter, value) => [letter, value]),
)
const textLength = 1 + Math.ceil((cidBytes * 8) / 5)

/** The CID of a document, 36 bytes. */
export function documentCid(
  network: string,
  collection: CollectionName,
  docID: string,
  valuesBytes: Uint8Array,
): Uint8Array {
  return cidOf(canonicalBytes(network, collection, docID, valuesBytes))
}

/** Makes the CID of the document whose values lie from `start` to `end`. */
export type CidMaker = (docID: string, bytes: Buffer, start: number, end: number) => Uint8Array

/** Same result as `documentCid`, for many documents: what they share is written once. */
export function createCidMaker(network: string, collection: CollectionName): CidMaker {
  const scratch = createWriter(4096)
  writeEnvelopeHead(scratch, network, collection)
  const start = scratch.at
  return (docID, bytes, from, end) => {
    scratch.at = start
    writeText(scratch, docID)
    reserve(scratch, end - from)
    bytes.copy(scratch.bytes, scratch.at, from, end)
    return cidOf(scratch.bytes.subarray(0, scratch.at + end - from))
  }
}

/** A digest passed as text of one byte per character costs a third of one in a new buffer. */
function cidOf(canonical: Uint8Array): Uint8Array {
  const cid = Buffer.allocUnsafe(cidBytes)
  cid.writeUInt32BE(cidPrefix)
  cid.write(hash('sha256', canonical, 'binary'), prefixBytes, 'latin1')
  return cid
}

/** The text form of a CID, as in `bafyrei...`. */
export function cidText(cid: Uint8Array): string {
  let text = 'b'
  let bits = 0
  let pending = 0
  for (const byte of cid) {
    pending = ((pending & 0xff) << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += alphabet[(pending >>> bits) & 31]
    }
  }
  return bits === 0 ? text : text + alphabet[(pending << (5 - bits)) & 31]
}

/** Reads the text form; null when it is not a CID of the kind that documents have. */
export function parseCid(text: string): Uint8Array | null {
  if (text.length !== textLength || text[0] !== 'b') return null
  const cid = Buffer.alloc(cidBytes)
  let bits = 0
  let pending = 0
  let at = 0
  for (const letter of text.slice(1)) {
    const value = digitValues.get(letter)
    if (value === undefined) return null
    pending = ((pending & 0xff) << 5) | value
    bits += 5
    if (bits < 8) continue
    bits -= 8
    cid[at++] = pending >>> bits
  }
  const isPaddingZero = (pending & ((1 << bits) - 1)) === 0
  return isPaddingZero && cid.readUInt32BE() === cidPrefix ? cid : null
}
