import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { type BlockView, openBlockView } from '../../../src/graphql/rows/block-view.ts'
import {
  type ChunkWindow,
  fieldStart,
  holds,
  knowsFields,
  positionsWhere,
  positionsWith,
  windowOfChunk,
  windowValues,
} from '../../../src/graphql/rows/chunk-window.ts'
import { createOpenedViews } from '../../../src/graphql/rows/opened-views.ts'
import { rowAt } from '../../../src/graphql/rows/row.ts'
import { fieldReader } from '../../../src/graphql/rows/stored-value.ts'
import type { Chunk } from '../../../src/primitives/body/chunk.ts'
import { createByteWriter, major, writeBytes, writeHead } from '../../../src/primitives/cbor.ts'
import { blockSections, fieldIndex } from '../../../src/primitives/collections.ts'
import { readField, valueCount } from '../../../src/primitives/values.ts'
import type { Snapshot, StoredBlock } from '../../../src/store/store.ts'
import { type BlockShape, createChain } from '../../support/chain/block-factory.ts'
import { storableBlock, valuesAt } from '../../support/chain/store-blocks.ts'
import { openTestStore } from '../../support/test-store.ts'
import { createTestBudget } from '../support/graphql-room.ts'

/** A store with one block of this shape, at height 1. */
async function storeOne(
  t: TestContext,
  shape: BlockShape,
): Promise<{ snapshot: Snapshot; stored: StoredBlock }> {
  const store = await openTestStore(t)
  for (const block of createChain({ count: 1, shape }))
    await store.putSealedBlock(storableBlock(block))
  const snapshot = store.reader.snapshot()
  t.after(() => snapshot.release())
  const stored = snapshot.block(1)
  assert.ok(stored)
  return { snapshot, stored }
}

test('a window has the documents that the store returns one by one', async (t) => {
  const { snapshot, stored } = await storeOne(t, {
    transactions: 150,
    logs: 200,
    entries: 5,
    calldataBytes: 40,
  })
  for (const section of blockSections) {
    for (let index = 0; index < stored.chunkCount(section); index++) {
      const chunk = stored.openChunk(section, index)
      const window = windowOfChunk(chunk)
      assert.deepEqual([window.first, window.end], [chunk.first, chunk.first + chunk.length])
      for (let position = window.first; position < window.end; position++) {
        const values = chunk.values(position)
        assert.deepEqual(windowValues(window, position), values)
        assert.ok(positionsWith(window, values.subarray(0, 30)).includes(position))
      }
      assert.deepEqual(positionsWith(window, Buffer.alloc(20, 0xab)), [])
      const again = snapshot.block(1)?.openChunk(section, index)
      assert.equal(again && windowOfChunk(again).found, window.found, 'known to the next request')
    }
  }
})

test('a value read at the offset of its window is the one that the codec reads', async (t) => {
  const { snapshot, stored } = await storeOne(t, {
    transactions: 150,
    logs: 200,
    entries: 70,
    calldataBytes: 40,
  })
  const opened = createOpenedViews(createTestBudget())
  const block = openBlockView({ snapshot, opened } as never, snapshot, 1) as BlockView
  for (const section of blockSections) {
    for (let round = 0; round < 2; round++) {
      for (let index = 0; index < valueCount(section); index++) {
        const read = fieldReader(section, index)
        for (let position = 0; position < stored.counts[section]; position++) {
          const expected = readField(section, valuesAt(stored, section, position), index)
          assert.deepEqual(read(rowAt(block, position)), expected, `${section} ${index}`)
        }
      }
    }
  }
})

test('documents are found by a field of any length, and by no bytes of another field', async (t) => {
  const { stored } = await storeOne(t, {
    transactions: 60,
    logs: 90,
    entries: 9,
    calldataBytes: 40,
  })
  const searched = [
    ['Transaction', 'hash'],
    ['Transaction', 'from'],
    ['Log', 'address'],
    ['Log', 'transactionHash'],
    ['AccessListEntry', 'address'],
  ] as const
  for (const [section, name] of searched) {
    const [field, count] = [fieldIndex(section, name), valueCount(section)]
    for (let chunk = 0; chunk < stored.chunkCount(section); chunk++) {
      const window = windowOfChunk(stored.openChunk(section, chunk))
      while (!knowsFields(window, count));
      const positions = Array.from(
        { length: window.end - window.first },
        (_, index) => window.first + index,
      )
      const valueAt = (at: number) => readField(section, windowValues(window, at), field)
      for (const value of new Set(positions.map(valueAt))) {
        const needle = Buffer.from(String(value).slice(2), 'hex')
        assert.deepEqual(
          positionsWhere(window, count, field, needle),
          positions.filter((at) => valueAt(at) === value),
          `${section}.${name}`,
        )
      }
      assert.deepEqual(positionsWhere(window, count, field, Buffer.alloc(20, 0xab)), [])
    }
  }
})

/** Byte strings of a length, many of which begin alike. */
const bytesOf = (length: number) =>
  fc.tuple(fc.constantFrom(0, 1), fc.constantFrom(0, 1)).map(([fourth, last]) => {
    const bytes = Buffer.alloc(length)
    bytes[3] = fourth
    bytes[length - 1] = last
    return bytes
  })

/** A window of documents from position 64 on. */
function windowOf(documents: readonly (readonly Buffer[])[]): ChunkWindow {
  const out = createByteWriter()
  const starts = [0]
  for (const document of documents) {
    writeHead(out, major.array, document.length)
    for (const value of document) writeBytes(out, value)
    starts.push(out.at)
  }
  return windowOfChunk({
    ...{ first: 64, length: documents.length },
    bytes: Buffer.from(out.bytes.subarray(0, out.at)),
    starts: Uint32Array.from(starts),
    found: { fields: null, heads: [], reads: 0 },
  } as Partial<Chunk> as Chunk)
}

test('documents are found by the whole value of one field', () => {
  const anyLength = fc.constantFrom(4, 5, 23, 24, 25, 255)
  const anySearch = anyLength.chain((length) =>
    fc.record({
      documents: fc.array(fc.tuple(bytesOf(5), bytesOf(length)), { maxLength: 10 }),
      value: bytesOf(length),
    }),
  )
  fc.assert(
    fc.property(anySearch, ({ documents, value }) => {
      const window = windowOf(documents)
      while (!knowsFields(window, 2));
      assert.deepEqual(
        positionsWhere(window, 2, 1, value),
        documents.flatMap(([, field], index) => (field.equals(value) ? [64 + index] : [])),
      )
    }),
    { numRuns: 300 },
  )
})

test('the fields of a window are known once 16 were read', () => {
  const window = windowOf([[Buffer.alloc(4)]])
  const known = Array.from({ length: 18 }, () => knowsFields(window, 1))
  assert.deepEqual(known, [...Array.from({ length: 16 }, () => false), true, true])
})

test('a window holds the positions from its first to the one before its end', () => {
  const window = windowOf([[Buffer.alloc(4)], [Buffer.alloc(4)]])
  assert.deepEqual(
    [63, 64, 65, 66].map((position) => holds(window, position)),
    [false, true, true, false],
  )
})

test('documents are found by a field and by their bytes', async (t) => {
  const { stored } = await storeOne(t, {
    transactions: 3,
    logs: 60,
    entries: 0,
    calldataBytes: 0,
  })
  const window = windowOfChunk(stored.openChunk('Log', 0))
  const count = valueCount('Log')
  while (!knowsFields(window, count));
  for (let position = 0; position < 60; position++) {
    const address = fieldStart(window, count, position, 0) + 1
    const needle = window.bytes.subarray(address, address + 20)
    assert.deepEqual(positionsWhere(window, count, 0, needle), positionsWith(window, needle))
    assert.ok(positionsWhere(window, count, 0, needle).includes(position))
  }
})
