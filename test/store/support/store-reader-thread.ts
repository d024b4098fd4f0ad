/**
 * A worker thread that reads a store over and over while the test writes it, and checks that each
 * snapshot is one moment of it. It says `ready` after its first snapshot; on any message it ends and
 * says what it saw.
 */
import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { openReader } from '../../../src/store/read/reader.ts'
import type { Snapshot } from '../../../src/store/store.ts'
import { everywhere, namedHash } from '../../support/chain/opaque-blocks.ts'
import { writtenBytes } from './store-program.ts'

export interface ReaderReport {
  readonly snapshots: number
  readonly head: number
}

/** Snapshots that are held while others are taken. */
const heldSnapshots = 8

const branchAt = (snapshot: Snapshot, height: number): string | undefined =>
  ['main', 'other'].find((name) => snapshot.header(height)?.hash === namedHash(`${name}:${height}`))

/** The store is contiguous, its newest and oldest block are whole, and all of it can be found. */
function check(snapshot: Snapshot): number {
  const range = snapshot.range()
  assert.ok(range)
  const heights = [...snapshot.heights(0, 1e9, false)]
  assert.equal(heights.length, range.head - range.tail + 1)
  const found = [...snapshot.candidates('logAddress', everywhere, 0, 1e9, false)]
  assert.deepEqual(
    found.map(({ height }) => height),
    heights,
  )
  for (const height of [range.tail, range.head]) {
    assert.ok(branchAt(snapshot, height) !== undefined)
    const header = snapshot.header(height)
    assert.equal(snapshot.body(height)?.length, header?.bodyBytes)
    assert.equal(
      snapshot.block(height)?.openChunk('Block', 0).values(0).length,
      writtenBytes(height),
    )
    assert.equal(snapshot.seals(height).filter((seal) => seal.blockHash === header?.hash).length, 1)
  }
  return range.head
}

async function read(path: string): Promise<void> {
  const reader = openReader({ path })
  const held: { snapshot: Snapshot; head: number }[] = []
  let isEnding = false
  let snapshots = 0
  let head = 0
  parentPort?.once('message', () => {
    isEnding = true
  })
  while (!isEnding) {
    const snapshot = reader.snapshot()
    const seen = check(snapshot)
    head = Math.max(head, seen)
    held.push({ snapshot, head: seen })
    if (++snapshots === 1) parentPort?.postMessage('ready')
    await setImmediate()
    const oldest = held.length > heldSnapshots ? held.shift() : undefined
    if (oldest === undefined) continue
    assert.equal(check(oldest.snapshot), oldest.head)
    oldest.snapshot.release()
  }
  for (const { snapshot } of held) snapshot.release()
  const last = reader.snapshot()
  const report: ReaderReport = { snapshots, head: check(last) }
  last.release()
  reader.close()
  parentPort?.postMessage(report)
}

await read(workerData)
