import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { pino } from 'pino'
import { openReader } from '../../../src/store/read/reader.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { opaqueBlock, opaqueNetwork } from '../../support/chain/opaque-blocks.ts'
import { type ChildProgram, startChild } from '../../support/child-program.ts'
import { testDirectory } from '../../support/test-store.ts'
import { viewBlock } from '../../support/view-rows.ts'
import type { ChildReaderReport } from '../support/child-reader.ts'
import { writtenBytes, writtenRows, writtenSlot } from '../support/store-program.ts'

const openStore = (path: string): Promise<StoreWriter> =>
  openWriter({ path, network: opaqueNetwork, retainBlocks: 20 }, { log: pino({ enabled: false }) })

/** Writes blocks with rows, and removes what lies below the tail. */
async function write(store: StoreWriter, from: number, to: number): Promise<void> {
  for (let height = from; height <= to; height++) {
    const block = opaqueBlock(height, writtenBytes(height))
    void store.putSealedBlock(block)
    await store.putViewRows(writtenSlot, [viewBlock(block.header, writtenRows(height))])
    await store.prune()
  }
}

const startReader = (...args: string[]): ChildProgram =>
  startChild('test/store/support/child-reader.ts', { args })

describe('a reader in another process', () => {
  it('sees each commit, and keeps its snapshot while blocks are pruned and the store closed', async (t) => {
    const path = testDirectory(t)
    const store = await openStore(path)
    await write(store, 1, 30)
    const child = startReader('follow', path, '150')
    await child.says('reading')
    await write(store, 31, 149)
    const last = opaqueBlock(150, writtenBytes(150))
    void store.putSealedBlock(last)
    await store.close()
    const { stdout, stderr, code } = await child.ended()
    assert.equal(code, 0, stderr)
    const report: ChildReaderReport = JSON.parse(stdout.split('\n')[1] ?? '')
    assert.equal(report.head, 150)
    assert.equal(report.firstHead, 30)
    assert.ok(report.snapshots > 1)
  })

  it('that is killed with a snapshot keeps the file from re-using pages until it is cleared', async (t) => {
    const path = testDirectory(t)
    const store = await openStore(path)
    t.after(() => store.close())
    await write(store, 1, 60)
    const child = startReader('hold', path)
    await child.says('reading')
    child.process.kill('SIGKILL')
    await child.ended()
    const size = (): number => statSync(join(path, 'data.mdb')).size
    const before = size()
    await write(store, 61, 160)
    const held = size()
    assert.ok(held > before)
    assert.ok(store.reader.clearDeadReaders() >= 1)
    assert.equal(store.reader.clearDeadReaders(), 0)
    await write(store, 161, 230)
    assert.equal(size(), held)
  })

  it('is refused where there is no store', (t) => {
    const path = join(testDirectory(t), 'nowhere')
    assert.throws(() => openReader({ path, writer: 'parent' }), { code: 'STORE_NOT_OPEN' })
  })
})
