/** What became of registered Views: shortened, and written once for many. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type NotServed, noteOutcome, openOutcomes } from '../../../src/host/registry/outcomes.ts'
import { encodeJsonRecord } from '../../../src/store/json-record.ts'
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

const refused: NotServed = {
  state: 'refused',
  reason: 'it is no good',
  bytes: 0,
  fields: 0,
  proven: null,
  untilMs: 100,
}

test('an outcome holds until its time, and what is not kept is gone after a restart', async (t) => {
  const { reader, putRecord } = await openTestStore(t)
  let nowMs = 99
  const open = () =>
    openOutcomes({ reader, writer: { putRecord }, onFatal: assert.ifError }, () => nowMs)
  const outcomes = open()
  outcomes.note('kept', refused, true)
  outcomes.note('for now', refused, false)
  assert.deepEqual([outcomes.of('kept'), outcomes.of('for now')], [refused, refused])
  await outcomes.close()
  assert.deepEqual([open().of('kept'), open().of('for now')], [refused, null])
  nowMs = 100
  assert.deepEqual([outcomes.of('kept'), outcomes.of('for now')], [null, null])
})

test('what is kept is written five seconds after the first, and later ones by themselves', async (t) => {
  const { reader } = await openTestStore(t)
  const written: string[] = []
  const failures: unknown[] = []
  const putRecord = async (_name: string, bytes: Uint8Array | null): Promise<void> => {
    const kept = JSON.parse(Buffer.from(bytes ?? []).toString()) as [string, NotServed][]
    written.push(kept.map(([id]) => id).join())
    if (kept.length > 2) throw new Error('no room')
  }
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const onFatal = (error: unknown): void => void failures.push(error)
  const outcomes = openOutcomes({ reader, writer: { putRecord }, onFatal }, () => 0)
  outcomes.note('a', refused, true)
  t.mock.timers.tick(4_999)
  outcomes.note('b', refused, true)
  assert.deepEqual(written, [])
  t.mock.timers.tick(1)
  assert.deepEqual(written, ['a,b'])
  outcomes.note('c', refused, true)
  t.mock.timers.tick(5_000)
  assert.deepEqual(written, ['a,b', 'a,b,c'])
  await new Promise(setImmediate)
  assert.deepEqual(failures, [new Error('no room')])
  outcomes.note('d', refused, false)
  await outcomes.close()
  assert.equal(written.length, 2, 'nothing is left to write')
})

test('ten thousand outcomes are remembered, and a thousand of those that are kept', async (t) => {
  const { reader, putRecord } = await openTestStore(t)
  const open = () =>
    openOutcomes({ reader, writer: { putRecord }, onFatal: assert.ifError }, () => 0)
  const outcomes = open()
  for (let index = 0; index <= 10_000; index++) outcomes.note(`${index}`, refused, index < 1_001)
  assert.equal(outcomes.of('0'), null)
  assert.deepEqual(outcomes.of('1'), refused)
  await outcomes.close()
  assert.equal(open().of('0'), null)
  assert.deepEqual(open().of('1'), refused)
})

test('outcomes of versions that knew no fields are read with none', async (t) => {
  const { reader, putRecord } = await openTestStore(t)
  const { fields, ...older } = refused
  assert.equal(fields, 0)
  await putRecord('registry/outcomes', encodeJsonRecord([['old', older]]))
  const parts = { reader, writer: { putRecord }, onFatal: assert.ifError }
  assert.deepEqual(openOutcomes(parts, () => 0).of('old'), refused)
})

test('what bytes have proven is kept where a later outcome says nothing of it', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000 })
  const proven = { ids: ['long', 'short'], sender: 'somebody', name: 'Type' }
  const noted: [NotServed, boolean][] = []
  const outcomes = {
    of: () => ({ ...refused, bytes: 7, fields: 3, proven }),
    note: (_id: string, outcome: NotServed, isKept: boolean) => void noted.push([outcome, isKept]),
  }
  const outcome = { state: 'refused', reason: 'away' } as const
  noteOutcome(outcomes, 'id', outcome, { forMs: 500 })
  noteOutcome(outcomes, 'id', { ...outcome, proven: null, bytes: 1 }, { forMs: 1, isKept: true })
  assert.deepEqual(noted, [
    [{ ...outcome, bytes: 0, fields: 0, proven, untilMs: 1_500 }, false],
    [{ ...outcome, bytes: 1, fields: 0, proven: null, untilMs: 1_001 }, true],
  ])
})
