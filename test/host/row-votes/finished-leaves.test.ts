/** What of a block a Host has not signed yet. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  findUnsigned,
  materializedOf,
  type StandingView,
  type UnsignedBlock,
} from '../../../src/host/row-votes/finished-leaves.ts'
import type { RowStatement } from '../../../src/row-votes/row-statement.ts'
import { maxLeaves, type ViewLeaf } from '../../../src/row-votes/view-leaf.ts'
import type { Snapshot } from '../../../src/store/store.ts'
import { namedHash } from '../../support/chain/opaque-blocks.ts'
import { opaqueStatement } from '../../support/row-statements.ts'
import { hostedView } from '../views/engine/support/engine-room.ts'

const own = '02'.repeat(33)
const hash = namedHash('main:5')
const leafOf = (name: string): ViewLeaf =>
  opaqueStatement(5, hash, { views: [name] }).leaves[0] ?? assert.fail()

/** A View that is done with block 5. */
const view = (name: string, slot: number, rest: Partial<StandingView> = {}): StandingView => ({
  ...{ id: namedHash(name), slot, done: [[5, 5]], failed: [], isStopped: false },
  ...rest,
})

/** What is unsigned of block 5, of which these rows are stored by slot. */
function unsigned(
  views: readonly StandingView[],
  statements: readonly RowStatement[],
  rows: ReadonlyMap<number, ViewLeaf>,
  height = 5,
): UnsignedBlock | null {
  const snapshot = {
    rowBlocks: { header: (number: number) => (number === 5 ? { hash } : undefined) },
    rowStatements: () => statements,
    viewRows: (slot: number) => {
      const leaf = rows.get(slot)
      return leaf && { root: leaf.rowsRoot, count: leaf.count }
    },
  }
  return findUnsigned(snapshot as unknown as Snapshot, views, height, own)
}

const one = view('one', 1)
const rowsOfOne = new Map([[1, leafOf('one')]])

test('of the Views of a Host those are signed whose rows are stored', () => {
  const stored = hostedView()
  const streamed = hostedView({ slot: 2, sdl: 'type Made @materialized(if: false) { a: String }' })
  assert.deepEqual(materializedOf([streamed, stored, { ...stored, query: null }]), [stored])
})

test('of a block that is there all is to be signed of which a View is done and rows are stored', () => {
  const views = [one, view('two', 2), view('three', 3, { done: [[6, 9]], failed: [[5, 5]] })]
  const rows = new Map([...rowsOfOne, [3, leafOf('three')]])
  const expected = { blockNumber: 5, blockHash: hash, leaves: [leafOf('one')], outdated: [] }
  assert.deepEqual(unsigned(views, [], rows), { ...expected, isComplete: true })
  assert.equal(unsigned(views, [], rows, 6), null)
  assert.equal(unsigned([], [], rows), null)
})

test('what others signed, or of another branch or runtime, is none of what a Host signed', () => {
  const views = ['one']
  const other = [
    opaqueStatement(5, hash, { host: '03'.repeat(33), views }),
    opaqueStatement(5, namedHash('other:5'), { views }),
    opaqueStatement(5, hash, { runtime: 2, views }),
  ]
  const found = unsigned([one], other, rowsOfOne)
  assert.deepEqual([found?.leaves, found?.outdated], [[leafOf('one')], []])
  assert.equal(unsigned([one], [...other, opaqueStatement(5, hash, { views })], rowsOfOne), null)
})

test('a statement whose leaves all stand is outdated by a further one, another is kept beside it', () => {
  const [first, second] = [leafOf('one'), { ...leafOf('two'), count: 7 }]
  const rows = new Map([...rowsOfOne, [2, second]])
  const signed = [
    opaqueStatement(5, hash, { views: ['one'] }),
    opaqueStatement(5, hash, { views: ['one', 'two'] }),
  ]
  const found = unsigned([one, view('two', 2)], signed, rows)
  assert.deepEqual(new Set(found?.leaves), new Set([first, second]))
  assert.deepEqual(found?.outdated, signed.slice(0, 1))
})

test('as many Views are signed as a statement may name, and of these what they have now', () => {
  const names = Array.from({ length: maxLeaves }, (_, index) => `View ${index}`)
  const changed = { ...leafOf('View 0'), count: 7 }
  const views = [view('further', 1), view('View 0', 2)]
  const rows = new Map([
    [1, leafOf('further')],
    [2, changed],
  ])
  const signedOf = (count: number): readonly ViewLeaf[] =>
    unsigned(views, [opaqueStatement(5, hash, { views: names.slice(0, count) })], rows)?.leaves ??
    []
  for (const [count, isFurther] of [
    [maxLeaves, false],
    [maxLeaves - 1, true],
  ] as const) {
    const leaves = signedOf(count)
    assert.equal(leaves.length, maxLeaves)
    assert.deepEqual(
      leaves.find(({ view }) => view === changed.view),
      changed,
    )
    assert.equal(
      leaves.some(({ view }) => view === leafOf('further').view),
      isFurther,
    )
  }
})

test('a block is complete once each View is done with it, has failed at it, or is stopped', () => {
  const isComplete = (rest: Partial<StandingView>): boolean | undefined =>
    unsigned([one, view('two', 2, { done: [], ...rest })], [], rowsOfOne)?.isComplete
  assert.equal(isComplete({}), false)
  assert.equal(isComplete({ done: [[5, 5]] }), true)
  assert.equal(isComplete({ failed: [[5, 5]] }), true)
  assert.equal(isComplete({ failed: [[4, 4]] }), false)
  assert.equal(isComplete({ isStopped: true }), true)
})
