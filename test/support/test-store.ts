/** A real store in a directory of its own that is closed and removed after the test. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import type { StoreReader, StoreWriter } from '../../src/store/store.ts'
import { openWriter, type StoreWriterOptions } from '../../src/store/write/writer.ts'
import { testNetwork } from './chain/sealed-blocks.ts'

/** A directory that is removed after the test. */
export function testDirectory(t: Pick<TestContext, 'after'>): string {
  const path = mkdtempSync(join(tmpdir(), 'viewmesh-test-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Opens a writer; the test need not close it. */
export async function openTestStore(
  t: TestContext,
  retainBlocks: number | null = 1000,
  kept: Pick<StoreWriterOptions, 'retainRows' | 'maxViewBytes'> = {},
): Promise<StoreWriter> {
  const path = testDirectory(t)
  const options = { path, network: testNetwork, retainBlocks, ...kept }
  const store = await openWriter(options, { log: pino({ enabled: false }) })
  t.after(() => store.close())
  return store
}

/** Height and hash of every visible block, ascending. */
export function storedChain(reader: StoreReader): [number: number, hash: string | undefined][] {
  return reader.read((snapshot) => {
    const range = snapshot.range()
    if (range === null) return []
    const heights = [...snapshot.heights(range.tail, range.head, false)]
    return heights.map((height) => [height, snapshot.header(height)?.hash])
  })
}
