import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBody } from '../../../src/primitives/body/body.ts'
import { type ChunkEntry, parseHeader } from '../../../src/primitives/body/body-header.ts'
import { packChunk } from '../../../src/primitives/body/chunk.ts'
import { createByteWriter } from '../../../src/primitives/cbor.ts'
import { blockSections } from '../../../src/primitives/collections.ts'
import { pieceBytes, type StoredHeader } from '../../../src/store/disk/layout.ts'
import { createBlockCache } from '../../../src/store/read/block-cache.ts'
import type { ReadPiece } from '../../../src/store/read/stored-pieces.ts'
import { opaqueBlock } from '../../support/chain/opaque-blocks.ts'

/** What an opened body takes beside its header, and a chunk beside its bytes. */
const overheadBytes = 1024
/** What a header takes for each of its bytes. */
const parsedFactor = 12

/** A block as it is stored, with documents of so many bytes. */
function storedBlock(serial: number, bytes: number): { stored: StoredHeader; read: ReadPiece } {
  const { header, body } = opaqueBlock(serial, bytes)
  const [{ start: headBytes } = assert.fail()] = parseHeader(body, bytes + 4).chunks.Block
  return {
    stored: { header, serial, headBytes },
    read: (piece) => Buffer.from(body.subarray(piece * pieceBytes, (piece + 1) * pieceBytes)),
  }
}

const none = () => ({ bodies: { hits: 0, misses: 0 }, chunks: { hits: 0, misses: 0 } })

/** Reads blocks of a cache that has room for four: what was read last is kept. */
function assertKeepsFour(
  counted: { hits: number; misses: number },
  read: (serial: number) => void,
) {
  const missesOf = (...serials: readonly number[]): number => {
    const before = counted.misses
    for (const serial of serials) read(serial)
    return counted.misses - before
  }
  assert.equal(missesOf(1, 2, 3, 4, 1, 2, 3, 4), 4)
  assert.equal(missesOf(5), 1)
  assert.equal(missesOf(2, 3, 4, 5), 0)
  assert.equal(missesOf(1), 1)
  assert.deepEqual(counted, { hits: 8, misses: 6 })
}

test('an eighth of a cache is for the headers of bodies, and what was read last is kept', () => {
  const blocks = [1, 2, 3, 4, 5].map((serial) => storedBlock(serial, 100))
  const [
    {
      stored: { headBytes },
    } = assert.fail(),
  ] = blocks
  const reads = none()
  const cache = createBlockCache(8 * 4 * (overheadBytes + parsedFactor * headBytes), reads)
  assertKeepsFour(reads.bodies, (serial) => {
    const { stored, read } = blocks[serial - 1] ?? assert.fail()
    cache.open(stored, read)
  })
})

test('the rest of a cache is for unpacked chunks, and what was read last is kept', () => {
  const bytes = 4_000
  const blocks = [1, 2, 3, 4, 5].map((serial) => storedBlock(serial, bytes))
  const reads = none()
  const chunkBytes = bytes + 4
  const cache = createBlockCache(Math.ceil((4 * (chunkBytes + overheadBytes) * 8) / 7), reads)
  assertKeepsFour(reads.chunks, (serial) => {
    const { stored, read } = blocks[serial - 1] ?? assert.fail()
    const chunk = cache.chunk(stored, cache.open(stored, read), 'Block', 0, read)
    const { body } = opaqueBlock(serial, bytes)
    assert.deepEqual(chunk.values(0), openBody(body).openChunk('Block', 0).values(0))
  })
})

test('chunks are told apart by block, section and number, however many blocks were stored', () => {
  const cache = createBlockCache(1024 * 1024, none())
  const places = blockSections.flatMap((section) => [0, 1].map((index) => ({ section, index })))
  const blocks = [1, 2, 3, 2 ** 18 + 1].map((serial) => {
    const chunks = places.map(({ section, index }) => {
      const text = `${serial} ${section} ${index}`
      const { stored, rawBytes } = packChunk([text.length], Buffer.from(text), createByteWriter())
      return { section, index, text, stored, rawBytes }
    })
    const bytes = Buffer.concat(chunks.map(({ stored }) => stored))
    const entriesOf = (of: string): ChunkEntry[] =>
      chunks.flatMap(({ section, stored, rawBytes }) => {
        const start = bytes.indexOf(stored)
        const size = { rawBytes, start, storedBytes: stored.length }
        return section === of ? [{ first: 0, length: 1, ...size }] : []
      })
    const opened = Object.fromEntries(blockSections.map((each) => [each, entriesOf(each)]))
    return { serial, chunks, bytes, opened: { places: opened } as never }
  })
  for (let time = 0; time < 2; time++)
    for (const { serial, chunks, bytes, opened } of blocks)
      for (const { section, index, text } of chunks) {
        const chunk = cache.chunk({ serial } as StoredHeader, opened, section, index, () => bytes)
        assert.equal(Buffer.from(chunk.values(0)).toString(), text)
      }
})
