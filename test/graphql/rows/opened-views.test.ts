/** Memory of what one request has read of its blocks. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { defaultQueryLimits } from '../../../src/graphql/budget/limits.ts'
import { createMemoryPool } from '../../../src/graphql/budget/memory-pool.ts'
import {
  createQueryBudget,
  createQueryScheduler,
} from '../../../src/graphql/budget/query-budget.ts'
import {
  type BlockView,
  documentChunk,
  emptyMemo,
  openBlockView,
  openChunk,
  storedBlock,
} from '../../../src/graphql/rows/block-view.ts'
import { createOpenedViews } from '../../../src/graphql/rows/opened-views.ts'
import { type BlockShape, createChain } from '../../support/chain/block-factory.ts'
import { storableBlock } from '../../support/chain/store-blocks.ts'
import { openTestStore } from '../../support/test-store.ts'

const mib = 1024 * 1024

test('above 4 MiB what was read of the older half of the blocks is released', () => {
  const memory = createMemoryPool({ maxHeldBytes: 64 * mib })
  const account = memory.openAccount()
  const scheduler = createQueryScheduler()
  const budget = createQueryBudget(defaultQueryLimits, { account, scheduler, signal: undefined })
  const opened = createOpenedViews(budget)
  const views = Array.from({ length: 5 }, () => ({ memo: emptyMemo() }) as BlockView)
  const read = (view: BlockView | undefined, bytes: number): void => {
    assert.ok(view)
    view.memo.seals = []
    opened.note(view, bytes)
  }
  const held = (): boolean[] => views.map(({ memo }) => memo.seals !== undefined)
  for (const part of [1, 1, mib - 2]) read(views[0], part)
  for (const view of views.slice(1, 4)) read(view, mib)
  assert.deepEqual(held(), [true, true, true, true, false])
  assert.equal(memory.heldBytes(), 4 * mib)
  read(views[4], 1)
  assert.deepEqual(held(), [false, false, true, true, true])
  assert.equal(memory.heldBytes(), 2 * mib + 1)
  read(views[0], 2 * mib - 1)
  assert.deepEqual(held(), [true, false, true, true, true], 'read again')
  read(views[2], 1)
  assert.deepEqual(held(), [true, false, false, false, true])
  assert.equal(memory.heldBytes(), 2 * mib)
})

/** A stored block of this shape, and how many bytes a request says to have read of it. */
async function openView(
  t: TestContext,
  shape: BlockShape,
): Promise<{ view: BlockView; bytes(): number }> {
  const store = await openTestStore(t)
  for (const block of createChain({ count: 1, shape }))
    await store.putSealedBlock(storableBlock(block))
  const snapshot = store.reader.snapshot()
  t.after(() => snapshot.release())
  let bytes = 0
  const note = (_: BlockView, more: number): void => {
    bytes += more
  }
  const view = openBlockView({ snapshot, opened: { note } } as never, snapshot, 1)
  return { view: view ?? assert.fail('block 1 is there'), bytes: () => bytes }
}

test('a block that was read counts once, by the number of its documents', async (t) => {
  const shape = { transactions: 2, logs: 3, entries: 1, calldataBytes: 68 }
  const small = await openView(t, shape)
  const large = await openView(t, { ...shape, logs: 300 })
  for (const { view } of [small, large, small]) storedBlock(view)
  assert.ok(small.bytes() >= small.view.header.count)
  const perDocument = small.bytes() / small.view.header.count
  assert.equal(large.bytes() / large.view.header.count, perDocument)
})

test('of each section the chunk that was read last counts, with its bytes', async (t) => {
  const { view, bytes } = await openView(t, {
    transactions: 2,
    logs: 300,
    entries: 0,
    calldataBytes: 68,
  })
  storedBlock(view)
  const before = bytes()
  const first = documentChunk(view, 'Log', 0)
  const withFirst = bytes() - before
  assert.ok(withFirst > first.bytes.length)
  assert.equal(documentChunk(view, 'Log', first.length - 1), first)
  assert.equal(bytes() - before, withFirst)
  const last = documentChunk(view, 'Log', 299)
  assert.notEqual(last, first)
  const withLast = withFirst - first.bytes.length + last.bytes.length
  assert.equal(bytes() - before, withLast)
  const transactions = openChunk(view, 'Transaction', 0)
  const both = withLast + transactions.bytes.length + (withFirst - first.bytes.length)
  assert.equal(bytes() - before, both)
})
