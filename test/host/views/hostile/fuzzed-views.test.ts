/** A whole Host among Views whose modules are lenses with wrong bytes, up to a hundred of them at once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readJsonRecord } from '../../../../src/store/json-record.ts'
import type { StoreReader } from '../../../../src/store/store.ts'
import { createChain, shapes } from '../../../support/chain/block-factory.ts'
import { openTestGenerator } from '../../../support/test-generator.ts'
import { rowBytes } from '../engine/support/engine-room.ts'
import { fuzzedViews } from './support/fuzzed-views.ts'
import { watchHealth } from './support/health-watch.ts'
import { harmlessViews } from './support/hostile-views.ts'
import {
  type ListedView,
  openViewHost,
  slowestHealthMs,
  slowestRowsMs,
  type ViewHost,
  within,
} from './support/view-host.ts'

/** Of few lenses that come to no end: each has the Host wait for two seconds. */
const seed = '1'
const rounds = 10
const viewsOfRound = 100
const blocks = createChain({ count: 1 + rounds, from: 1, shape: shapes.tiny })
const goodWire = harmlessViews['Good'] ?? new Uint8Array()
/** It is the first one that its Host is given. */
const goodSlot = 1

test('of 1,000 Views of fuzzed modules each harms itself alone, at a whole Host', async (t) => {
  t.diagnostic(`seed ${seed}`)
  // Before there is a Host, whose thread this one is.
  const wires = fuzzedViews(seed, rounds * viewsOfRound)
  const generator = await openTestGenerator(t, 'honest', blocks.slice(0, 1))
  const host = await openViewHost(t, generator, { MAX_VIEWS: `${viewsOfRound + 1}` })
  await host.post(goodWire)
  const health = watchHealth(t, host.healthUrl)
  const outcomes: string[] = []
  for (const [index, block] of blocks.slice(1).entries()) {
    const posting = postAll(host, wires.slice(index * viewsOfRound, (index + 1) * viewsOfRound))
    await generator.publish([block])
    await host.untilHead(block.number)
    outcomes.push(...(await posting))
    const fuzzed = (await untilDone(host)).filter(({ name }) => name !== 'Good')
    outcomes.push(...fuzzed.map(outcomeOf))
    await Promise.all(fuzzed.map(({ id }) => host.remove(id)))
  }
  const slowestMs = await health.slowestMs()
  t.diagnostic(JSON.stringify({ ...countEach(outcomes), slowestMs }))
  assertShares(outcomes)
  assert.ok(slowestMs < slowestHealthMs, `/health answered within ${slowestMs} ms`)
  assert.equal((await host.health()).status, 200)
  assert.deepEqual([...host.captured.messages('fatal'), ...host.captured.messages('error')], [])

  const accepted = outcomes.filter((outcome) => !outcome.startsWith('refused')).length
  await untilCleared(host, goodSlot + accepted)
  const spared = await openViewHost(t, generator)
  await spared.post(goodWire)
  await spared.untilHead(blocks.length)
  await untilDone(spared)
  const [kept, expected] = [host.readStore(keptOf), spared.readStore(keptOf)]
  assert.equal(expected.rows.size, blocks.length)
  assert.deepEqual(kept, expected)
})

// --- A round ---

/** Returns what the Host says of those that it refuses. */
async function postAll(host: ViewHost, wires: readonly Uint8Array[]): Promise<string[]> {
  const answers = await Promise.all(wires.map(host.post))
  const refused = answers.filter(({ status }) => status !== 201)
  for (const { status, body } of refused) {
    assert.equal(status, 400)
    assert.match(body.code ?? '', /^(?:LENS|VIEWS)_/)
  }
  return refused.map(({ body }) => `refused: ${body.code}`)
}

/** Waits until Good has done all blocks, and each other View has or says why it does not. */
async function untilDone(host: ViewHost): Promise<readonly ListedView[]> {
  let views: readonly ListedView[] = []
  await within(slowestRowsMs, 'each View is done or has an error', async () => {
    views = await host.listed()
    return views.every(({ name, error, blocks_left: left }) =>
      error === null ? left === 0 : name !== 'Good',
    )
  })
  return views
}

function outcomeOf({ rows, error }: ListedView): string {
  if (error === null) return rows > 0 ? 'rows' : 'no rows'
  assert.match(error.code, /^(?:LENS|VIEWS)_/)
  return error.code
}

function countEach(outcomes: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}

/** A module that is refused by a compiler has not run; all others that were accepted have. */
function assertShares(outcomes: readonly string[]): void {
  const counts = countEach(outcomes)
  const of = (outcome: string): number => counts[outcome] ?? 0
  const refused = of('refused: LENS_MODULE_REFUSED')
  const ran = outcomes.length - refused - of('LENS_MODULE_REFUSED')
  assert.equal(outcomes.length, rounds * viewsOfRound)
  assert.ok(refused >= 400, `${refused} were refused as they were posted`)
  assert.ok(ran >= 350, `${ran} ran`)
  const expected = [
    'rows',
    'LENS_TRAPPED',
    'LENS_OUTPUT_INVALID',
    'LENS_ARGUMENTS_REFUSED',
    'LENS_FAILED',
  ]
  for (const outcome of expected) assert.ok(of(outcome) >= 20, `${outcome}: ${of(outcome)}`)
  assert.ok(of('LENS_TIME_LIMIT') >= 1, 'some came to no end')
}

// --- What is stored ---

interface Book {
  readonly nextSlot: number
  readonly removedSlots: readonly number[]
}

/** Waits until the rows of all slots but that of Good are gone, the last of which is `last`. */
async function untilCleared(host: ViewHost, last: number): Promise<void> {
  await within(slowestRowsMs, 'the rows of removed Views are gone', async () => {
    const book = host.readStore(({ read }) =>
      read((snapshot) => readJsonRecord<Book>(snapshot, 'views')),
    )
    assert.equal(book?.nextSlot, last + 1)
    return book?.removedSlots.length === 0
  })
  host.readStore(({ read }) =>
    read((snapshot) => {
      for (let slot = goodSlot + 1; slot <= last; slot += 1) {
        assert.deepEqual(snapshot.viewSize(slot), { rows: 0, bytes: 0 })
        assert.deepEqual([...snapshot.viewRanges(slot), ...snapshot.viewFailures(slot)], [])
      }
    }),
  )
}

/** What a Host keeps of Good and, by the names of its records, of other Views. */
function keptOf(reader: StoreReader) {
  return {
    rows: rowBytes({ reader }, goodSlot),
    records: reader.read((snapshot) => snapshot.recordNames('')),
  }
}
