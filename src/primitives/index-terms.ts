/**
 * Which values of a block's documents can be looked up. A term says that a chunk holds a document
 * with this value; the caller of a lookup checks the documents of the chunk.
 */
import type { Body } from './body/body.ts'
import type { Chunk } from './body/chunk.ts'
import { type ByteReader, createByteReader, major, readHead } from './cbor.ts'
import { blockSections, fieldIndex, type Section } from './collections.ts'
import { skipItem } from './values.ts'

/** What kind of value a term holds; `topic` is any of a log's topics. */
export type TermKind =
  | 'blockHash'
  | 'transactionHash'
  | 'from'
  | 'to'
  | 'logAddress'
  | 'topic'
  | 'cid'

/** One value that a chunk holds. */
export interface Term {
  readonly kind: TermKind
  /** The value's bytes: a hash, an address, or a binary CID. */
  readonly value: Uint8Array
  readonly section: Section
  readonly chunk: number
}

/** For each section, the kind of term that each stored field gives, up to the last that gives one. */
const indexed: Readonly<Record<Section, readonly (TermKind | undefined)[]>> = {
  Block: termFields('Block', { hash: 'blockHash' }),
  Transaction: termFields('Transaction', { hash: 'transactionHash', from: 'from', to: 'to' }),
  AccessListEntry: [],
  Log: termFields('Log', { address: 'logAddress', topics: 'topic' }),
}

function termFields(
  section: Section,
  kinds: Readonly<Record<string, TermKind>>,
): (TermKind | undefined)[] {
  const fields: (TermKind | undefined)[] = []
  for (const [name, kind] of Object.entries(kinds)) fields[fieldIndex(section, name)] = kind
  return Array.from(fields)
}

/** The terms of one chunk while they are collected. */
interface Collecting {
  readonly section: Section
  readonly chunk: number
  readonly terms: Term[]
  /** Terms of this chunk by a number made of their bytes; the next free number where two meet. */
  readonly seen: Map<number, Term>
}

/**
 * The terms of a block, one for each distinct kind, value and chunk. `cids` are in section and
 * position order, as `encodeBody` and `verifyBody` return them.
 */
export function indexTerms(body: Body, cids: readonly Uint8Array[]): Term[] {
  const terms: Term[] = []
  let before = 0
  for (const section of blockSections) {
    for (let chunk = 0; chunk < body.chunkCount(section); chunk++) {
      const opened = body.openChunk(section, chunk)
      const collecting: Collecting = { section, chunk, terms, seen: new Map() }
      addCids(collecting, opened, cids, before)
      addFields(collecting, opened)
    }
    before += body.counts[section]
  }
  return terms
}

function addCids(
  { terms, section, chunk }: Collecting,
  opened: Chunk,
  cids: readonly Uint8Array[],
  before: number,
): void {
  for (let index = 0; index < opened.length; index++) {
    const value = cids[before + opened.first + index]
    if (value !== undefined) terms.push({ kind: 'cid', value, section, chunk })
  }
}

function addFields(collecting: Collecting, opened: Chunk): void {
  const kinds = indexed[collecting.section]
  const reader = createByteReader(opened.bytes)
  for (let index = 0; index < opened.length; index++) {
    reader.at = opened.start(opened.first + index)
    readHead(reader, major.array)
    for (const kind of kinds) {
      if (kind === undefined) skipItem(reader)
      else addValue(collecting, reader, kind)
    }
  }
}

/** Adds a value, or each item of a list; null gives no term. */
function addValue(collecting: Collecting, reader: ByteReader, kind: TermKind): void {
  const items = readHead(reader, major.array)
  if (items < 0) addItem(collecting, reader, kind)
  for (let index = 0; index < items; index++) addItem(collecting, reader, kind)
}

function addItem(collecting: Collecting, reader: ByteReader, kind: TermKind): void {
  const length = readHead(reader, major.bytes)
  if (length < 0) {
    skipItem(reader)
    return
  }
  addTerm(collecting, kind, reader.bytes, reader.at, reader.at + length)
  reader.at += length
}

function addTerm(
  { section, chunk, terms, seen }: Collecting,
  kind: TermKind,
  bytes: Buffer,
  start: number,
  end: number,
): void {
  let key = mixedBytes(bytes, end)
  for (let other = seen.get(key); other !== undefined; other = seen.get(++key)) {
    if (
      other.kind === kind &&
      bytes.compare(other.value, 0, other.value.length, start, end) === 0
    ) {
      return
    }
  }
  const term = { kind, value: bytes.subarray(start, end), section, chunk }
  seen.set(key, term)
  terms.push(term)
}

/** Addresses and hashes both end in bytes that differ. */
function mixedBytes(bytes: Buffer, end: number): number {
  return bytes.readInt32LE(end - 4) ^ Math.imul(bytes.readInt32LE(end - 8), 31)
}
