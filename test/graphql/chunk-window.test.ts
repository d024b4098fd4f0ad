import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWindow, positionsWith, windowValues } from '../../src/graphql/chunk-window.ts'
import { blockSections } from '../../src/primitives/collections.ts'
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
