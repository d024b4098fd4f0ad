import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pino } from 'pino'
import { openWriter } from '../../../src/store/write/writer.ts'
import {
  everywhere,
  opaqueBlock,
  opaqueNetwork,
  opaqueSeal,
} from '../../support/chain/opaque-blocks.ts'
import { openTestStore, testDirectory } from '../../support/test-store.ts'

const log = pino({ enabled: false })

describe('pruning', () => {
  it('leaves exactly the retained number of blocks visible at every moment', async (t) => {
    const store = await openTestStore(t, 100)
    for (let height = 1; height <= 420; height++) {
      const written = store.putSealedBlock(opaqueBlock(height))
      if (height % 30 !== 0) continue
      await written
      await store.prune()
      store.reader.read((snapshot) => {
        const tail = Math.max(1, height - 99)
        assert.deepEqual(snapshot.range(), { tail, head: height })
        assert.equal([...snapshot.heights(0, 1e9, false)].length, Math.min(100, height))
        const found = [...snapshot.candidates('logAddress', everywhere, 0, 1e9, false)]
        assert.equal(found.length, Math.min(100, height))
        assert.equal(snapshot.header(tail - 1), undefined)
        assert.equal(snapshot.body(tail - 1), undefined)
        assert.equal(snapshot.heightOf(opaqueBlock(tail - 1).header.hash), undefined)
      })
    }
  })

  it('removes groups of blocks with their seals, also those of blocks that were replaced', async (t) => {
    const store = await openTestStore(t, 10)
    await store.putSealedBlock(opaqueBlock(5, 200, 'gone'))
    await store.truncateAbove(4)
    for (let height = 0; height < 25; height++) void store.putSealedBlock(opaqueBlock(height))
    await store.flushed()
    assert.equal(await store.prune(), 0)
    for (let height = 25; height < 84; height++) void store.putSealedBlock(opaqueBlock(height))
    await store.flushed()
    assert.equal(await store.prune(), 64)
    assert.equal(await store.prune(), 0)
    store.reader.read((snapshot) => {
      assert.deepEqual(snapshot.sealsOf(opaqueSeal(5, 'gone').blockHash), [])
      assert.deepEqual(snapshot.seals(5), [])
      assert.equal(snapshot.sealsOf(opaqueSeal(74).blockHash).length, 1)
    })
  })

  it('removes seals also where nothing else is stored of their height', async (t) => {
    const store = await openTestStore(t, 10)
    await store.putSeals(0, [opaqueSeal(0)])
    for (let height = 100; height <= 140; height++) void store.putBlock(opaqueBlock(height))
    await store.flushed()
    assert.equal(await store.prune(), 28)
    store.reader.read((snapshot) => assert.deepEqual(snapshot.seals(0), []))
  })

  it('keeps the blocks that are being written meanwhile', async (t) => {
    const store = await openTestStore(t, 10)
    for (let height = 0; height < 40; height++) void store.putSealedBlock(opaqueBlock(height))
    await store.flushed()
    const written = store.putSealedBlock(opaqueBlock(40))
    assert.equal(await store.prune(), 16)
    await written
    store.reader.read((snapshot) => assert.deepEqual(snapshot.range(), { tail: 31, head: 40 }))
  })

  it('ends when the store closes, and what is left is removed another time', async (t) => {
    const options = { path: testDirectory(t), network: opaqueNetwork, retainBlocks: 10 }
    const store = await openWriter(options, { log })
    for (let height = 0; height < 84; height++) void store.putSealedBlock(opaqueBlock(height))
    await store.flushed()
    const pruned = store.prune()
    await store.close()
    assert.equal(await pruned, 16)
    const again = await openWriter(options, { log })
    t.after(() => again.close())
    assert.equal(await again.prune(), 48)
  })

  it('does not store what lies below the tail, and the tail never moves down', async (t) => {
    const store = await openTestStore(t, 10)
    await store.putBlock(opaqueBlock(100))
    await store.putSealedBlock(opaqueBlock(90))
    await store.putSeals(90, [opaqueSeal(90)])
    await store.putSealedBlock(opaqueBlock(91))
    await store.truncateAbove(95)
    await store.putBlock(opaqueBlock(85))
    store.reader.read((snapshot) => {
      assert.deepEqual(snapshot.range(), { tail: 91, head: 91 })
      assert.deepEqual(snapshot.seals(90), [])
    })
    const others = [90, 91].map((height) => opaqueBlock(height, 200, 'other'))
    await store.replaceBlocks(85, 99, others)
    store.reader.read((snapshot) => {
      assert.deepEqual(snapshot.range(), { tail: 91, head: 91 })
      assert.deepEqual(snapshot.header(91), others[1]?.header)
      assert.deepEqual(snapshot.seals(90), [])
    })
    const higher = [92, 101].map((height) => opaqueBlock(height))
    await store.replaceBlocks(92, 99, higher)
    store.reader.read((snapshot) => assert.deepEqual(snapshot.range(), { tail: 92, head: 101 }))
  })

  it('takes effect on a store that kept more, when it is opened with a lower number', async (t) => {
    const path = testDirectory(t)
    const all = await openWriter({ path, network: opaqueNetwork, retainBlocks: null }, { log })
    await Promise.all(Array.from({ length: 300 }, (_, height) => all.putBlock(opaqueBlock(height))))
    await all.close()
    const few = await openWriter({ path, network: opaqueNetwork, retainBlocks: 20 }, { log })
    t.after(() => few.close())
    await few.putBlock(opaqueBlock(300))
    assert.equal(await few.prune(), 272)
    few.reader.read((snapshot) => assert.deepEqual(snapshot.range(), { tail: 281, head: 300 }))
  })

  it('reuses the file’s space: after ten windows it is at most 1.3 times what one needs', async (t) => {
    const path = testDirectory(t)
    const store = await openWriter({ path, network: opaqueNetwork, retainBlocks: 128 }, { log })
    t.after(() => store.close())
    const size = (): number => statSync(join(path, 'data.mdb')).size
    const window = 192
    let needed = 0
    for (let height = 0; height < 10 * window; height++) {
      // Sizes that vary by a factor of three are what leaves holes of the wrong size.
      const written = store.putSealedBlock(opaqueBlock(height, 8_000 + ((height * 7919) % 16_000)))
      if (height % 8 === 7) await written
      await store.prune()
      if (height === window - 1) needed = size()
    }
    assert.ok(size() <= needed * 1.3, `${size()} bytes, ${needed} for one window`)
  })
})
