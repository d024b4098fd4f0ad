import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SealedBlockToStore, StoreReader, StoreWriter } from '../../../src/store/store.ts'
import { createChain, forkChain, shapes } from '../../support/chain/block-factory.ts'
import { everywhere, opaqueBlock } from '../../support/chain/opaque-blocks.ts'
import { storableBlock, valuesAt } from '../../support/chain/store-blocks.ts'
import { openTestStore, storedChain } from '../../support/test-store.ts'

const range = (from: number, to: number, branch = 'main'): SealedBlockToStore[] =>
  Array.from({ length: to - from + 1 }, (_, index) => opaqueBlock(from + index, 200, branch))

async function putAll(store: StoreWriter, blocks: readonly SealedBlockToStore[]): Promise<void> {
  await Promise.all(blocks.map((block) => store.putSealedBlock(block)))
  await store.flushed()
}

/** Every block can be found by its hash and by the value that all have; nothing else is found. */
function assertHolds(reader: StoreReader, blocks: readonly SealedBlockToStore[]): void {
  const chain = blocks.map(({ header }) => [header.number, header.hash])
  assert.deepEqual(storedChain(reader), chain)
  reader.read((snapshot) => {
    const found = [...snapshot.candidates('logAddress', everywhere, 0, 1e9, false)]
    const heights = blocks.map(({ header }) => header.number)
    assert.deepEqual(
      found.map(({ height }) => height),
      heights,
    )
    for (const { header, body } of blocks) {
      assert.equal(snapshot.heightOf(header.hash), header.number)
      assert.deepEqual(Buffer.from(snapshot.body(header.number) ?? []), Buffer.from(body))
      const value = Buffer.from(header.hash.slice(2), 'hex')
      const there = [...snapshot.candidates('blockHash', value, 0, 1e9, true)]
      assert.deepEqual(there, [{ height: header.number, section: 'Block', chunk: 0 }])
    }
  })
}

describe('a reorganisation', () => {
  it('of 64 blocks is one transaction: a reader sees the old chain or the new one', async (t) => {
    const store = await openTestStore(t)
    const old = range(1, 200)
    const branch = range(137, 203, 'branch')
    await putAll(store, old)
    const before = store.reader.snapshot()
    await store.replaceBlocks(137, Number.POSITIVE_INFINITY, branch)
    await store.flushed()
    assert.equal(before.range()?.head, 200)
    assert.equal(before.header(150)?.hash, old[149]?.header.hash)
    assert.deepEqual(Buffer.from(before.body(150) ?? []), Buffer.from(old[149]?.body ?? []))
    assert.equal([...before.candidates('logAddress', everywhere, 0, 1e9, true)].length, 200)
    before.release()
    assertHolds(store.reader, [...old.slice(0, 136), ...branch])
  })

  it('that reaches into merged spans splits them and merges them again', async (t) => {
    const store = await openTestStore(t)
    const old = range(0, 320)
    await putAll(store, old)
    await store.truncateAbove(40)
    assertHolds(store.reader, old.slice(0, 41))
    const branch = range(41, 330, 'branch')
    await putAll(store, branch)
    assertHolds(store.reader, [...old.slice(0, 41), ...branch])
    await store.putBlock(opaqueBlock(100, 200, 'third'))
    const mixed = [...old.slice(0, 41), ...branch].map((block) =>
      block.header.number === 100 ? opaqueBlock(100, 200, 'third') : block,
    )
    assert.deepEqual(
      storedChain(store.reader),
      mixed.map(({ header }) => [header.number, header.hash]),
    )
    store.reader.read((snapshot) => {
      const found = [...snapshot.candidates('logAddress', everywhere, 0, 1e9, false)]
      assert.equal(found.length, mixed.length)
    })
  })

  it('that reaches into a merged span leaves nothing of it, nor of a block that came later', async (t) => {
    const store = await openTestStore(t)
    const old = range(0, 200)
    await putAll(store, old)
    await store.replaceBlocks(100, 101, [])
    await store.flushed()
    await putAll(store, range(100, 100))
    const branch = range(90, 110, 'branch')
    await store.replaceBlocks(90, 110, branch)
    await store.flushed()
    assertHolds(store.reader, [...old.slice(0, 90), ...branch, ...old.slice(111)])
  })

  it('never shows cached rows of the abandoned branch', async (t) => {
    const store = await openTestStore(t)
    const chain = createChain({ count: 4, shape: shapes.tiny })
    const fork = forkChain(chain, 2, { count: 3 })
    const hashesOf = (height: number): Buffer[] =>
      store.reader.read((snapshot) => {
        const block = snapshot.block(height)
        assert.ok(block)
        return [valuesAt(block, 'Block', 0), valuesAt(block, 'Log', 1)].map((one) =>
          Buffer.from(one),
        )
      })
    await putAll(
      store,
      chain.map((block) => storableBlock(block)),
    )
    const old = hashesOf(3)
    await store.replaceBlocks(
      3,
      Number.POSITIVE_INFINITY,
      fork.slice(2).map((block) => storableBlock(block)),
    )
    const replaced = hashesOf(3)
    assert.notDeepEqual(replaced, old)
    await store.replaceBlocks(
      3,
      Number.POSITIVE_INFINITY,
      chain.slice(2).map((block) => storableBlock(block)),
    )
    assert.deepEqual(hashesOf(3), old)
  })

  it('of nothing changes nothing, and readers keep what they know', async (t) => {
    const store = await openTestStore(t)
    const blocks = range(1, 5)
    await putAll(store, blocks)
    const epoch = () => store.reader.read((snapshot) => snapshot.epoch)
    const before = epoch()
    await store.truncateAbove(5)
    await store.replaceBlocks(10, Number.POSITIVE_INFINITY, [])
    assert.equal(epoch(), before)
    assertHolds(store.reader, blocks)
  })

  it('below a gap leaves the blocks above it alone', async (t) => {
    const store = await openTestStore(t, null)
    const low = range(1, 5)
    const high = range(500, 599)
    await putAll(store, [...low, ...high])
    const branch = range(4, 7, 'branch')
    await store.replaceBlocks(4, 5, branch)
    await store.flushed()
    assertHolds(store.reader, [...low.slice(0, 3), ...branch, ...high])
  })
})
