import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createProgress, type Progress } from '../../../../src/host/views/engine/view-progress.ts'
import type { WorkFacts } from '../../../../src/host/views/engine/view-work.ts'
import {
  readVisible,
  type VisibleBlocks,
} from '../../../../src/host/views/engine/visible-blocks.ts'
import type { Snapshot } from '../../../../src/store/store.ts'
import { encodeFailure } from '../../../../src/views/rows/block-rows.ts'
import { opaqueBlock } from '../../../support/chain/opaque-blocks.ts'
import { openTestStore } from '../../../support/test-store.ts'

const slot = 1
const failure = encodeFailure({ code: 'LENS_TRAPPED', message: 'no', remedy: null, attempts: 1 })

/** A View that is done with height 2 of six, failed at 3 and 5, and began at 4. */
async function openProgress(t: TestContext) {
  const store = await openTestStore(t, null)
  const put = async (...heights: number[]): Promise<void> => {
    for (const height of heights) await store.putSealedBlock(opaqueBlock(height))
  }
  const blockAt = (height: number) => {
    const { hash: blockHash, root: documentsRoot } = opaqueBlock(height).header
    return { height, blockHash, documentsRoot }
  }
  const done = (height: number) => store.putEmptyViewBlocks([{ ...blockAt(height), slots: [slot] }])
  await put(1, 2, 3, 4, 5, 6)
  await done(2)
  await store.putViewRows(
    slot,
    [3, 5].map((height) => ({ ...blockAt(height), failure })),
  )
  let now = 0
  const progress = createProgress({ slot }, 4, () => now)
  const at = <T>(use: (snapshot: Snapshot, visible: VisibleBlocks) => T): T =>
    store.reader.read((snapshot) => use(snapshot, readVisible(snapshot)))
  return {
    store,
    put,
    done,
    progress,
    setNow: (ms: number) => {
      now = ms
    },
    facts: (): WorkFacts => at((snapshot, { heights }) => progress.facts(snapshot, heights)),
    fresh: (): WorkFacts => at((snapshot, visible) => progress.freshFacts(snapshot, visible)),
    rest: (): void => at((_, visible) => progress.rest(visible)),
    epoch: (): number => at(({ epoch }) => epoch),
  }
}

const whole: WorkFacts = {
  visible: [[1, 6]],
  settled: [
    [2, 3],
    [5, 5],
  ],
  underWay: [],
  suspects: [],
  due: [],
  liveAbove: 4,
}

test('a View needs no block that is done, or failed and is not tried again yet', async (t) => {
  const { progress, facts, fresh, setNow } = await openProgress(t)
  assert.deepEqual([facts(), fresh()], [whole, whole])
  progress.failed(3, 1_000)
  setNow(999)
  assert.deepEqual(facts(), whole)
  setNow(1_000)
  const due = {
    ...whole,
    settled: [
      [2, 2],
      [5, 5],
    ],
    due: [[3, 3]],
  }
  assert.deepEqual([facts(), fresh()], [due, due])
  progress.settled(3)
  assert.deepEqual(facts(), whole)
  progress.failed(3, 1_000)
  progress.retry()
  assert.deepEqual(facts(), whole)
})

test('a View needs no block below its oldest rows, where those before took too much', async (t) => {
  const { store, progress } = await openProgress(t)
  const settledFrom = (from: number) =>
    store.reader.read((snapshot) => {
      const limited: Snapshot = Object.create(snapshot, { viewFrom: { value: () => from } })
      return progress.facts(limited, whole.visible).settled
    })
  assert.deepEqual(settledFrom(0), whole.settled)
  assert.deepEqual(settledFrom(1), [[0, 0], ...whole.settled])
  assert.deepEqual(settledFrom(5), [[0, 5]])
})

test('blocks are under way until they end', async (t) => {
  const { progress, facts, fresh } = await openProgress(t)
  progress.begin([6, 5, 1])
  const underWay = [
    [1, 1],
    [5, 6],
  ]
  assert.deepEqual(
    [progress.underWay(), facts(), fresh()],
    [underWay, ...[0, 1].map(() => ({ ...whole, underWay }))],
  )
  progress.end([6, 1])
  assert.deepEqual(progress.underWay(), [[5, 5]])
  progress.endEmpty([5], 0)
  assert.deepEqual(progress.underWay(), [])
})

test('blocks of a job that failed are suspects until each is stored or gone, or all is done', async (t) => {
  const { store, progress, fresh, rest } = await openProgress(t)
  const suspects = (): WorkFacts['suspects'] => fresh().suspects
  progress.suspect([6, 5, 4, 1])
  assert.deepEqual(suspects(), [
    [1, 1],
    [4, 6],
  ])
  progress.settled(4)
  progress.failed(1, 1_000)
  assert.deepEqual(suspects(), [[5, 6]])
  await store.truncateAbove(5)
  assert.deepEqual(suspects(), [[5, 5]])
  progress.retry()
  assert.deepEqual(suspects(), [])
  progress.suspect([4])
  rest()
  progress.wake()
  assert.deepEqual(suspects(), [])
})

/** What wakes a View that needed nothing more. */
const wakings: readonly [string, (progress: Progress, epoch: number) => void][] = [
  ['a job that ended', ({ end }) => end([])],
  ['a retry', ({ retry }) => retry()],
  ['a call', ({ wake }) => wake()],
  ['a mark of another epoch', ({ endEmpty }, epoch) => endEmpty([], epoch + 1)],
  ['a failure', ({ failed }) => failed(3, 1)],
]

test('a View that rests looks at new blocks alone, until something wakes it', async (t) => {
  const { progress, fresh, rest, put, done, epoch } = await openProgress(t)
  const freshAt = (...visible: WorkFacts['visible']) => ({
    visible,
    settled: [],
    underWay: [],
    suspects: [],
    due: [],
    liveAbove: 4,
  })
  rest()
  assert.deepEqual(fresh(), freshAt())
  await put(7, 8)
  assert.deepEqual(fresh(), freshAt([7, 8]))
  await done(7)
  progress.endEmpty([7], epoch())
  assert.deepEqual(fresh(), freshAt([8, 8]))
  for (const [what, wake] of wakings) {
    progress.retry()
    rest()
    assert.deepEqual(fresh().visible, [], what)
    wake(progress, epoch())
    assert.deepEqual(fresh().visible, [[1, 8]], what)
  }
})

test('a View that rests looks at all blocks once some were removed, and waits for none of those', async (t) => {
  const { store, progress, fresh, rest, put } = await openProgress(t)
  progress.failed(6, 1)
  rest()
  assert.deepEqual(fresh().visible, [[1, 6]])
  await store.truncateAbove(5)
  assert.deepEqual(fresh().visible, [[1, 5]])
  rest()
  assert.deepEqual(fresh().visible, [])
  await put(6)
  assert.deepEqual(fresh().visible, [[6, 6]])
})

test('a View that rests looks at no new block that it was done with as it was stored', async (t) => {
  const { store, progress, rest, put, epoch } = await openProgress(t)
  rest()
  await put(7, 8)
  const freshAfter = (...reported: [height: number, slot: number][]) =>
    store.reader.read((snapshot) => {
      const done = reported.map(([height, of]) => ({ height, epoch: epoch(), slots: [of] }))
      return progress.freshFacts(snapshot, readVisible(snapshot, done)).visible
    })
  assert.deepEqual(freshAfter([7, slot], [8, slot]), [])
  assert.deepEqual(freshAfter([7, slot], [8, slot + 1]), [[7, 8]])
  assert.deepEqual(freshAfter([8, slot]), [[7, 8]])
})
