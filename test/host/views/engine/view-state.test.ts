/** How a View is described, from what its run knows and what is stored of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ViewFailure, ViewState } from '../../../../src/host/views/engine/view-engine.ts'
import { describeState } from '../../../../src/host/views/engine/view-state.ts'
import { type HeightRanges, uniteHeights } from '../../../../src/primitives/height-ranges.ts'
import type { Snapshot } from '../../../../src/store/store.ts'

interface Scene {
  readonly done?: HeightRanges
  readonly failed?: HeightRanges
  readonly rowsFrom?: number
  readonly isReady?: boolean
  readonly quarantine?: ViewFailure
  readonly trouble?: ViewFailure
}

const failureOf = (code: string): ViewFailure => ({ code, message: `${code} is so`, block: null })
const lastFailure = failureOf('LAST')

/** A View of a chain with blocks 11 to 20, of which the last came since it began. */
function stateOf({ done = [], failed = [], rowsFrom = 0, ...scene }: Scene): ViewState {
  const snapshot: Pick<Snapshot, 'viewRanges' | 'viewFailures' | 'viewSize' | 'viewFrom'> = {
    viewRanges: () => done,
    viewFailures: () => failed,
    viewSize: () => ({ rows: 7, bytes: 99 }),
    viewFrom: () => rowsFrom,
  }
  return describeState(
    {
      view: { slot: 1 },
      pace: { perSecond: () => 5, costMs: () => 2 },
      isReady: scene.isReady ?? true,
      quarantine: { reason: () => scene.quarantine ?? null },
      setbacks: { trouble: () => scene.trouble ?? null, lastFailure: () => lastFailure },
    },
    snapshot as Snapshot,
    {
      visible: [[11, 20]],
      settled: uniteHeights([...done, ...failed]),
      underWay: [],
      suspects: [],
      due: [],
      liveAbove: 19,
    },
  )
}

test('a View is described by its rows, what is left and how fast it goes', () => {
  assert.deepEqual(stateOf({ done: [[15, 18]] }), {
    ...{ name: 'backfilling', rows: 7, bytes: 99, done: [[15, 18]], rowsFrom: null },
    ...{ blocksLeft: 6, blocksFailed: 0, blocksPerSecond: 5, costMs: 2, failure: null },
  })
  assert.deepEqual(stateOf({ done: [[11, 20]], rowsFrom: 11 }), {
    ...{ name: 'live', rows: 7, bytes: 99, done: [[11, 20]], rowsFrom: 11 },
    ...{ blocksLeft: 0, blocksFailed: 0, blocksPerSecond: null, costMs: 2, failure: null },
  })
  const nearly = stateOf({ done: [[11, 19]] })
  assert.deepEqual([nearly.blocksLeft, nearly.blocksPerSecond], [1, 5])
})

test('a View waits until it is known what is stored of it, and a block is done or failed', () => {
  const names = [
    stateOf({}),
    stateOf({ done: [[11, 20]], isReady: false }),
    stateOf({ done: [[12, 12]] }),
    stateOf({ failed: [[12, 12]] }),
  ].map(({ name }) => name)
  assert.deepEqual(names, ['waiting', 'waiting', 'backfilling', 'failed'])
})

test('a View is failed while none of its blocks went well, though others wait to be tried', () => {
  const [done, failed] = [[[13, 13]], [[12, 12]]] as const
  assert.equal(stateOf({ failed }).name, 'failed')
  assert.equal(stateOf({ failed, done }).name, 'backfilling')
})

test('blocks have failed of a View as long as they are stored', () => {
  const gone = stateOf({ failed: [[5, 9]], done: [[11, 20]] })
  assert.deepEqual([gone.name, gone.blocksFailed, gone.failure], ['live', 0, null])
  const [failed, done] = [[[8, 12]], [[13, 20]]] as const
  const left = stateOf({ failed, done })
  assert.deepEqual([left.name, left.blocksFailed, left.failure], ['failed', 2, lastFailure])
  assert.equal(stateOf({ failed, done, isReady: false }).failure, null)
  const one = stateOf({ failed: [[11, 11]], done: [[12, 20]] })
  assert.deepEqual([one.blocksFailed, one.failure], [1, lastFailure])
})

test('of several failures of a View the one that keeps it from its work is shown', () => {
  const [failed, done] = [[[11, 12]], [[13, 20]]] as const
  const [quarantine, trouble] = ['QUARANTINE', 'TROUBLE'].map(failureOf)
  assert.ok(quarantine && trouble)
  const troubled = stateOf({ failed, done, trouble })
  assert.deepEqual([troubled.name, troubled.failure], ['failed', trouble])
  const ended = stateOf({ failed, done, trouble, quarantine })
  assert.deepEqual([ended.name, ended.failure], ['quarantined', quarantine])
})
