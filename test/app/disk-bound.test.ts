/** How much of the disk an application uses. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createDiskBound, firstStored } from '../../src/app/disk-bound.ts'
import type { StoreWriter } from '../../src/store/store.ts'
import { captureLog } from '../support/captured-log.ts'
import { largeRows } from './support/large-rows.ts'
import { createMadeChain } from './support/made-chain.ts'
import { openMadeHost } from './support/made-host.ts'
import { openTestApp, topOf, untilState } from './support/test-app.ts'

interface Bounded {
  /** Says that blocks were stored, and lets what follows happen. */
  check(times?: number): Promise<void>
  /** What was written, in order. */
  readonly written: string[]
  readonly failures: unknown[]
  /** What writing fails with from now on. */
  fail(error: Error | null): void
}

/** A store of these heights, each of ten bytes, that may have so many bytes. */
function openBounded(heights: readonly number[], maxBytes: number): Bounded {
  let left = heights
  let first: Buffer | undefined
  let failure: Error | null = null
  const written: string[] = []
  const failures: unknown[] = []
  const snapshot = {
    record: () => first,
    rowBlocks: {
      range: () => (left.length === 0 ? null : { tail: left[0] ?? 0, head: left.at(-1) ?? 0 }),
    },
  }
  const store = {
    reader: {
      usedBytes: () => 10 * left.length,
      read: (use: (view: typeof snapshot) => unknown) => use(snapshot),
    },
    putRecord: async (_: string, bytes: Buffer) => {
      first = bytes
      written.push(`first ${firstStored({ record: () => bytes })}`)
    },
    pruneRowsBelow: async (height: number) => {
      if (failure !== null) throw failure
      await nextTurn()
      left = left.filter((each) => each >= height)
      written.push(`below ${height}`)
    },
  } as unknown as StoreWriter
  const onFatal = (error: unknown): void => void failures.push(error)
  const keepBound = createDiskBound({ maxBytes }, { store, log: captureLog().log, onFatal })
  return {
    ...{ written, failures },
    check: async (times = 1) => {
      for (let time = 0; time < times; time++) keepBound()
      for (let turn = 0; turn < 50; turn++) await nextTurn()
    },
    fail: (error) => {
      failure = error
    },
  }
}

const sixteen = Array.from({ length: 16 }, (_, index) => index + 5)

test('an eighth of the blocks goes at a time, until the rest takes no more than it may', async () => {
  const { check, written } = openBounded(sixteen, 120)
  await check()
  assert.deepEqual(written, ['first 5', 'below 7', 'below 9'])
  await check()
  assert.equal(written.length, 3, 'it takes just as much as it may')
})

test('the highest block stays, however much it takes, and nothing goes of no block', async () => {
  const { check, written } = openBounded([3, 4, 5], 0)
  await check()
  assert.deepEqual(written, ['first 3', 'below 4', 'below 5'])
  const empty = openBounded([], -1)
  await empty.check()
  assert.deepEqual(empty.written, [])
})

test('blocks that are stored while some go make no others go beside them', async () => {
  const { check, written } = openBounded(sixteen, 140)
  await check(3)
  assert.deepEqual(written, ['first 5', 'below 7'])
})

test('a store that fails is reported, and is bounded once it can be written', async () => {
  const { check, written, failures, fail } = openBounded(sixteen, 140)
  const failed = new Error('the disk is gone')
  fail(failed)
  await check()
  fail(null)
  await check()
  assert.deepEqual([failures, written], [[failed], ['first 5', 'below 7']])
})

test('the rows of the lowest blocks go once all take more than they may', async (t) => {
  const chain = createMadeChain({ from: 5 })
  const host = await openMadeHost(t, {
    chain,
    alter: (block) => ({ ...block, rows: largeRows(`block ${block.number}`) }),
  })
  const maxBytes = 16 * 1024 * 1024
  const app = await openTestApp(t, { hosts: [host], maxBytes })
  for (let blocks = 10; blocks <= 100; blocks += 10) {
    chain.grow(10)
    await untilState(app, (state) => topOf(state) === blocks + 4)
  }
  const { bytes, views } = await untilState(app, (state) => state.bytes <= maxBytes)
  const [view] = views
  assert.ok(bytes > 0 && view !== undefined && view.rows < 100_000)
  assert.ok((view.done[0]?.from ?? 0) > 0)
  assert.equal(view.done.length, 1)
  const query = '{ Payment(filter: {_blockNumber: {_eq: 99}}) { amount } }'
  const { data, incomplete } = await app.query<{ Payment: object[] }, object>(query)
  assert.equal(data.Payment.length, 1_000)
  assert.deepEqual(incomplete, [])
  const below = view.done[0]?.from ?? 0
  const all = await app.query('{ COUNT(Payment: {}) }')
  assert.deepEqual(
    all.incomplete.map(({ blocksLost, lost, blocksLeft }) => ({ blocksLost, lost, blocksLeft })),
    [{ blocksLost: below - 5, lost: [{ from: 5, to: below - 1 }], blocksLeft: 0 }],
  )
  await assert.rejects(app.query(`{ Payment(filter: {_blockNumber: ${below - 1}}) { to } }`), {
    message:
      /^There are no rows of the View Payment at block \d+: they went because .* took too much/,
  })
})

test('missing blocks of which some have to go at once for the bytes of the store hold up nothing', async (t) => {
  const chain = createMadeChain()
  chain.grow(100)
  let tail = 60
  const host = await openMadeHost(t, {
    chain,
    alter: (block) => ({ ...block, rows: largeRows(`block ${block.number}`) }),
    get tail() {
      return tail
    },
  })
  const app = await openTestApp(t, { hosts: [host], maxBytes: 16 * 1024 * 1024 })
  await untilState(app, (state) => topOf(state) === 99)
  tail = 0
  host.drop()
  await untilState(app, ({ views: [view] }) => view?.done.length === 2)
  await untilState(app, ({ views: [view] }) => view?.done.length === 1)
  chain.grow(1)
  await untilState(app, (state) => topOf(state) === 100)
})
