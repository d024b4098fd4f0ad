/**
 * A block's documents as one piece of bytes, the same in the store and on the wire: a header, then
 * compressed chunks. Positions in a section are chain order.
 */
import { invariant } from '../../errors.ts'
import { asBuffer, type ByteWriter, createByteWriter } from '../cbor.ts'
import { createCidMaker } from '../cid.ts'
import { blockSections, type Section } from '../collections.ts'
import type { BlockDocuments, Document } from '../documents.ts'
import { sealRoot } from '../seal.ts'
import { writeValues } from '../values.ts'
import { type CheckedDocuments, checkDocuments } from './body-check.ts'
import {
  type BodyHeader,
  chunkDocuments,
  chunkValuesBytes,
  parseHeader,
  writeHeader,
} from './body-header.ts'
import { type Chunk, openRawChunk, type PackedChunk, packChunk, unpackChunk } from './chunk.ts'

/** Bytes a body may unpack to by default: 64 MiB. */
const defaultMaxRawBytes = 64 * 1024 * 1024

/** What a body's header says: how many documents there are, and where each belongs. */
export interface BodyLayout {
  readonly counts: Readonly<Record<Section, number>>
  /** Minimal hex, or null where the sealing node did not return it. */
  readonly totalDifficulty: string | null
  chunkCount(section: Section): number
  /** The chunk that holds a position of the section. */
  chunkOf(section: Section, position: number): number
  /** First and end position of a transaction's logs. */
  logsOf(transaction: number): readonly [start: number, end: number]
  /** First and end position of a transaction's access list entries. */
  entriesOf(transaction: number): readonly [start: number, end: number]
  /** Position of the transaction that a log belongs to. */
  transactionOfLog(position: number): number
  /** Position of the transaction that an access list entry belongs to. */
  transactionOfEntry(position: number): number
}

/** An opened body. Only the header is in memory; chunks are unpacked when they are read. */
export interface Body extends BodyLayout {
  /** Unpacks a chunk; the caller keeps it. Throws ServiceError `PRIMITIVES_BODY_MALFORMED`. */
  openChunk(section: Section, chunk: number): Chunk
}

/** Options for reading a body from outside. */
interface BodyLimits {
  /** Bytes the chunks may unpack to, together. */
  readonly maxRawBytes: number
}

/** A body, and by-products of its encoding. */
interface EncodedBody {
  readonly body: Uint8Array
  /** Its chunks before they were compressed, one after the other; for `openEncodedBody`. */
  readonly raw: Uint8Array
  /** The documents' CIDs in section and position order. */
  readonly cids: readonly Uint8Array[]
}

/** What the sections of a body are encoded into. */
interface Encoding {
  readonly network: string
  readonly cids: Uint8Array[]
  /** The values of the chunk that is being filled. */
  readonly values: ByteWriter
  readonly raw: ByteWriter
}

/** Used again for every block: it grows to the largest one, up to some megabytes. */
const scratch = { values: createByteWriter(64 * 1024), raw: createByteWriter(64 * 1024) }

/**
 * The body of a block.
 * @throws ServiceError `PRIMITIVES_BLOCK_MALFORMED` naming the field that holds no hex.
 */
export function encodeBody(documents: BlockDocuments): EncodedBody {
  scratch.raw.at = 0
  const encoding: Encoding = { network: documents.network, cids: [], ...scratch }
  const encode = (section: Section) =>
    encodeSection(encoding, section, documents.documents[section])
  const chunks = {
    Block: encode('Block'),
    Transaction: encode('Transaction'),
    AccessListEntry: encode('AccessListEntry'),
    Log: encode('Log'),
  }
  const out = createByteWriter()
  writeHeader(out, { ...documents, counts: sectionCounts(documents), chunks })
  const stored = blockSections.flatMap((section) => chunks[section].map((chunk) => chunk.stored))
  const { raw, cids } = encoding
  const body = Buffer.concat([out.bytes.subarray(0, out.at), ...stored])
  return { body, raw: new Uint8Array(raw.bytes.subarray(0, raw.at)), cids }
}

function sectionCounts(documents: BlockDocuments): Record<Section, number> {
  const { Block, Transaction, AccessListEntry, Log } = documents.documents
  return {
    Block: Block.length,
    Transaction: Transaction.length,
    AccessListEntry: AccessListEntry.length,
    Log: Log.length,
  }
}

function encodeSection(
  { network, cids, values, raw }: Encoding,
  section: Section,
  documents: readonly Document[],
): PackedChunk[] {
  const chunks: PackedChunk[] = []
  const cidOf = createCidMaker(network, section)
  let lengths: number[] = []
  values.at = 0
  for (const document of documents) {
    const start = values.at
    writeValues(values, section, document.values)
    cids.push(cidOf(document.docID, values.bytes, start, values.at))
    lengths.push(values.at - start)
    if (lengths.length < chunkDocuments && values.at < chunkValuesBytes) continue
    chunks.push(packChunk(lengths, values.bytes.subarray(0, values.at), raw))
    lengths = []
    values.at = 0
  }
  if (lengths.length > 0) chunks.push(packChunk(lengths, values.bytes.subarray(0, values.at), raw))
  return chunks
}

/**
 * Parses a body's header and chunk directory. Chunks are unpacked from `body` later, so its memory
 * must stay as it is for as long as the result is used; opened chunks have memory of their own.
 * @throws ServiceError `PRIMITIVES_BODY_MALFORMED`.
 */
export function openBody(body: Uint8Array, limits: Partial<BodyLimits> = {}): Body {
  const header = parseHeader(body, limits.maxRawBytes ?? defaultMaxRawBytes)
  return bodyOver(header, (section, chunk) => {
    const entry = header.chunks[section][chunk]
    invariant(entry !== undefined, `the body has a chunk ${chunk} of ${section}`)
    return unpackChunk(body, entry)
  })
}

/** A body that this process encoded, whose chunks need not be unpacked; they share the memory of `raw`. */
export function openEncodedBody({ body, raw }: Pick<EncodedBody, 'body' | 'raw'>): Body {
  const header = parseHeader(body, Number.POSITIVE_INFINITY)
  let at = 0
  const open = (section: Section) =>
    header.chunks[section].map((entry) => {
      at += entry.rawBytes
      return openRawChunk(asBuffer(raw).subarray(at - entry.rawBytes, at), entry)
    })
  return bodyOfChunks(header, openSections(open))
}

function bodyOver(header: BodyHeader, openChunk: Body['openChunk']): Body {
  return { ...layoutOf(header), openChunk }
}

/** The layout that a parsed header describes. */
export function layoutOf(header: BodyHeader): BodyLayout {
  const { counts, totalDifficulty, logEnds, entryEnds, chunks } = header
  return {
    counts,
    totalDifficulty,
    chunkCount: (section) => chunks[section].length,
    chunkOf: (section, position) => lastAtMost(chunks[section], position),
    logsOf: (transaction) => [logEnds[transaction - 1] ?? 0, logEnds[transaction] ?? 0],
    entriesOf: (transaction) => [entryEnds[transaction - 1] ?? 0, entryEnds[transaction] ?? 0],
    transactionOfLog: (position) => firstAbove(logEnds, position),
    transactionOfEntry: (position) => firstAbove(entryEnds, position),
  }
}

/** A body whose every document was checked. */
export interface VerifiedBody extends CheckedDocuments {
  /** The root that a seal of this block must carry: lower-case hex without 0x. */
  readonly root: string
  /** Number of documents, which is the number of CIDs. */
  readonly count: number
  /** Its chunks are open already. */
  readonly body: Body
  /** Memory that the chunks take. */
  readonly rawBytes: number
}

/**
 * Checks a body from outside: canonical documents, in chain order, all of one block, with docIDs
 * that differ. Recomputes every CID and the root; comparing that with a seal is the caller's part.
 * @throws ServiceError `PRIMITIVES_BODY_MALFORMED`.
 */
export function verifyBody(
  network: string,
  body: Uint8Array,
  limits: Partial<BodyLimits> = {},
): VerifiedBody {
  const header = parseHeader(body, limits.maxRawBytes ?? defaultMaxRawBytes)
  const chunks = openSections((section) =>
    header.chunks[section].map((entry) => unpackChunk(body, entry)),
  )
  const checked = checkDocuments(network, header, chunks)
  const { root, count } = sealRoot(checked.cids)
  const all = blockSections.flatMap((section) => header.chunks[section])
  const rawBytes = all.reduce((sum, chunk) => sum + chunk.rawBytes, 0)
  return { ...checked, root, count, body: bodyOfChunks(header, chunks), rawBytes }
}

type OpenChunks = Readonly<Record<Section, readonly Chunk[]>>

/** Opens the sections in the order in which they stand in a body. */
function openSections(open: (section: Section) => Chunk[]): OpenChunks {
  return {
    Block: open('Block'),
    Transaction: open('Transaction'),
    AccessListEntry: open('AccessListEntry'),
    Log: open('Log'),
  }
}

function bodyOfChunks(header: BodyHeader, chunks: OpenChunks): Body {
  return bodyOver(header, (section, index) => {
    const chunk = chunks[section][index]
    invariant(chunk !== undefined, `the body has a chunk ${index} of ${section}`)
    return chunk
  })
}

/** The last chunk that begins at or before a position. */
function lastAtMost(chunks: readonly { first: number }[], position: number): number {
  let low = 0
  let high = chunks.length
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if ((chunks[middle]?.first ?? 0) <= position) low = middle
    else high = middle
  }
  return low
}

/** The first place whose end lies above a position. */
function firstAbove(ends: Uint32Array, position: number): number {
  let low = 0
  let high = ends.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ends[middle] ?? 0) > position) high = middle
    else low = middle + 1
  }
  return low
}
