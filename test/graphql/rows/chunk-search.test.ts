import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { type BlockView, openBlockView } from '../../../src/graphql/rows/block-view.ts'
import {
  fieldStart,
  holds,
  knowsFields,
  positionsWhere,
  positionsWith,
} from '../../../src/graphql/rows/chunk-search.ts'
import { createOpenedViews } from '../../../src/graphql/rows/opened-views.ts'
import { rowAt } from '../../../src/graphql/rows/row.ts'
import { fieldReader } from '../../../src/graphql/rows/stored-value.ts'
import { type Chunk, packChunk, unpackChunk } from '../../../src/primitives/body/chunk.ts'
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

test('a chunk is searched for the bytes of its documents', async (t) => {
  const { snapshot, stored } = await storeOne(t, {
    transactions: 150,
    logs: 200,
    entries: 5,
    calldataBytes: 40,
  })
  for (const section of blockSections) {
    for (let index = 0; index < stored.chunkCount(section); index++) {
      const chunk = stored.openChunk(section, index)
      for (let position = chunk.first; position < chunk.first + chunk.length; position++) {
        const values = chunk.values(position)
        assert.ok(positionsWith(chunk, values.subarray(0, 30)).includes(position))
      }
      assert.deepEqual(positionsWith(chunk, Buffer.alloc(20, 0xab)), [])
      const again = snapshot.block(1)?.openChunk(section, index)
      assert.equal(again?.found, chunk.found, 'known to the next request')
    }
  }
})

test('a value read at its offset in a chunk is the one that the codec reads', async (t) => {
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
    for (let number = 0; number < stored.chunkCount(section); number++) {
      const chunk = stored.openChunk(section, number)
      while (!knowsFields(chunk, count));
      const positions = Array.from({ length: chunk.length }, (_, index) => chunk.first + index)
      const valueAt = (at: number) => readField(section, chunk.values(at), field)
      for (const value of new Set(positions.map(valueAt))) {
        const needle = Buffer.from(String(value).slice(2), 'hex')
        assert.deepEqual(
          positionsWhere(chunk, count, field, needle),
          positions.filter((at) => valueAt(at) === value),
          `${section}.${name}`,
        )
      }
      assert.deepEqual(positionsWhere(chunk, count, field, Buffer.alloc(20, 0xab)), [])
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

/** A chunk of documents from position 64 on. */
function chunkOf(documents: readonly (readonly Buffer[])[]): Chunk {
  const [values, raw] = [createByteWriter(), createByteWriter()]
  const lengths = documents.map((document) => {
    const start = values.at
    writeHead(values, major.array, document.length)
    for (const value of document) writeBytes(values, value)
    return values.at - start
  })
  const { length, rawBytes, stored } = packChunk(lengths, values.bytes.subarray(0, values.at), raw)
  return unpackChunk(stored, { first: 64, length, rawBytes, start: 0, storedBytes: stored.length })
}

test('documents are found by the whole value of one field', () => {
  const anyLength = fc.constantFrom(4, 5, 23, 24, 25, 255)
  const anySearch = anyLength.chain((length) =>
    fc.record({
      documents: fc.array(fc.tuple(bytesOf(5), bytesOf(length)), { minLength: 1, maxLength: 10 }),
      value: bytesOf(length),
    }),
  )
  fc.assert(
    fc.property(anySearch, ({ documents, value }) => {
      const chunk = chunkOf(documents)
      while (!knowsFields(chunk, 2));
      assert.deepEqual(
        positionsWhere(chunk, 2, 1, value),
        documents.flatMap(([, field], index) => (field.equals(value) ? [64 + index] : [])),
      )
    }),
    { numRuns: 300 },
  )
})

test('the fields of a chunk are known once 16 were read', () => {
  const chunk = chunkOf([[Buffer.alloc(4)]])
  const known = Array.from({ length: 18 }, () => knowsFields(chunk, 1))
  assert.deepEqual(known, [...Array.from({ length: 16 }, () => false), true, true])
})

test('a chunk holds the positions from its first to the one before its end', () => {
  const chunk = chunkOf([[Buffer.alloc(4)], [Buffer.alloc(4)]])
  assert.deepEqual(
    [63, 64, 65, 66].map((position) => holds(chunk, position)),
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
  const chunk = stored.openChunk('Log', 0)
  const count = valueCount('Log')
  while (!knowsFields(chunk, count));
  for (let position = 0; position < 60; position++) {
    const address = fieldStart(chunk, count, position, 0) + 1
    const needle = chunk.bytes.subarray(address, address + 20)
    assert.deepEqual(positionsWhere(chunk, count, 0, needle), positionsWith(chunk, needle))
    assert.ok(positionsWhere(chunk, count, 0, needle).includes(position))
  }
})
