import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import {
  createQuarantine,
  type Quarantine,
} from '../../../../src/host/views/failures/quarantine.ts'
import { openTestStore } from '../../../support/test-store.ts'

const failure = { code: 'LENS_TRAPPED', message: 'lens 1 trapped', block: 7 }

/** Opens the quarantine of one View, each time as after a start. */
async function openStarts(
  t: TestContext,
): Promise<{ start: () => Quarantine; writes: () => number }> {
  const store = await openTestStore(t)
  let writes = 0
  const putRecord: typeof store.putRecord = (name, value) => {
    writes += 1
    return store.putRecord(name, value)
  }
  const parts = { log: pino({ enabled: false }), reader: store.reader, writer: { putRecord } }
  return {
    start: () => createQuarantine({ id: `0x${'1'.repeat(64)}`, slot: 1, name: 'Seen' }, parts),
    writes: () => writes,
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
