/**
 * `format-1.mdb.zst` is the file of a store that the last program of format 1 made: blocks 1 to 140 of a Host.
 * `format-2.mdb.zst` is one of format 2 with the same blocks, a row of slot 1 named after each but every fourth, and a
 * failure of slot 2 at block 7.
 */
import assert from 'node:assert/strict'
import { closeSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { zstdDecompressSync } from 'node:zlib'
import { open } from 'lmdb'
import { pino } from 'pino'
import { pageBytes } from '../../src/store/disk/layout.ts'
import type { StoreWriter } from '../../src/store/store.ts'
import { openWriter } from '../../src/store/write/writer.ts'
import { rowTermValue } from '../../src/views/rows/rows.ts'
import { namedHash, opaqueBlock, opaqueNetwork } from '../support/chain/opaque-blocks.ts'
import { startChild } from '../support/child-program.ts'
import { repository } from '../support/repository.ts'
import { testDirectory } from '../support/test-store.ts'
import { storedRows, viewBlock } from '../support/view-rows.ts'

/** A directory with a store of an earlier format. */
function storeOf(t: TestContext, format: 1 | 2): string {
  const path = testDirectory(t)
  const fixture = readFileSync(join(repository, `test/fixtures/store/format-${format}.mdb.zst`))
  writeFileSync(join(path, 'data.mdb'), zstdDecompressSync(fixture))
  return path
}

async function formatOf(path: string): Promise<unknown> {
  const root = open({ path, noSubdir: false, encoding: 'binary', keyEncoding: 'binary' })
  const options = { encoding: 'binary', keyEncoding: 'binary', useVersions: true } as const
  const meta = root.openDB<Buffer, Buffer>('meta', options)
  const { format } = JSON.parse(String(meta.get(Buffer.from('store'))))
  await root.close()
  return format
}

const openUpgraded = (path: string): Promise<StoreWriter> =>
  openWriter(
    { path, network: opaqueNetwork, program: 'host', retainBlocks: null },
    { log: pino({ enabled: false }) },
  )

async function assertHoldsAll(store: StoreWriter): Promise<void> {
  assert.equal(store.genesisHash(), namedHash('genesis'))
  store.reader.read((snapshot) => {
    assert.equal(snapshot.record('a record')?.toString(), 'its value')
    const heights = [...snapshot.heights(0, 1e9, false)]
    assert.deepEqual(
      heights,
      Array.from({ length: 140 }, (_, index) => index + 1),
    )
    for (const height of heights) {
      const { header, body, seals } = opaqueBlock(height, 40)
      assert.deepEqual(snapshot.header(height), header)
      assert.deepEqual(Buffer.from(snapshot.body(height) ?? []), body)
      assert.deepEqual(snapshot.sealsOf(header.hash), seals)
    }
  })
}

function assertHasRows(store: StoreWriter): void {
  store.reader.read((snapshot) => {
    assert.deepEqual(snapshot.viewRanges(1), [[1, 140]])
    assert.deepEqual(
      [snapshot.viewFailures(2), String(snapshot.viewFailure(2, 7))],
      [[[7, 7]], 'why'],
    )
    for (let height = 1; height <= 140; height++) {
      const { hash } = opaqueBlock(height, 40).header
      const isThere = height % 4 !== 0
      assert.deepEqual(
        storedRows(snapshot, 1, height)?.map(({ values }) => values[0]),
        isThere ? [hash] : [],
      )
      const found = [...snapshot.viewCandidates(1, 0, rowTermValue(hash), 0, 1e9, false)]
      assert.deepEqual(found, isThere ? [{ height, chunk: 0 }] : [])
    }
  })
}

/** Spans whose index tables of slot 1 are merged. */
async function mergedSpans(path: string): Promise<number> {
  const root = open({ path, noSubdir: false, encoding: 'binary', keyEncoding: 'binary' })
  const index = root.openDB<Buffer, Buffer>('viewIndex', {
    encoding: 'binary',
    keyEncoding: 'binary',
  })
  const merged = [...index.getKeys()].filter((key) => key.length === 13)
  await root.close()
  return merged.length
}

describe('a store of format 1', () => {
  it('is made into one of this format when it is opened, and keeps all it had', async (t) => {
    const path = storeOf(t, 1)
    assert.equal(await formatOf(path), 1)
    const store = await openUpgraded(path)
    await assertHoldsAll(store)
    const { header } = opaqueBlock(140, 40)
    assert.deepEqual(await store.putViewRows(1, [viewBlock(header, [{ name: 'x' }])]), [140])
    await store.putSealedBlock(opaqueBlock(141, 40))
    store.reader.read((snapshot) => {
      assert.deepEqual(storedRows(snapshot, 1, 140)?.[0]?.values, ['x', null, null])
      assert.equal(storedRows(snapshot, 1, 139), null)
    })
    await store.close()
    assert.equal(await formatOf(path), 3)
  })
})

describe('a store of format 2', () => {
  it('keeps its rows, whose index is merged', async (t) => {
    const path = storeOf(t, 2)
    assert.equal(await formatOf(path), 2)
    const store = await openUpgraded(path)
    assertHasRows(store)
    await store.flushed()
    assertHasRows(store)
    await store.close()
    assert.equal(await formatOf(path), 3)
    assert.equal(await mergedSpans(path), 1)
  })
})

for (const format of [1, 2] as const)
  test(`a store of format ${format} is whole after kill -9 at any write that makes it another`, async (t) => {
    let isDone = false
    for (let writes = 1; !isDone; writes++) {
      const path = storeOf(t, format)
      const child = startChild('test/store/support/store-program.ts', { args: ['upgrade', path] })
      isDone = !(await hasWritten(path, writes, child.says('open')))
      child.process.kill('SIGKILL')
      assert.equal((await child.ended()).signal, 'SIGKILL')
      const store = await openUpgraded(path)
      await assertHoldsAll(store)
      if (format === 2) assertHasRows(store)
      await store.close()
    }
  })

/** Waits until so many transactions are on disk since this was called; false where `done` comes before the last of them. */
async function hasWritten(path: string, count: number, done: Promise<void>): Promise<boolean> {
  let isDone = false
  const stop = (): void => {
    isDone = true
  }
  done.then(stop, stop)
  let last = metaPages(path)
  for (let seen = 0; seen < count; ) {
    if (isDone) return false
    await setImmediate()
    const now = metaPages(path)
    if (!now.equals(last)) seen += 1
    last = now
  }
  return true
}

/** The two first pages of the file, one of which each transaction writes last. */
function metaPages(path: string): Buffer {
  const file = openSync(join(path, 'data.mdb'), 'r')
  const pages = Buffer.alloc(2 * pageBytes)
  readSync(file, pages, 0, pages.length, 0)
  closeSync(file)
  return pages
}
