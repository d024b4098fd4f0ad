/**
 * Content identifiers of documents: CIDv1, codec dag-cbor, multihash sha2-256
 * (https://github.com/multiformats/cid).
 */
import { hash } from 'node:crypto'
import { createByteWriter, reserve, writeText } from './cbor.ts'
import { cidForm } from './cid-text.ts'
import type { CollectionName } from './collections.ts'
import { canonicalBytes, writeEnvelopeHead } from './values.ts'

const prefixBytes = 4

/** The length of a binary CID. */
export const cidBytes: number = cidForm.bytes

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
type CidMaker = (docID: string, bytes: Buffer, start: number, end: number) => Uint8Array

/** Same result as `documentCid`, for many documents: what they share is written once. */
export function createCidMaker(network: string, collection: CollectionName): CidMaker {
  const scratch = createByteWriter()
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
  cid.writeUInt32BE(cidForm.prefix)
  cid.write(hash('sha256', canonical, 'binary'), prefixBytes, 'latin1')
  return cid
}
