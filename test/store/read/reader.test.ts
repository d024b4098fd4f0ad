import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pino } from 'pino'
import { pageBytes, pieceBytes } from '../../../src/store/disk/layout.ts'
import { openReader } from '../../../src/store/read/reader.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { captureLog } from '../../support/captured-log.ts'
import { opaqueBlock, opaqueNetwork } from '../../support/chain/opaque-blocks.ts'
import { openTestStore, testDirectory } from '../../support/test-store.ts'

/** A store with a block, that a writer has open. */
async function openStore(t: TestContext): Promise<string> {
  const path = testDirectory(t)
  const options = { path, network: opaqueNetwork, retainBlocks: null }
  const store = await openWriter(options, { log: pino({ enabled: false }) })
  t.after(() => store.close())
  await store.putBlock(opaqueBlock(1))
  return path
}

const released = { code: 'STORE_SNAPSHOT_EXPIRED', message: /was released/ }
const heldTooLong = { code: 'STORE_SNAPSHOT_EXPIRED', message: /held for too long/ }

test('a snapshot expires once it is as old as it may be, and a younger one does not', async (t) => {
  const path = await openStore(t)
  t.mock.timers.enable({ apis: ['setInterval'] })
  let nowMs = 1_000
  t.mock.method(performance, 'now', () => nowMs)
  const pass = (ms: number): void => {
    nowMs += ms
    t.mock.timers.tick(ms)
  }
  const reader = openReader({ path, maxSnapshotMs: 400 })
  t.after(() => reader.close())
  const old = reader.snapshot()
  pass(300)
  const young = reader.snapshot()
  assert.equal(old.header(1)?.number, 1)
  pass(100)
  assert.throws(() => old.header(1), heldTooLong)
  assert.equal(young.header(1)?.number, 1)
  young.release()
  pass(400)
  assert.throws(() => young.header(1), released)
})

test('a reader that is closed releases its snapshots, and neither reads nor measures', async (t) => {
  const path = await openStore(t)
  const reader = openReader({ path })
  const snapshot = reader.snapshot()
  assert.ok(reader.usedBytes() > 0)
  reader.close()
  assert.throws(() => snapshot.header(1), released)
  const closed = { code: 'STORE_NOT_OPEN', message: 'The store was closed.' }
  assert.throws(() => reader.snapshot(), closed)
  assert.throws(() => reader.usedBytes(), closed)
})

test('a store uses a page for what it is, and those of what was put last', async (t) => {
  const store = await openTestStore(t, null)
  assert.equal(store.reader.usedBytes(), pageBytes)
  const block = opaqueBlock(1, 100_000)
  await store.putBlock(block)
  const pieces = Math.ceil(block.body.length / pieceBytes)
  const others = store.reader.usedBytes() / pageBytes - pieces
  assert.ok(others > 0 && others < 10, `${others} pages beside the body`)
})

test('a reader that is closed at once reads nothing ahead', async (t) => {
  const path = await openStore(t)
  const { log, lines } = captureLog()
  openReader({ path }, { log }).close()
  await nextTurn()
  await nextTurn()
  assert.deepEqual(lines, [])
})
