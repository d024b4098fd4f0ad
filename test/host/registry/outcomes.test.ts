/** What became of registered Views: shortened, and written once for many. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openOutcomes } from '../../../src/host/registry/outcomes.ts'
import { openTestStore } from '../../support/test-store.ts'

test('reasons are cut to 300 characters, and kept outcomes are written together', async (t) => {
  const store = await openTestStore(t)
  const written: number[] = []
  const putRecord: typeof store.putRecord = (name, bytes) => {
    written.push(bytes?.length ?? 0)
    return store.putRecord(name, bytes)
  }
  const open = () =>
    openOutcomes({ reader: store.reader, writer: { putRecord }, onFatal: assert.ifError })
  const outcomes = open()
  const refused = {
    state: 'refused',
    bytes: 0,
    fields: 0,
    proven: null,
    untilMs: Number.MAX_SAFE_INTEGER,
  }
  for (let index = 0; index < 1_200; index++)
    outcomes.note(`0x${index}`, { ...refused, state: 'refused', reason: 'x'.repeat(8_192) }, true)
  assert.equal(outcomes.of('0x0')?.reason.length, 300)
  await outcomes.close()
  assert.equal(written.length, 1)
  assert.ok((written[0] ?? 0) < 1_000_000)
  assert.equal(open().of('0x1199')?.reason.length, 300)
  assert.equal(open().of('0x199'), null)
})
