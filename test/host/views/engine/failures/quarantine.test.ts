import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  createQuarantine,
  type Quarantine,
} from '../../../../../src/host/views/engine/failures/quarantine.ts'
import { viewRecordName } from '../../../../../src/host/views/engine/view-record.ts'
import { runtimeVersion } from '../../../../../src/lens/program/run-limits.ts'
import type { HeightRanges } from '../../../../../src/primitives/height-ranges.ts'
import type { Snapshot, StoreReader } from '../../../../../src/store/store.ts'
import { captureLog, type LogLine } from '../../../../support/captured-log.ts'
import { opaqueBlock } from '../../../../support/chain/opaque-blocks.ts'
import { openTestStore } from '../../../../support/test-store.ts'

const id = `0x${'1'.repeat(64)}`
const address = `0x${'2'.repeat(40)}`
const failure = { code: 'LENS_TRAPPED', message: 'lens 1 trapped', block: 7 }

interface Starts {
  start(): Quarantine
  /** Has this remembered of the View. */
  remember(record: Readonly<Record<string, unknown>>): Promise<void>
  writes(): number
  /** Heights at which the View failed from now on. */
  failAt(heights: HeightRanges): void
  readonly lines: readonly LogLine[]
}

/** Opens the quarantine of one View, each time as after a start; the lowest block is 5. */
async function openStarts(t: TestContext): Promise<Starts> {
  const store = await openTestStore(t)
  await store.putBlock(opaqueBlock(5))
  let writes = 0
  let failures: HeightRanges = []
  const putRecord: typeof store.putRecord = (name, value) => {
    writes += 1
    return store.putRecord(name, value)
  }
  const failing = (snapshot: Snapshot): Snapshot =>
    Object.create(snapshot, { viewFailures: { value: () => failures } })
  const reader: StoreReader = {
    ...store.reader,
    read: (use) => store.reader.read((snapshot) => use(failing(snapshot))),
  }
  const { log, lines } = captureLog()
  const parts = { log, reader, writer: { putRecord } }
  return {
    start: () => createQuarantine({ id, address, slot: 1, name: 'Seen' }, parts),
    remember: (record) =>
      store.putRecord(viewRecordName(id), new Uint8Array(Buffer.from(JSON.stringify(record)))),
    writes: () => writes,
    failAt: (heights) => {
      failures = heights
    },
    lines,
  }
}

async function fail(quarantine: Quarantine, times: number): Promise<void> {
  for (let time = 0; time < times; time++) await quarantine.failed(failure)
  await quarantine.keepCount()
}

test('failures in a row are counted over starts, from the last block that went well', async (t) => {
  const { start } = await openStarts(t)
  const first = start()
  assert.equal(first.restore(), false)
  await fail(first, 19)
  const second = start()
  assert.deepEqual([second.restore(), second.inRow()], [true, 19])
  second.succeeded()
  await second.keepCount()
  const third = start()
  assert.deepEqual([third.restore(), third.inRow()], [true, 0])
  await fail(third, 19)
  assert.equal(third.reason(), null)
  const fourth = start()
  fourth.restore()
  await fail(fourth, 1)
  assert.deepEqual(fourth.reason(), failure)
  const fifth = start()
  fifth.restore()
  assert.deepEqual(fifth.reason(), failure)
  await fifth.end()
  const sixth = start()
  assert.deepEqual([sixth.restore(), sixth.inRow(), sixth.reason()], [true, 0, null])
})

test('a count that is the one of before is not written again', async (t) => {
  const { start, writes } = await openStarts(t)
  const quarantine = start()
  quarantine.succeeded()
  await quarantine.keepCount()
  assert.equal(writes(), 0)
  await fail(quarantine, 2)
  await quarantine.keepCount()
  assert.equal(writes(), 1)
  const later = start()
  later.restore()
  await later.keepCount()
  assert.equal(writes(), 1)
})

test('the first reason of a quarantine stays, is logged once, and kept at once', async (t) => {
  const { start, writes, lines } = await openStarts(t)
  const quarantine = start()
  await quarantine.begin(failure)
  await quarantine.begin({ ...failure, message: 'another one' })
  await fail(quarantine, 21)
  assert.deepEqual(quarantine.reason(), failure)
  const msg = 'a View is quarantined until it is retried'
  assert.deepEqual(lines, [
    { level: 'warn', view: 'Seen', id, address, ...failure, msg, time: lines[0]?.['time'] },
  ])
  assert.equal(writes(), 2)
  const later = start()
  later.restore()
  assert.deepEqual([later.reason(), later.inRow()], [failure, 21])
})

const apart = (ranges: number, from: number): HeightRanges =>
  Array.from({ length: ranges }, (_, index) => [from + 2 * index, from + 2 * index])

test('failures at more than 1,000 places quarantine a View, but for those from before a retry', async (t) => {
  const { start, failAt } = await openStarts(t)
  const first = start()
  failAt(apart(1_000, 5))
  await fail(first, 1)
  assert.equal(first.reason(), null)
  failAt(apart(1_001, 5))
  await fail(first, 1)
  assert.deepEqual(first.reason(), {
    ...failure,
    message:
      'blocks failed in more than 1000 separate ranges of heights, the last one: lens 1 trapped',
  })
  // The lowest block is 5: what failed below can no longer be tried again.
  failAt([...apart(2, 1), ...apart(1_000, 5)])
  await first.end()
  await fail(first, 1)
  assert.deepEqual([first.reason(), first.inRow()], [null, 1])
  const second = start()
  second.restore()
  await fail(second, 1)
  assert.equal(second.reason(), null)
  failAt(apart(1_001, 5))
  await fail(second, 1)
  assert.equal(second.reason()?.block, 7)
})

test('where a version before remembered no counts, all failures count and none is in a row', async (t) => {
  const { start, remember, failAt } = await openStarts(t)
  await remember({ slot: 1, runtime: runtimeVersion, quarantine: null })
  const quarantine = start()
  assert.deepEqual([quarantine.restore(), quarantine.inRow()], [true, 0])
  failAt(apart(1_001, 0))
  await fail(quarantine, 1)
  assert.equal(quarantine.reason()?.block, 7)
})
