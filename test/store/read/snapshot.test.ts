import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { openBody } from '../../../src/primitives/body/body.ts'
import { openReader } from '../../../src/store/read/reader.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { captureLog } from '../../support/captured-log.ts'
import { everywhere, opaqueBlock, opaqueNetwork } from '../../support/chain/opaque-blocks.ts'
import { openTestStore, testDirectory } from '../../support/test-store.ts'
import { writtenBytes } from '../support/store-program.ts'
import type { ReaderReport } from '../support/store-reader-thread.ts'

const log = pino({ enabled: false })
const readerThread = new URL('../support/store-reader-thread.ts', import.meta.url)

describe('a snapshot', () => {
  it('stays the same across awaits while blocks are put, removed and pruned', async (t) => {
    const store = await openTestStore(t, 70)
    const put = async (from: number, to: number): Promise<void> => {
      for (let height = from; height < to; height++) void store.putSealedBlock(opaqueBlock(height))
      await store.putSealedBlock(opaqueBlock(to))
    }
    await put(0, 69)
    const snapshot = store.reader.snapshot()
    await put(70, 320)
    await store.replaceBlocks(301, Number.POSITIVE_INFINITY, [opaqueBlock(301, 100, 'other')])
    assert.equal(await store.prune(), 240)
    await put(302, 400)
    assert.deepEqual(snapshot.range(), { tail: 0, head: 69 })
    assert.deepEqual(snapshot.header(3), opaqueBlock(3).header)
    assert.deepEqual(Buffer.from(snapshot.body(0) ?? []), opaqueBlock(0).body)
    assert.equal([...snapshot.candidates('logAddress', everywhere, 0, 1e9, true)].length, 70)
    snapshot.release()
    assert.deepEqual(
      store.reader.read((now) => now.range()),
      { tail: 331, head: 400 },
    )
  })

  it('sees every write whose promise resolved before', async (t) => {
    const store = await openTestStore(t)
    for (let height = 0; height < 50; height++) {
      await store.putBlock(opaqueBlock(height))
      store.reader.read((snapshot) => assert.equal(snapshot.range()?.head, height))
    }
  })

  it('cannot be used after its release, which may be repeated', async (t) => {
    const store = await openTestStore(t)
    await store.putBlock(opaqueBlock(1, 50_000))
    const snapshot = store.reader.snapshot()
    const block = snapshot.block(1)
    snapshot.release()
    snapshot.release()
    assert.throws(() => snapshot.header(1), { code: 'STORE_SNAPSHOT_EXPIRED' })
    assert.throws(() => snapshot.seals(1), { code: 'STORE_SNAPSHOT_EXPIRED' })
    assert.throws(() => block?.openChunk('Block', 0), { code: 'STORE_SNAPSHOT_EXPIRED' })
  })

  it('that is never released expires, so that the file does not grow for ever', async (t) => {
    const registry = new Registry()
    const captured = captureLog()
    const options = { path: testDirectory(t), network: opaqueNetwork, retainBlocks: null }
    const parts = { log: captured.log, registry }
    const store = await openWriter({ ...options, maxSnapshotMs: 40 }, parts)
    t.after(() => store.close())
    await store.putBlock(opaqueBlock(1))
    const forgotten = store.reader.snapshot()
    // The reader's watch does not keep a program alive; this does while the test waits for it.
    const alive = setInterval(() => undefined, 1_000)
    t.after(() => clearInterval(alive))
    await captured.line('a snapshot of the store was held for too long')
    assert.throws(() => forgotten.header(1), {
      code: 'STORE_SNAPSHOT_EXPIRED',
      message: /held for too long/,
    })
    forgotten.release()
    assert.match(await registry.metrics(), /^viewmesh_store_expired_snapshots_total 1$/m)
  })

  it('of hundreds at a time each keep their own state', async (t) => {
    const store = await openTestStore(t)
    const held = []
    for (let height = 0; height < 200; height++) {
      await store.putBlock(opaqueBlock(height))
      held.push(store.reader.snapshot())
    }
    for (const [height, snapshot] of held.entries()) {
      assert.equal(snapshot.range()?.head, height)
      snapshot.release()
    }
  })
})

describe('the cache of opened blocks', () => {
  it('is read first, and counts its hits', async (t) => {
    const registry = new Registry()
    const options = { path: testDirectory(t), network: opaqueNetwork, retainBlocks: null }
    const store = await openWriter(options, { log, registry })
    t.after(() => store.close())
    await store.putBlock(opaqueBlock(1))
    for (let time = 0; time < 3; time++) {
      store.reader.read((snapshot) => snapshot.block(1)?.openChunk('Block', 0).values(0))
    }
    const text = await registry.metrics()
    for (const cache of ['bodies', 'chunks']) {
      const name = `viewmesh_store_cache_reads_total{cache="${cache}",result=`
      assert.ok(text.includes(`${name}"hit"} 2`))
      assert.ok(text.includes(`${name}"miss"} 1`))
    }
  })

  it('holds the newest blocks before they are read', async (t) => {
    const registry = new Registry()
    const options = { path: testDirectory(t), network: opaqueNetwork, retainBlocks: null }
    const store = await openWriter(options, { log })
    t.after(() => store.close())
    for (let height = 0; height < 70; height++) await store.putBlock(opaqueBlock(height))
    const reader = openReader(options, { registry })
    t.after(() => reader.close())
    for (let turn = 0; turn < 70; turn++) await setImmediate()
    const misses = 'viewmesh_store_cache_reads_total{cache="chunks",result="miss"}'
    assert.ok((await registry.metrics()).includes(`${misses} 64\n`))
    reader.read((snapshot) => snapshot.block(6)?.openChunk('Block', 0))
    assert.ok((await registry.metrics()).includes(`${misses} 64\n`))
    reader.read((snapshot) => snapshot.block(5)?.openChunk('Block', 0))
    assert.ok((await registry.metrics()).includes(`${misses} 65\n`))
    const few = new Registry()
    const { rawBytes } = openBody(opaqueBlock(1).body).openChunk('Block', 0)
    const small = openReader({ ...options, cacheBytes: 2 * 10 * rawBytes }, { registry: few })
    t.after(() => small.close())
    for (let turn = 0; turn < 70; turn++) await setImmediate()
    assert.ok((await few.metrics()).includes(`${misses} 10\n`))
  })

  it('can be too small for a chunk, which is then read again each time', async (t) => {
    const path = testDirectory(t)
    const options = { path, network: opaqueNetwork, retainBlocks: null, cacheBytes: 4_000 }
    const store = await openWriter(options, { log })
    t.after(() => store.close())
    const block = opaqueBlock(1, 50_000)
    await store.putBlock(block)
    for (let time = 0; time < 2; time++) {
      const values = store.reader.read((snapshot) =>
        snapshot.block(1)?.openChunk('Block', 0).values(0),
      )
      assert.deepEqual(values, openBody(block.body).openChunk('Block', 0).values(0))
    }
  })
})

/** A reading thread, and how to end it. */
async function startReader(path: string): Promise<() => Promise<ReaderReport>> {
  const worker = new Worker(readerThread, { workerData: path })
  const failed = once(worker, 'error').then(([error]) => Promise.reject(error))
  failed.catch(() => undefined)
  await Promise.race([once(worker, 'message'), failed])
  return async () => {
    const ended = once(worker, 'exit')
    const report = once(worker, 'message')
    worker.postMessage('end')
    const [said] = await Promise.race([report, failed])
    await ended
    return said
  }
}

describe('readers in other threads', () => {
  it('see every commit and never half of one, while blocks are put, removed and pruned', async (t) => {
    const path = testDirectory(t)
    const options = { path, network: opaqueNetwork, retainBlocks: 100 }
    const store = await openWriter(options, { log })
    t.after(() => store.close())
    await store.putSealedBlock(opaqueBlock(0, writtenBytes(0)))
    const readers = await Promise.all([startReader(path), startReader(path)])
    for (let height = 1; height <= 240; height++) {
      const written = store.putSealedBlock(opaqueBlock(height, writtenBytes(height)))
      if (height % 4 === 0) await written
      if (height % 30 === 0) {
        const branch = [height - 1, height].map((each) =>
          opaqueBlock(each, writtenBytes(each), 'other'),
        )
        await store.replaceBlocks(height - 1, height, branch)
      }
      await store.prune()
    }
    const reports = await Promise.all(readers.map((end) => end()))
    for (const { snapshots, head } of reports) {
      assert.ok(snapshots > 10)
      assert.equal(head, 240)
    }
  })
})
