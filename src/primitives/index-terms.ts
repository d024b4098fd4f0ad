/**
 * Which values of a block's documents can be looked up. A term says that a chunk holds a document
 * with this value; whoever looks it up checks the documents of the chunk.
 */
import type { Body } from './body.ts'
import { createReader, major, readHead } from './cbor.ts'
import { blockSections, fieldIndex, type Section } from './collections.ts'
import { scanValues, valueCount } from './values.ts'

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

interface IndexedField {
  readonly kind: TermKind
  readonly index: number
  readonly isList: boolean
}

const indexed: Readonly<Record<Section, readonly IndexedField[]>> = {
  Block: [{ kind: 'blockHash', index: fieldIndex('Block', 'hash'), isList: false }],
  Transaction: [
    { kind: 'transactionHash', index: fieldIndex('Transaction', 'hash'), isList: false },
    { kind: 'from', index: fieldIndex('Transaction', 'from'), isList: false },
    { kind: 'to', index: fieldIndex('Transaction', 'to'), isList: false },
  ],
  AccessListEntry: [],
  Log: [
    { kind: 'logAddress', index: fieldIndex('Log', 'address'), isList: false },
    { kind: 'topic', index: fieldIndex('Log', 'topics'), isList: true },
  ],
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
      addChunk(terms, body, cids, before, section, chunk)
    }
    before += body.counts[section]
  }
  return terms
}

function addChunk(
  terms: Term[],
  body: Body,
  cids: readonly Uint8Array[],
  before: number,
  section: Section,
  chunk: number,
): void {
  const opened = body.openChunk(section, chunk)
  const offsets = new Int32Array(valueCount(section) + 1)
  const seen = new Set<string>()
  for (let position = opened.first; position < opened.first + opened.length; position++) {
    const cid = cids[before + position]
    if (cid !== undefined) terms.push({ kind: 'cid', value: cid, section, chunk })
    const bytes = opened.values(position)
    scanValues(section, bytes, 0, bytes.length, offsets)
    for (const field of indexed[section]) {
      for (const value of fieldValues(bytes, offsets, field)) {
        const key = `${field.kind}${Buffer.from(value).toString('latin1')}`
        if (seen.has(key)) continue
        seen.add(key)
        terms.push({ kind: field.kind, value, section, chunk })
      }
    }
  }
}

function fieldValues(bytes: Uint8Array, offsets: Int32Array, field: IndexedField): Uint8Array[] {
  const reader = createReader(bytes, offsets[field.index] ?? 0)
  const count = field.isList ? readHead(reader, major.array) : 1
  const values: Uint8Array[] = []
  for (let index = 0; index < count; index++) {
    const length = readHead(reader, major.bytes)
    if (length < 0) break
    values.push(bytes.subarray(reader.at, reader.at + length))
    reader.at += length
  }
  return values
}
