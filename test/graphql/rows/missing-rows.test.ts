import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  createMissingRows,
  hostGaps,
  type MissingBlocks,
  nothingMissing,
} from '../../../src/graphql/rows/missing-rows.ts'
import {
  allHeights,
  heightGaps,
  rangeOfHeights,
  toHeightRanges,
} from '../../../src/primitives/height-ranges.ts'
import type { Snapshot } from '../../../src/store/store.ts'

const last = 14
const anyHeights = fc.uniqueArray(fc.nat(last), { maxLength: last })

/** Heights of which a Host has something, whether it makes sense together or not. */
const anyStore = fc.record({
  /** Blocks that had a chance to be computed, and those that are still stored as a whole. */
  rowBlocks: anyHeights,
  blocks: fc.option(fc.nat(last), { nil: null }),
  done: anyHeights,
  failures: anyHeights,
  from: fc.nat(last),
})
type StoredHeights = typeof anyStore extends fc.Arbitrary<infer T> ? T : never

function snapshotOf({ rowBlocks, blocks, done, failures, from }: StoredHeights): Snapshot {
  const ranges = toHeightRanges(rowBlocks)
  const gaps = heightGaps(ranges, Infinity).map(([from, to]) => ({ from, to }))
  return {
    rowBlocks: { range: () => rangeOfHeights(ranges), gaps: () => gaps },
    range: () => (blocks === null ? null : { tail: blocks, head: last }),
    viewRanges: () => toHeightRanges(done),
    viewFailures: () => toHeightRanges(failures),
    viewFrom: () => from,
  } as unknown as Snapshot
}

/** The same, height by height. */
function expected({ rowBlocks, blocks, done, failures, from }: StoredHeights): MissingBlocks {
  const missing = rowBlocks.filter((height) => !done.includes(height))
  const undone = missing.filter((height) => !failures.includes(height))
  const begun = Math.min(...done, ...failures)
  const isPruned = (height: number) => blocks === null || height < blocks
  const isLost = (height: number) => height < from || (isPruned(height) && height >= begun)
  return {
    notDone: toHeightRanges(undone.filter((height) => height >= from && !isPruned(height))),
    failed: toHeightRanges(missing.filter((height) => failures.includes(height))),
    lost: toHeightRanges(undone.filter(isLost)),
  }
}

test('a Host lacks the rows of a block because they may come, failed, or cannot be made any more', () => {
  fc.assert(
    fc.property(anyStore, (stored) => {
      assert.deepEqual(hostGaps.missingOf(snapshotOf(stored), 1), expected(stored))
    }),
    { numRuns: 2_000 },
  )
})

const everyOther = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => from + 2 * index)
const rangesOf = (heights: readonly number[]) => heights.map((one) => ({ from: one, to: one }))

const viewOf = (name: string, slot: number) => ({ id: `0x${slot}`, name, slot })
const first = viewOf('First', 1)
const second = viewOf('Second', 2)
const none = { blocksLeft: 0, blocksFailed: 0, blocksLost: 0, left: [], failed: [], lost: [] }

const quarantine = { code: 'LENS_TRAPPED', message: 'lens 1 trapped', block: 8 }

/** A request to a Host that lacks these blocks of each View. */
function requestOf(missing: Partial<MissingBlocks>, quarantined?: string) {
  const asked: number[] = []
  const gaps = {
    help: 'See there.',
    missingOf: (_: Snapshot, slot: number) => {
      asked.push(slot)
      return { ...nothingMissing, ...missing }
    },
    quarantineOf: (_: Snapshot, { id }: { readonly id: string }) =>
      id === quarantined ? quarantine : null,
  }
  return { asked, request: createMissingRows({} as Snapshot, gaps) }
}

test('an answer names what it lacks of each View among the heights that it may be about', () => {
  const { asked, request } = requestOf({ notDone: [[1, 9]], failed: [[11, 11]], lost: [[20, 29]] })
  request.note(second, [[8, 11]])
  request.note(first, [[28, 40]])
  request.note(second, [[1, 2]])
  request.note(viewOf('Third', 3), [[10, 10]])
  request.note(viewOf('Fourth', 4), [[9, 11]])
  const left = [
    { from: 1, to: 2 },
    { from: 8, to: 9 },
  ]
  const one = { ...none, blocksLeft: 1, blocksFailed: 1 }
  assert.deepEqual(request.incomplete(), [
    { ...none, name: 'Second', blocksLeft: 4, left, blocksFailed: 1, failed: rangesOf([11]) },
    { ...none, name: 'First', blocksLost: 2, lost: [{ from: 28, to: 29 }] },
    { ...one, name: 'Fourth', left: rangesOf([9]), failed: rangesOf([11]) },
  ])
  request.note(first, allHeights)
  request.note(first, [[1, 2]])
  assert.equal(request.incomplete()[1]?.blocksLeft, 9)
  assert.deepEqual(asked, [2, 1, 3, 4], 'worked out once for each View')
  assert.equal(request.help, 'See there.')
})

test('an answer says why rows of a View do not come by themselves, where it lacks such rows', () => {
  const { request } = requestOf({ notDone: [[1, 9]], failed: [[11, 11]] }, second.id)
  request.note(first, [[9, 9]])
  request.note(second, [[9, 9]])
  const lack = { ...none, blocksLeft: 1, left: rangesOf([9]) }
  assert.deepEqual(request.incomplete(), [
    { ...lack, name: 'First' },
    { ...lack, name: 'Second', quarantine },
  ])
  const { request: other } = requestOf({ notDone: [[1, 9]], failed: [[11, 11]] }, second.id)
  other.note(second, [[10, 11]])
  assert.deepEqual(other.incomplete(), [
    { ...none, name: 'Second', blocksFailed: 1, failed: rangesOf([11]) },
  ])
})

test('an answer names 100 ranges of each kind at most, the lowest, and counts all blocks', () => {
  const [notDone, failed, lost, leftOut] = [1, 301, 601, 901].map((from) => everyOther(from, 101))
  assert.ok(notDone && failed && lost && leftOut)
  const { request } = requestOf({
    notDone: toHeightRanges(notDone),
    failed: toHeightRanges(failed),
    lost: toHeightRanges(lost),
  })
  request.note(first, allHeights)
  for (const height of leftOut.toReversed()) request.leaveOut(first, height)
  const counts = { blocksLeft: 101, blocksFailed: 101, blocksLost: 101, blocksUnattested: 101 }
  assert.deepEqual(request.incomplete(), [
    {
      ...{ name: 'First', ...counts },
      left: rangesOf(notDone.slice(0, 100)),
      failed: rangesOf(failed.slice(0, 100)),
      lost: rangesOf(lost.slice(0, 100)),
      unattested: rangesOf(leftOut.slice(0, 100)),
    },
  ])
})

test('a View of which only blocks were left out is incomplete by them alone', () => {
  const { request } = requestOf({})
  request.leaveOut(first, 7)
  request.leaveOut(first, 7)
  request.note(second, allHeights)
  const [only, ...others] = request.incomplete()
  assert.deepEqual(only, {
    ...{ ...none, name: 'First', blocksUnattested: 1 },
    unattested: rangesOf([7]),
  })
  assert.deepEqual(others, [])
})
