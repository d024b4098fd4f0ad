/** The header of a body: what its numbers say, and that they cannot claim more than there is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type BodyHeader,
  type ChunkEntry,
  chunkDocuments,
  parseHeader,
  writeHeader,
} from '../../../src/primitives/body/body-header.ts'
import { createByteWriter } from '../../../src/primitives/cbor.ts'
import { blockSections } from '../../../src/primitives/collections.ts'

type Parts = Parameters<typeof writeHeader>[1]
type Sizes = Parts['chunks']['Block'][number]

function written(parts: Parts): Buffer {
  const out = createByteWriter(1)
  writeHeader(out, parts)
  return out.bytes.subarray(0, out.at)
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)

/** Chunks of so many documents, each of so many bytes. */
function chunksOf(documents: number, bytesEach: number): Sizes[] {
  const chunks: Sizes[] = []
  for (let left = documents; left > 0; left -= chunkDocuments) {
    const length = Math.min(left, chunkDocuments)
    chunks.push({ length, rawBytes: length * bytesEach, stored: new Uint8Array(bytesEach) })
  }
  return chunks
}

const count = fc.oneof(fc.nat(2), fc.constantFrom(127, 128, 255, 256))
const parts: fc.Arbitrary<Parts> = fc
  .record({
    pairs: fc.array(fc.tuple(count, count), { maxLength: 130, size: 'max' }),
    totalDifficulty: fc.option(
      fc.oneof(fc.nat(300), fc.bigInt(0n, 2n ** 256n - 1n)).map((each) => `0x${each.toString(16)}`),
    ),
    bytesEach: fc.oneof(fc.constantFrom(127, 128, 16_383, 16_384), fc.integer({ min: 4, max: 9 })),
  })
  .map(({ pairs, totalDifficulty, bytesEach }) => {
    const [logs, entries] = [pairs.map(([log]) => log), pairs.map(([, entry]) => entry)]
    const counts = {
      Block: 1,
      Transaction: pairs.length,
      AccessListEntry: sum(entries),
      Log: sum(logs),
    }
    const chunks = {
      Block: chunksOf(1, bytesEach),
      Transaction: chunksOf(counts.Transaction, bytesEach),
      AccessListEntry: chunksOf(counts.AccessListEntry, bytesEach),
      Log: chunksOf(counts.Log, bytesEach),
    }
    return {
      totalDifficulty,
      logsPerTransaction: logs,
      entriesPerTransaction: entries,
      counts,
      chunks,
    }
  })

/** What is to be read of a header that takes so many bytes. */
function expected(given: Parts, headerBytes: number): BodyHeader {
  let start = headerBytes
  const [block, transaction, entry, log] = blockSections.map((section) => {
    let first = 0
    return given.chunks[section].map(({ length, rawBytes, stored }): ChunkEntry => {
      const chunk = { first, length, rawBytes, start, storedBytes: stored.length }
      first += length
      start += stored.length
      return chunk
    })
  })
  const endsOf = (counts: readonly number[]): Uint32Array =>
    Uint32Array.from(counts, (_, index) => sum(counts.slice(0, index + 1)))
  return {
    counts: given.counts,
    totalDifficulty: given.totalDifficulty,
    logEnds: endsOf(given.logsPerTransaction),
    entryEnds: endsOf(given.entriesPerTransaction),
    chunks: {
      Block: block ?? [],
      Transaction: transaction ?? [],
      AccessListEntry: entry ?? [],
      Log: log ?? [],
    },
  }
}

test('a header is read as it was written, up to the limit of what it unpacks to', () => {
  fc.assert(
    fc.property(parts, (given) => {
      const header = written(given)
      const chunks = Object.values(given.chunks).flat()
      const raw = sum(chunks.map(({ rawBytes }) => rawBytes))
      const whole = header.length + sum(chunks.map(({ stored }) => stored.length))
      assert.deepEqual(parseHeader(header, raw, whole), expected(given, header.length))
      assert.throws(
        () => parseHeader(header, raw - 1, whole),
        why('it unpacks to more than the limit'),
      )
      for (const wrong of [whole - 1, whole + 1])
        assert.throws(() => parseHeader(header, raw, wrong), why('its length is wrong'))
    }),
    { numRuns: 60 },
  )
})

const why = (text: string) => ({ code: 'PRIMITIVES_BODY_MALFORMED', facts: { why: text } })
const refused = (bytes: readonly number[], text: string): void =>
  assert.throws(() => parseHeader(Buffer.from(bytes), 100), why(text))

test('a header is refused by what is wrong with it', () => {
  const [million, more] = [
    [0xc0, 0x84, 0x3d],
    [0xc1, 0x84, 0x3d],
  ] as const
  refused([], 'its version is unknown')
  refused([2, 0, 0, 0, 0], 'its version is unknown')
  refused([1, 0, 0], 'it is cut off')
  refused([1, 0x80, 0x80], 'it is cut off')
  refused([1, ...million, 0, 0, 0, 0], 'it is cut off')
  refused([1, 0, ...million, 0, 0], 'its transactions do not add up')
  refused([1, 0, 0, ...million, 0], 'its transactions do not add up')
  for (const counts of [
    [...more, 0, 0],
    [0, ...more, 0],
    [0, 0, ...more],
    [255, 255, 255, 255, 127, 0, 0],
  ])
    refused([1, ...counts, 0], 'it claims too many documents')
  const notShortest = 'a number in its header is not in its shortest form'
  for (const number of [
    [0x80, 0],
    [0xff, 0x80, 0],
    [0x80, 0x80, 0x80, 0x80, 0x80, 1],
  ])
    refused([1, ...number, 0, 0, 0], notShortest)
})

test('a total difficulty is read up to 32 bytes, and refused where it is not minimal', () => {
  const headerOf = (bytes: readonly number[]): number[] => [
    ...[1, 0, 0, 0, bytes.length + 1, ...bytes],
    ...[1, 1, 0, 0, 0, 0, 0],
  ]
  const longest = Array<number>(32).fill(0x1f)
  for (const [bytes, text] of [
    [[], '0x0'],
    [[1], '0x1'],
    [[0x10, 0], '0x1000'],
    [longest, `0x${'1f'.repeat(32)}`],
  ] as const)
    assert.equal(parseHeader(Buffer.from(headerOf(bytes)), 100).totalDifficulty, text)
  for (const bytes of [[0], [0, 1]]) refused(headerOf(bytes), 'its total difficulty is not minimal')
  refused(headerOf([1, ...longest]), 'its total difficulty is too long')
  refused([1, 0, 0, 0, 4, 1, 1], 'its total difficulty is too long')
  refused([1, 0, 0, 0, 4, 1, 1, 1], 'it is cut off')
})

test('a total difficulty that is no quantity is refused, and its first 80 characters are shown', () => {
  const none = { Block: [], Transaction: [], AccessListEntry: [], Log: [] }
  const given = { counts: { Block: 0, Transaction: 0, AccessListEntry: 0, Log: 0 }, chunks: none }
  for (const value of ['0x', '0x01', '0xG', '12', `0x1${'0'.repeat(64)}`, `0x${'f'.repeat(100)}`]) {
    const found = value.slice(0, 80)
    const parts = { ...given, logsPerTransaction: [], entriesPerTransaction: [] }
    assert.throws(() => written({ ...parts, totalDifficulty: value }), {
      code: 'PRIMITIVES_BLOCK_MALFORMED',
      message: `Block.totalDifficulty cannot be stored as quantity: "${found}"`,
      facts: { collection: 'Block', field: 'totalDifficulty', found },
    })
  }
})

test('a section is refused with other chunks than its documents make', () => {
  /** A block of so many transactions, and the chunks of these. */
  const headerOf = (transactions: number, ...chunks: [length: number, raw: number][]): number[] => [
    ...[1, transactions, 0, 0, 0, ...Array<number>(2 * transactions).fill(0), 1, 1, 0, 0],
    ...[chunks.length, ...chunks.flatMap(([length, raw]) => [length, raw, 0]), 0, 0],
  ]
  const full = chunkDocuments
  assert.doesNotThrow(() => parseHeader(Buffer.from(headerOf(65, [full, 9], [1, 9])), 100))
  refused(headerOf(65, [full, 9]), 'its chunks do not add up')
  refused(headerOf(64, [full, 9], [1, 9]), 'its chunks do not add up')
  refused(headerOf(65, [1, 9], [full, 9]), 'a chunk has an impossible size')
  refused(headerOf(65, [full, 9], [0, 9]), 'a chunk has an impossible size')
  refused(headerOf(65, [full + 1, 9]), 'a chunk has an impossible size')
  refused(headerOf(1, [1, 9], [1, 9]), 'it has more chunks than documents')
  refused([...headerOf(1, [1, 9]), 0], 'its length is wrong')
})
