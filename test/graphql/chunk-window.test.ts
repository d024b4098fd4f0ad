import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BlockView, openBlockView } from '../../src/graphql/block-view.ts'
import {
  fieldStart,
  knowsFields,
  openWindow,
  positionsWhere,
  positionsWith,
  windowValues,
} from '../../src/graphql/chunk-window.ts'
import { rowAt } from '../../src/graphql/row.ts'
import { fieldReader } from '../../src/graphql/stored-value.ts'
import { blockSections } from '../../src/primitives/collections.ts'
import { readField, valueCount } from '../../src/primitives/values.ts'
import type { StoredBlock } from '../../src/store/store.ts'
import { createChain } from '../support/block-factory.ts'
import { storableBlock } from '../support/store-blocks.ts'
import { openTestStore } from '../support/test-store.ts'

test('a window shows the documents that the store shows one by one', async (t) => {
  const shape = { transactions: 150, logs: 200, entries: 5, calldataBytes: 40 }
  const store = await openTestStore(t)
  for (const block of createChain({ count: 2, shape }))
    await store.putSealedBlock(storableBlock(block))
  const snapshot = store.reader.snapshot()
  t.after(() => snapshot.release())
  for (const height of [1, 2]) {
    const stored = snapshot.block(height) as StoredBlock
    for (const section of blockSections) {
      for (let chunk = 0; chunk < stored.chunkCount(section); chunk++) {
        const [first, end] = stored.chunkRange(section, chunk)
        const window = openWindow(stored, section, first, end)
        assert.ok(window !== null, `${section} ${chunk}`)
        for (let position = first; position < end; position++) {
          const values = stored.values(section, position)
          assert.deepEqual(windowValues(window, position), values)
          assert.ok(positionsWith(window, values.subarray(0, 30)).includes(position))
        }
        assert.deepEqual(positionsWith(window, Buffer.alloc(20, 0xab)), [])
        assert.equal(openWindow(stored, section, first, end), window, 'found again')
      }
    }
  }
})

test('bytes that do not add up make no window', () => {
  const bytes = new Uint8Array(64)
  const values = (_: string, position: number) =>
    bytes.subarray(16 + position * 4, 20 + position * 4)
  const stored = { values } as unknown as StoredBlock
  assert.equal(openWindow(stored, 'Log', 0, 3), null)
})

test('a value read where its window says it begins is the one that the codec reads', async (t) => {
  const shape = { transactions: 150, logs: 200, entries: 70, calldataBytes: 40 }
  const store = await openTestStore(t)
  for (const block of createChain({ count: 1, shape }))
    await store.putSealedBlock(storableBlock(block))
  const snapshot = store.reader.snapshot()
  t.after(() => snapshot.release())
  const block = openBlockView({ snapshot } as never, 1) as BlockView
  const stored = snapshot.block(1) as StoredBlock
  for (const section of blockSections) {
    for (let round = 0; round < 2; round++) {
      for (let index = 0; index < valueCount(section); index++) {
        const read = fieldReader(section, index)
        for (let position = 0; position < stored.counts[section]; position++) {
          const expected = readField(section, stored.values(section, position), index)
          assert.deepEqual(read(rowAt(block, position)), expected, `${section} ${index}`)
        }
      }
    }
  }
})

test('documents are found by a field as well as by their bytes', async (t) => {
  const shape = { transactions: 3, logs: 60, entries: 0, calldataBytes: 0 }
  const store = await openTestStore(t)
  for (const block of createChain({ count: 1, shape }))
    await store.putSealedBlock(storableBlock(block))
  const snapshot = store.reader.snapshot()
  t.after(() => snapshot.release())
  const window = openWindow(snapshot.block(1) as StoredBlock, 'Log', 0, 60)
  assert.ok(window !== null)
  const count = valueCount('Log')
  while (!knowsFields(window, count));
  for (let position = 0; position < 60; position++) {
    const address = fieldStart(window, count, position, 0) + 1
    const needle = window.bytes.subarray(address, address + 20)
    assert.deepEqual(positionsWhere(window, count, 0, needle), positionsWith(window, needle))
    assert.ok(positionsWhere(window, count, 0, needle).includes(position))
  }
})
