/**
 * What a Host checks of a body before it compares it with a seal: that every document is canonical,
 * belongs to the block it is sent with and stands where its fields say; and its CID.
 */
import { maxTimestamp } from '../bounds.ts'
import { createByteReader, major, readHead } from '../cbor.ts'
import { createCidMaker } from '../cid.ts'
import { fieldIndex, type Section } from '../collections.ts'
import { docIDs } from '../doc-id.ts'
import { scanValues, valueCount } from '../values.ts'
import { type BodyHeader, bodyMalformed } from './body-header.ts'
import type { Chunk } from './chunk.ts'

/** What a checked body says about its block. */
export interface CheckedDocuments {
  readonly number: number
  /** 0x-prefixed lower-case hex. */
  readonly hash: string
  readonly parentHash: string
  /** Seconds since 1970. */
  readonly timestamp: number
  /** In section and position order. */
  readonly cids: readonly Uint8Array[]
}

interface Check {
  readonly header: BodyHeader
  readonly chunks: Readonly<Record<Section, readonly Chunk[]>>
  readonly network: string
  readonly cids: Uint8Array[]
  block: BlockFacts
  /** One per transaction, as text and as bytes. */
  readonly hashes: string[]
  readonly hashBytes: Uint8Array[]
}

interface BlockFacts {
  readonly number: number
  readonly hash: string
  readonly hashBytes: Uint8Array
  readonly parentHash: string
  readonly timestamp: number
}

/** The document that is being checked: its bytes and where each of its values starts. */
interface Scanned {
  readonly section: Section
  readonly position: number
  /** The chunk it lies in. */
  readonly bytes: Buffer
  /** Places in `bytes`. */
  readonly offsets: Int32Array
}

const noBlock: BlockFacts = {
  number: 0,
  hash: '',
  hashBytes: new Uint8Array(0),
  parentHash: '',
  timestamp: 0,
}

const places = {
  blockHash: fieldIndex('Block', 'hash'),
  blockParent: fieldIndex('Block', 'parentHash'),
  blockTime: fieldIndex('Block', 'timestamp'),
  blockNumber: fieldIndex('Block', 'number'),
  transactionHash: fieldIndex('Transaction', 'hash'),
  transactionBlockHash: fieldIndex('Transaction', 'blockHash'),
  transactionBlockNumber: fieldIndex('Transaction', 'blockNumber'),
  transactionIndex: fieldIndex('Transaction', 'transactionIndex'),
  entryBlockNumber: fieldIndex('AccessListEntry', 'blockNumber'),
  logTransactionHash: fieldIndex('Log', 'transactionHash'),
  logBlockHash: fieldIndex('Log', 'blockHash'),
  logRemoved: fieldIndex('Log', 'removed'),
  logBlockNumber: fieldIndex('Log', 'blockNumber'),
  logTransactionIndex: fieldIndex('Log', 'transactionIndex'),
  logIndex: fieldIndex('Log', 'logIndex'),
} as const

/**
 * Checks all documents of a body.
 * @throws ServiceError `PRIMITIVES_BODY_MALFORMED` naming the document and the field.
 */
export function checkDocuments(
  network: string,
  header: BodyHeader,
  chunks: Readonly<Record<Section, readonly Chunk[]>>,
): CheckedDocuments {
  const check: Check = {
    header,
    chunks,
    network,
    cids: [],
    block: noBlock,
    hashes: [],
    hashBytes: [],
  }
  checkBlock(check)
  checkTransactions(check)
  checkEntries(check)
  checkLogs(check)
  const { number, hash, parentHash, timestamp } = check.block
  return { number, hash, parentHash, timestamp, cids: check.cids }
}

function eachDocument(check: Check, section: Section, visit: (scanned: Scanned) => string): void {
  const offsets = new Int32Array(valueCount(section) + 1)
  const cidOf = createCidMaker(check.network, section)
  for (const chunk of check.chunks[section]) {
    for (let index = 0; index < chunk.length; index++) {
      const position = chunk.first + index
      const { bytes } = chunk
      const start = chunk.start(position)
      const end = chunk.start(position + 1)
      const bad = scanValues(section, bytes, start, end, offsets)
      if (bad !== undefined) throw wrongField(section, position, bad)
      const docID = visit({ section, position, bytes, offsets })
      check.cids.push(cidOf(docID, bytes, start, end))
    }
  }
}

function checkBlock(check: Check): void {
  eachDocument(check, 'Block', (scanned) => {
    const hash = hashAt(scanned, places.blockHash)
    check.block = {
      number: intAt(scanned, places.blockNumber),
      hash: hexText(hash),
      hashBytes: hash,
      parentHash: hexText(hashAt(scanned, places.blockParent)),
      timestamp: timestampAt(scanned),
    }
    return docIDs.block(check.block.hash)
  })
}

function checkTransactions(check: Check): void {
  const { block, hashes, hashBytes } = check
  const seen = new Set<string>()
  eachDocument(check, 'Transaction', (scanned) => {
    mustHold(scanned, places.transactionBlockHash, block.hashBytes, 'blockHash')
    mustBe(scanned, places.transactionBlockNumber, block.number, 'blockNumber')
    mustBe(scanned, places.transactionIndex, scanned.position, 'transactionIndex')
    const bytes = hashAt(scanned, places.transactionHash)
    const hash = hexText(bytes)
    if (seen.has(hash)) throw wrongField(scanned.section, scanned.position, 'hash')
    seen.add(hash)
    hashes.push(hash)
    hashBytes.push(bytes)
    return docIDs.transaction(hash)
  })
}

function checkEntries(check: Check): void {
  const { entryEnds } = check.header
  let transaction = 0
  let start = 0
  eachDocument(check, 'AccessListEntry', (scanned) => {
    mustBe(scanned, places.entryBlockNumber, check.block.number, 'blockNumber')
    while ((entryEnds[transaction] ?? Number.POSITIVE_INFINITY) <= scanned.position) {
      start = entryEnds[transaction++] ?? 0
    }
    return docIDs.entry(check.hashes[transaction] ?? '', scanned.position - start)
  })
}

function checkLogs(check: Check): void {
  const { block, header } = check
  let transaction = 0
  let last = -1
  eachDocument(check, 'Log', (scanned) => {
    while ((header.logEnds[transaction] ?? Number.POSITIVE_INFINITY) <= scanned.position) {
      transaction++
    }
    mustHold(scanned, places.logBlockHash, block.hashBytes, 'blockHash')
    mustHold(
      scanned,
      places.logTransactionHash,
      check.hashBytes[transaction] ?? block.hashBytes,
      'transactionHash',
    )
    mustBe(scanned, places.logBlockNumber, block.number, 'blockNumber')
    mustBe(scanned, places.logTransactionIndex, transaction, 'transactionIndex')
    mustBeFlag(scanned, places.logRemoved, 'removed')
    const logIndex = intAt(scanned, places.logIndex)
    if (logIndex <= last) throw wrongField(scanned.section, scanned.position, 'logIndex')
    last = logIndex
    return docIDs.log(block.hash, logIndex)
  })
}

/** Where the value of a field begins in the chunk. */
function offsetOf({ offsets }: Scanned, place: number): number {
  return offsets[place] ?? 0
}

/** The 32 bytes of a hash; its head has two bytes. */
function hashAt(scanned: Scanned, place: number): Buffer {
  const start = offsetOf(scanned, place) + 2
  return scanned.bytes.subarray(start, start + 32)
}

function mustHold(scanned: Scanned, place: number, expected: Uint8Array, field: string): void {
  if (hashAt(scanned, place).equals(expected)) return
  throw wrongField(scanned.section, scanned.position, field)
}

function intAt(scanned: Scanned, place: number): number {
  return readHead(createByteReader(scanned.bytes, offsetOf(scanned, place)), major.int)
}

function mustBe(scanned: Scanned, place: number, expected: number, field: string): void {
  if (intAt(scanned, place) === expected) return
  throw wrongField(scanned.section, scanned.position, field)
}

function mustBeFlag(scanned: Scanned, place: number, field: string): void {
  const start = offsetOf(scanned, place) + 1
  const text = scanned.bytes.toString('latin1', start, offsetOf(scanned, place + 1))
  if (text !== 'true' && text !== 'false') {
    throw wrongField(scanned.section, scanned.position, field)
  }
}

function timestampAt(scanned: Scanned): number {
  const start = offsetOf(scanned, places.blockTime) + 1
  const end = offsetOf(scanned, places.blockTime + 1)
  const digits = hexText(scanned.bytes.subarray(start, end))
  const value = start === end ? 0 : Number(digits)
  if (!(value <= maxTimestamp)) throw wrongField(scanned.section, scanned.position, 'timestamp')
  return value
}

function hexText(bytes: Buffer): string {
  return `0x${bytes.toString('hex')}`
}

function wrongField(section: Section, position: number, field: string): Error {
  return bodyMalformed(`${section} ${position} is wrong at ${field}`)
}
