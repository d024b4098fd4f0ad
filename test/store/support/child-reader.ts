/**
 * A process that reads a store which its parent writes. `follow <path> <height>` takes a snapshot, says `reading`, and
 * reads new ones until the head has this height; then it says what all of them saw. `hold <path>` takes a
 * snapshot, says `reading` and holds it until the process is killed.
 */
import assert from 'node:assert/strict'
import { writeSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { openReader } from '../../../src/store/read/reader.ts'
import type { Snapshot, StoreReader } from '../../../src/store/store.ts'
import { opaqueBlock } from '../../support/chain/opaque-blocks.ts'
import { storedRows } from '../../support/view-rows.ts'
import { writtenBytes, writtenRows, writtenSlot } from './store-program.ts'

/** What was seen in the end. */
export interface ChildReaderReport {
  readonly snapshots: number
  readonly head: number
  /** Head of the first snapshot, which was read once more at last. */
  readonly firstHead: number
}

const say = (text: string): number => writeSync(1, `${text}\n`)

/** Checks the newest block and its rows; returns its height. */
function check(snapshot: Snapshot): number {
  const head = snapshot.range()?.head
  assert.ok(head !== undefined)
  const block = opaqueBlock(head, writtenBytes(head))
  assert.deepEqual(snapshot.header(head), block.header)
  assert.deepEqual(Buffer.from(snapshot.body(head) ?? []), block.body)
  const rows = storedRows(snapshot, writtenSlot, head)
  assert.ok(rows === null || rows.length === writtenRows(head).length)
  return head
}

async function follow(reader: StoreReader, until: number): Promise<void> {
  const first = reader.snapshot()
  const firstHead = check(first)
  say('reading')
  let [snapshots, head] = [1, firstHead]
  for (; head < until; snapshots++) {
    await setTimeout(1)
    head = reader.read(check)
  }
  assert.equal(check(first), firstHead)
  first.release()
  const report: ChildReaderReport = { snapshots, head, firstHead }
  say(JSON.stringify(report))
  reader.close()
}

const [mode, path = '', until] = process.argv.slice(2)
const reader = openReader({ path, writer: 'parent' })
if (mode === 'follow') await follow(reader, Number(until))
else {
  check(reader.snapshot())
  say('reading')
  setInterval(() => undefined, 1_000)
}
