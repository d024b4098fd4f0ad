import assert from 'node:assert/strict'
import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pino } from 'pino'
import { dataFile } from '../../../src/store/disk/environment.ts'
import { pageBytes } from '../../../src/store/disk/layout.ts'
import { readShortage } from '../../../src/store/disk/whole-file.ts'
import type { StoreReader } from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { opaqueBlock } from '../../support/chain/opaque-blocks.ts'
import { testDirectory } from '../../support/test-store.ts'

const blocks = Array.from({ length: 300 }, (_, index) => opaqueBlock(index + 1))

const openAt = (path: string): ReturnType<typeof openWriter> =>
  openWriter(
    { path, network: 'Ethereum__Mainnet', retainBlocks: null },
    { log: pino({ enabled: false }) },
  )

/** Everything that was put into it, read again. */
function contentOf(reader: StoreReader): unknown {
  return reader.read((snapshot) => [
    snapshot.record('large')?.toString('hex'),
    ...blocks.map(({ header: { number } }) => [
      snapshot.header(number),
      Buffer.from(snapshot.body(number) ?? []).toString('hex'),
    ]),
  ])
}

test('a file that ends before a page that it names is short, and any other one is whole', async (t) => {
  const [made, cut] = [testDirectory(t), testDirectory(t)]
  const store = await openAt(made)
  for (const block of blocks) await store.putSealedBlock(block)
  await store.putRecord('large', Buffer.alloc(50_000, 'large'))
  // Frees pages in the middle and at the end.
  await store.putRecord('gone', Buffer.alloc(50_000))
  await store.putRecord('gone', Buffer.alloc(1))
  const content = contentOf(store.reader)
  await store.close()
  const [whole, part] = [made, cut].map((path) => join(path, dataFile)) as [string, string]
  const { size } = statSync(whole)
  assert.equal(readShortage(whole), null)
  const counts = { short: 0, whole: 0 }
  for (let bytes = size - pageBytes; bytes > 0; bytes -= pageBytes) {
    copyFileSync(whole, part)
    truncateSync(part, bytes)
    const shortage = readShortage(part)
    if (shortage !== null) {
      assert.equal(shortage.bytes, bytes)
      counts.short += 1
      continue
    }
    counts.whole += 1
    // Only pages that nothing names are gone.
    const again = await openAt(cut)
    assert.deepEqual(contentOf(again.reader), content)
    await again.close()
  }
  assert.ok(counts.short > 0 && counts.whole > 0)
})

test('a file is short that lacks a byte of its last page, and one of less than two pages', async (t) => {
  const path = testDirectory(t)
  const store = await openAt(path)
  // Its value fills pages at the end of the file.
  await store.putRecord('large', Buffer.alloc(200_000))
  await store.close()
  const file = join(path, dataFile)
  const needed = statSync(file).size
  for (const bytes of [needed - 1, needed - pageBytes, needed - pageBytes - 1]) {
    truncateSync(file, bytes)
    assert.deepEqual(readShortage(file), { bytes, needed })
  }
  for (const bytes of [2 * pageBytes - 1, pageBytes, 1]) {
    truncateSync(file, bytes)
    assert.deepEqual(readShortage(file), { bytes, needed: 2 * pageBytes })
  }
})

test('a file that is short and damaged besides is short', async (t) => {
  const path = testDirectory(t)
  const store = await openAt(path)
  for (const block of blocks) await store.putSealedBlock(block)
  await store.close()
  const file = join(path, dataFile)
  const bytes = readFileSync(file)
  for (const value of [0, 1, 2, 0x7f, 0xff]) {
    writeFileSync(
      file,
      Buffer.concat([
        bytes.subarray(0, 2 * pageBytes),
        Buffer.alloc(bytes.length - 3 * pageBytes, value),
      ]),
    )
    const shortage = readShortage(file)
    assert.ok(shortage === null || shortage.needed === bytes.length, `${value}`)
  }
})
