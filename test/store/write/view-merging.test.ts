/** What a merged index table of a View keeps, and that values are found in it and in those of single blocks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import type { StoreWriter } from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { rowTermValue } from '../../../src/views/rows/rows.ts'
import { opaqueBlock, opaqueNetwork } from '../../support/chain/opaque-blocks.ts'
import { testDirectory } from '../../support/test-store.ts'
import { viewBlock } from '../../support/view-rows.ts'
import { assertNothingLeftOver } from '../support/stored-keys.ts'

const slot = 3
const headers = Array.from({ length: 200 }, (_, height) => opaqueBlock(height, 50).header)

/** A store of 200 blocks, of which those of the first two spans are deep enough. */
async function openChain(path: string): Promise<StoreWriter> {
  const options = { path, network: opaqueNetwork, retainBlocks: null }
  const store = await openWriter(options, { log: pino({ enabled: false }) })
  await Promise.all(headers.map(({ number }) => store.putBlock(opaqueBlock(number, 50))))
  return store
}

test('a table stays while a block is in it, and has nothing of rows that were replaced', async (t) => {
  const path = testDirectory(t)
  const store = await openChain(path)
  const found = (name: string): number[] =>
    store.reader.read((snapshot) => {
      const candidates = snapshot.viewCandidates(slot, 0, rowTermValue(name), 0, 1e9, false)
      return [...candidates].map(({ height }) => height)
    })
  const put = async (last: number, name: string): Promise<void> => {
    const blocks = headers.slice(0, last + 1)
    const made = blocks.map((header) => viewBlock(header, [{ name: `${name} ${header.number}` }]))
    await store.putViewRows(slot, made)
    await store.flushed()
  }
  const fail = async (last: number): Promise<void> => {
    const failed = headers.slice(0, last + 1).map(({ number: height, hash: blockHash }) => {
      return { height, blockHash, failure: Buffer.from('why') }
    })
    await store.putViewRows(slot, failed)
  }
  await put(63, 'first')
  await fail(62)
  assert.deepEqual(['first 5', 'first 63'].map(found), [[], [63]])
  await put(62, 'second')
  assert.deepEqual(['first 5', 'second 5', 'first 63'].map(found), [[], [5], [63]])
  await fail(63)
  const size = store.reader.read((snapshot) => snapshot.viewSize(slot))
  assert.deepEqual(size, { rows: 0, bytes: 0 })
  await store.close()
  await assertNothingLeftOver(path)
})

test('blocks without rows take no table', async (t) => {
  const path = testDirectory(t)
  const store = await openChain(path)
  await store.putEmptyViewBlocks(
    headers.map(({ number: height, hash: blockHash }) => ({ height, blockHash, slots: [slot] })),
  )
  await store.flushed()
  const size = store.reader.read((snapshot) => snapshot.viewSize(slot))
  assert.deepEqual(size, { rows: 0, bytes: 0 })
  await store.close()
  await assertNothingLeftOver(path)
})

test('a value is found in order in merged and single tables, in either direction', async (t) => {
  const store = await openChain(testDirectory(t))
  t.after(() => store.close())
  const heights = (from: number, to: number): number[] =>
    headers.slice(from, to + 1).map(({ number }) => number)
  const put = (of: readonly number[]): Promise<unknown> => {
    const wanted = headers.filter(({ number }) => of.includes(number))
    return store.putViewRows(
      slot,
      wanted.map((header) => viewBlock(header, [{ name: 'everywhere' }])),
    )
  }
  await put([...heights(0, 63), ...heights(130, 140), ...heights(150, 160)])
  await store.flushed()
  const taken = headers.filter(({ number }) => [5, 20, 40].includes(number))
  const failed = taken.map(({ number: height, hash: blockHash }) => {
    return { height, blockHash, failure: Buffer.from('why') }
  })
  await store.putViewRows(slot, failed)
  await store.clearViewFailures(slot)
  // As long as one of its blocks is not done, the others are not merged into the table again.
  await put([5, 40])
  await store.flushed()
  const found = (descending: boolean): number[] =>
    store.reader.read((snapshot) => {
      const value = rowTermValue('everywhere')
      const candidates = snapshot.viewCandidates(slot, 0, value, 0, 1e9, descending)
      return [...candidates].map(({ height }) => height)
    })
  const low = heights(0, 63).filter((height) => height !== 20)
  const expected = [...low, ...heights(130, 140), ...heights(150, 160)]
  assert.deepEqual([found(false), found(true)], [expected, expected.toReversed()])
})
