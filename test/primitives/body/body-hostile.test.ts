import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { constants, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { ServiceError } from '../../../src/errors.ts'
import { encodeBody, openBody, verifyBody } from '../../../src/primitives/body/body.ts'
import {
  chunkDocuments,
  chunkValuesBytes,
  isFullChunk,
  isPossibleChunk,
  writeHeader,
} from '../../../src/primitives/body/body-header.ts'
import { type PackedChunk, packChunk } from '../../../src/primitives/body/chunk.ts'
import { maxTimestamp } from '../../../src/primitives/bounds.ts'
import { createByteWriter } from '../../../src/primitives/cbor.ts'
import { fieldIndex, type Section, type Value } from '../../../src/primitives/collections.ts'
import {
  type BlockDocuments,
  type Document,
  toDocuments,
} from '../../../src/primitives/documents.ts'
import { encodeValues } from '../../../src/primitives/values.ts'
import { createChain } from '../../support/chain/block-factory.ts'

const network = 'Ethereum__Mainnet'
const refusal = { code: 'PRIMITIVES_BODY_MALFORMED' }
const word = (digit: string): string => `0x${digit.repeat(64)}`

function smallBlock(): BlockDocuments {
  const shape = { transactions: 4, logs: 6, entries: 3, calldataBytes: 68 }
  const [made] = createChain({ count: 1, shape, seed: 'hostile' })
  assert.ok(made !== undefined)
  return toDocuments(network, made.block, made.receipts)
}

const honest = smallBlock()
const sent = encodeBody(honest).body

/** The block with one value of one document replaced, sealed by someone who lies. */
function altered(section: Section, position: number, field: string, value: Value): BlockDocuments {
  const documents = honest.documents[section].map((document, at): Document => {
    if (at !== position) return document
    return { ...document, values: document.values.with(fieldIndex(section, field), value) }
  })
  return { ...honest, documents: { ...honest.documents, [section]: documents } }
}

test('documents that contradict their block, each other or their place are refused by name', async (t) => {
  const cases: [Section, number, string, Value][] = [
    ['Block', 0, 'timestamp', `0x${'f'.repeat(20)}`],
    ['Block', 0, 'timestamp', '0x1000000000000'],
    ['Transaction', 1, 'blockHash', word('1')],
    ['Transaction', 1, 'blockNumber', 99],
    ['Transaction', 1, 'transactionIndex', 2],
    ['Transaction', 1, 'hash', honest.documents.Transaction[0]?.values[0] ?? null],
    ['AccessListEntry', 2, 'blockNumber', 99],
    ['Log', 3, 'blockHash', word('1')],
    ['Log', 3, 'transactionHash', word('1')],
    ['Log', 3, 'blockNumber', 99],
    ['Log', 3, 'transactionIndex', 0],
    ['Log', 3, 'logIndex', 2],
    ['Log', 3, 'removed', 'maybe'],
  ]
  for (const [section, position, field, value] of cases) {
    await t.test(`${section}.${field}`, () => {
      const { body } = encodeBody(altered(section, position, field, value))
      assert.throws(() => verifyBody(network, body), {
        ...refusal,
        facts: { why: `${section} ${position} is wrong at ${field}` },
      })
    })
  }
})

test('logs and entries given to other transactions are refused, or change the root', () => {
  const { root } = verifyBody(network, sent)
  const shifted = (counts: readonly number[]): number[] => [...counts.slice(1), counts[0] ?? 0]
  const logs = { ...honest, logsPerTransaction: shifted([...honest.logsPerTransaction]) }
  assert.notDeepEqual(logs.logsPerTransaction, honest.logsPerTransaction)
  assert.throws(() => verifyBody(network, encodeBody(logs).body), refusal)
  const entries = { ...honest, entriesPerTransaction: shifted([...honest.entriesPerTransaction]) }
  assert.notDeepEqual(entries.entriesPerTransaction, honest.entriesPerTransaction)
  assert.notEqual(verifyBody(network, encodeBody(entries).body).root, root)
})

test('a flipped bit is refused, or changes no document', () => {
  const { root } = verifyBody(network, sent)
  fc.assert(
    fc.property(fc.nat(8 * sent.length - 1), (bit) => {
      const copy = Buffer.from(sent)
      copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const verified = attempt(() => verifyBody(network, copy))
      if (verified === undefined || verified.root !== root) return
      assert.equal(verified.number, honest.number)
      assert.equal(verified.hash, honest.hash)
    }),
    { numRuns: 1500 },
  )
})

test('a body that is cut off, or goes on after its end, is refused before anything is unpacked', () => {
  for (let length = 0; length < sent.length; length++) {
    assert.throws(() => openBody(sent.subarray(0, length)), refusal)
  }
  assert.throws(() => openBody(Buffer.concat([sent, Buffer.of(0)])), refusal)
})

test('any bytes are refused or opened, and nothing else is thrown', () => {
  const likely = fc.oneof(fc.constantFrom(0, 1, 2, 3, 127, 128, 255), fc.nat(255))
  const bytes = fc
    .array(likely, { maxLength: 60, size: 'max' })
    .map((tail) => Buffer.from([1, ...tail]))
  fc.assert(
    fc.property(fc.oneof(bytes, fc.uint8Array()), (body) => {
      attempt(() => openBody(body))
      attempt(() => verifyBody(network, body))
    }),
    { numRuns: 1500 },
  )
})

/** Bytes of a header with any claims, over the given chunks. */
function bodyOf(chunks: Partial<Record<Section, PackedChunk[]>>, transactions: number = 0): Buffer {
  const all = { Block: [], Transaction: [], AccessListEntry: [], Log: [], ...chunks }
  const out = createByteWriter()
  writeHeader(out, {
    totalDifficulty: null,
    logsPerTransaction: Array(transactions).fill(0),
    entriesPerTransaction: Array(transactions).fill(0),
    counts: { Block: 1, Transaction: transactions, AccessListEntry: 0, Log: 0 },
    chunks: all,
  })
  const stored = Object.values(all).flatMap((list) => list.map((chunk) => chunk.stored))
  return Buffer.concat([out.bytes.subarray(0, out.at), ...stored])
}

test('a chunk never unpacks to more than its directory entry says', () => {
  const bomb = zstdCompressSync(Buffer.alloc(50 * 1024 * 1024))
  const body = bodyOf({ Block: [{ length: 1, rawBytes: 10_000, stored: bomb }] })
  const before = process.memoryUsage().arrayBuffers
  assert.throws(() => verifyBody(network, body), refusal)
  assert.ok(process.memoryUsage().arrayBuffers - before < 5 * 1024 * 1024)
})

test('a directory that says more than the limit is refused before anything is unpacked', () => {
  const stored = zstdCompressSync(Buffer.alloc(1000))
  const body = bodyOf({ Block: [{ length: 1, rawBytes: 100 * 1024 * 1024, stored }] })
  assert.throws(() => openBody(body), {
    ...refusal,
    facts: { why: 'it unpacks to more than the limit' },
  })
  const { rawBytes } = openBody(sent).openChunk('Block', 0)
  assert.throws(() => openBody(sent, { maxRawBytes: rawBytes }), refusal)
  assert.doesNotThrow(() => openBody(sent, { maxRawBytes: 100_000 }))
})

test('a frame that asks for a large window is refused', () => {
  const values = encodeValues('Block', honest.documents.Block[0]?.values ?? [])
  const raw = Buffer.alloc(3 * 1024 * 1024)
  raw.writeUInt32LE(raw.length - 4)
  raw.set(values, 4)
  const stored = zstdCompressSync(raw, { params: { [constants.ZSTD_c_windowLog]: 27 } })
  assert.throws(
    () => verifyBody(network, bodyOf({ Block: [{ length: 1, rawBytes: raw.length, stored }] })),
    {
      ...refusal,
      facts: { why: 'a chunk does not unpack' },
    },
  )
})

test('a body cut into more chunks than needed is refused', () => {
  const [block, first, second] = ['Block', 'Transaction', 'Transaction'].map((_, at) => {
    const document = at === 0 ? honest.documents.Block[0] : honest.documents.Transaction[at - 1]
    assert.ok(document !== undefined)
    const values = encodeValues(document.collection, document.values)
    return packChunk([values.length], values, createByteWriter())
  })
  assert.ok(block !== undefined && first !== undefined && second !== undefined)
  assert.throws(() => openBody(bodyOf({ Block: [block], Transaction: [first, second] }, 2)), {
    ...refusal,
    facts: { why: 'a chunk has an impossible size' },
  })
})

test('a chunk whose lengths lie about its documents is refused', () => {
  const values = Buffer.from(encodeValues('Block', honest.documents.Block[0]?.values ?? []))
  for (const length of [0, values.length - 1, values.length + 1, 2 ** 32 - 1]) {
    const chunk = packChunk([length], values, createByteWriter())
    assert.throws(() => verifyBody(network, bodyOf({ Block: [chunk] })), refusal)
  }
})

test('a chunk is refused that is too short for the lengths of its documents', () => {
  const open = (bytes: number) => {
    const raw = Buffer.alloc(bytes)
    const chunk = { length: 1, rawBytes: bytes, stored: zstdCompressSync(raw) }
    return openBody(bodyOf({ Block: [chunk] })).openChunk('Block', 0)
  }
  assert.equal(open(4).values(0).length, 0)
  assert.throws(() => open(3), { ...refusal, facts: { why: 'a chunk is cut off' } })
  assert.throws(() => open(5), { ...refusal, facts: { why: 'a chunk’s documents do not fill it' } })
})

test('a chunk is refused that unpacks to less than its directory entry says', () => {
  const values = encodeValues('Block', honest.documents.Block[0]?.values ?? [])
  const chunk = packChunk([values.length], values, createByteWriter())
  assert.doesNotThrow(() => verifyBody(network, bodyOf({ Block: [chunk] })))
  const body = bodyOf({ Block: [{ ...chunk, rawBytes: chunk.rawBytes + 1 }] })
  assert.throws(() => verifyBody(network, body), {
    ...refusal,
    facts: { why: 'a chunk unpacks to another size' },
  })
})

test('a document whose bytes are not canonical is refused by its first wrong field', () => {
  const values = Buffer.from(encodeValues('Block', honest.documents.Block[0]?.values ?? []))
  const cutOff = values.subarray(0, -1)
  const body = bodyOf({ Block: [packChunk([cutOff.length], cutOff, createByteWriter())] })
  assert.throws(() => verifyBody(network, body), {
    ...refusal,
    facts: { why: 'Block 0 is wrong at uncles' },
  })
})

test('a block may be of the last second that a time can be written of, and of none after it', () => {
  const bodyAt = (timestamp: number) =>
    encodeBody(altered('Block', 0, 'timestamp', `0x${timestamp.toString(16)}`)).body
  assert.equal(verifyBody(network, bodyAt(maxTimestamp)).timestamp, maxTimestamp)
  assert.throws(() => verifyBody(network, bodyAt(maxTimestamp + 1)), refusal)
})

test('a chunk takes as many bytes as zstd may need for what it holds, and no more', () => {
  const entry = { first: 0, start: 0, length: 1 }
  for (const [rawBytes, most] of [
    [0, 64],
    [254, 318],
    [255, 320],
    [65_536, 65_857],
  ] as const) {
    assert.ok(isPossibleChunk({ ...entry, rawBytes, storedBytes: most }))
    assert.ok(!isPossibleChunk({ ...entry, rawBytes, storedBytes: most + 1 }))
    const { stored } = packChunk([rawBytes], randomBytes(rawBytes), createByteWriter())
    assert.ok(isPossibleChunk({ ...entry, rawBytes: rawBytes + 4, storedBytes: stored.length }))
  }
  const sizes = { first: 0, start: 0, rawBytes: 100, storedBytes: 100 }
  const accepted = [0, 1, 64, 65].filter((length) => isPossibleChunk({ ...sizes, length }))
  assert.deepEqual(accepted, [1, 64])
})

test('a chunk with others behind it is full: of documents, or of bytes beside their lengths', () => {
  const isFull = (length: number, valuesBytes: number): boolean =>
    isFullChunk({ first: 0, start: 0, storedBytes: 9, length, rawBytes: 4 * length + valuesBytes })
  assert.ok(isFull(chunkDocuments, 0))
  assert.ok(!isFull(chunkDocuments - 1, chunkValuesBytes - 1))
  assert.ok(isFull(1, chunkValuesBytes))
  assert.ok(!isFull(1, chunkValuesBytes - 1))
})

/** The result, or undefined when the body was refused; any other failure is passed on. */
function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'PRIMITIVES_BODY_MALFORMED') {
      return undefined
    }
    throw error
  }
}
