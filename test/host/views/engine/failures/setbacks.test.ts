import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ServiceError } from '../../../../../src/errors.ts'
import { failureAt } from '../../../../../src/host/views/engine/failures/block-failure.ts'
import {
  createSetbacks,
  type Setbacks,
} from '../../../../../src/host/views/engine/failures/setbacks.ts'
import { encodeFailure } from '../../../../../src/views/rows/block-rows.ts'
import { opaqueBlock } from '../../../../support/chain/opaque-blocks.ts'
import { openTestStore } from '../../../../support/test-store.ts'

const slot = 1
const limit = { code: 'LENS_TIME_LIMIT', message: 'the lenses took more than 2000 ms', block: null }

/** Setbacks at a clock of the test; of each pause chance takes all that it may. */
function openSetbacks(t: TestContext, chance = 1) {
  t.mock.method(Math, 'random', () => chance)
  let now = 1_000
  const setbacks = createSetbacks({ slot }, () => now)
  return {
    setbacks,
    /** How long nothing is tried after this. */
    pauseAfter: (happen: (setbacks: Setbacks) => void): number => {
      happen(setbacks)
      const before = now
      while (setbacks.isPaused()) now += 100
      return now - before
    },
  }
}

test('what is nobody’s fault is tried again after 1 s, then twice as long, at most a minute', (t) => {
  const { setbacks, pauseAfter } = openSetbacks(t)
  assert.equal(setbacks.isPaused(), false)
  const delay = () => pauseAfter(({ delayed }) => delayed(new Error('no thread')))
  const pauses = Array.from({ length: 8 }, delay)
  assert.deepEqual(
    pauses,
    [1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1_000),
  )
  setbacks.noTrouble()
  assert.equal(delay(), 1_000)
  setbacks.limitOfSeveral(limit)
  assert.equal(delay(), 1_000)
  setbacks.retry()
  assert.equal(delay(), 1_000)
})

test('after limits a View waits 15 s, then twice as long, at most a minute', (t) => {
  const { pauseAfter } = openSetbacks(t)
  const pauses = [1, 2, 3, 4, 5, 6, 7, 8].map((inRow) =>
    pauseAfter(({ pauseAtLimit }) => pauseAtLimit(inRow)),
  )
  assert.deepEqual(
    pauses,
    [15, 30, 60, 60, 60, 60, 60, 60].map((seconds) => seconds * 1_000),
  )
})

test('pauses are shorter by chance, down to half, so that Views do not go on together', (t) => {
  const { pauseAfter } = openSetbacks(t, 0)
  assert.equal(
    pauseAfter(({ delayed }) => delayed(new Error('no thread'))),
    500,
  )
  assert.equal(
    pauseAfter(({ pauseAtLimit }) => pauseAtLimit(1)),
    7_500,
  )
})

test('blocks that went while they were read are asked for again after a tenth of a second', (t) => {
  const { pauseAfter } = openSetbacks(t)
  assert.equal(
    pauseAfter(({ pauseShortly }) => pauseShortly()),
    100,
  )
})

test('what holds a View up is said until a job is done or it is retried', (t) => {
  const { setbacks } = openSetbacks(t)
  assert.equal(setbacks.trouble(), null)
  setbacks.delayed(new ServiceError('LENS_BUSY', 'too many jobs wait', { remedy: 'Wait.' }))
  const busy = { code: 'LENS_BUSY', message: 'too many jobs wait', remedy: 'Wait.', block: null }
  assert.deepEqual(setbacks.trouble(), busy)
  setbacks.limitOfSeveral(limit)
  assert.deepEqual(setbacks.trouble(), limit)
  setbacks.noTrouble()
  assert.equal(setbacks.trouble(), null)
  setbacks.delayed(new Error('no thread'))
  assert.equal(setbacks.isPaused(), true)
  setbacks.retry()
  assert.deepEqual([setbacks.trouble(), setbacks.isPaused()], [null, false])
})

test('the last failure is the newest one that is stored, until a block fails', async (t) => {
  const store = await openTestStore(t)
  for (const height of [4, 5, 6]) await store.putBlock(opaqueBlock(height))
  const last = (of: Setbacks) => store.reader.read((snapshot) => of.lastFailure(snapshot))
  const fail = async (height: number): Promise<void> => {
    const { hash: blockHash, root: documentsRoot } = opaqueBlock(height).header
    const stored = { code: 'LENS_TRAPPED', message: `at ${height}`, remedy: null, attempts: 1 }
    const failure = encodeFailure(stored)
    await store.putViewRows(slot, [{ height, blockHash, documentsRoot, failure }])
    const kept = store.reader.read((snapshot) => failureAt(snapshot, slot, height))
    assert.deepEqual(kept, stored)
  }
  const { setbacks } = openSetbacks(t)
  assert.equal(last(setbacks), null)
  for (const height of [4, 5]) await fail(height)
  const shown = { code: 'LENS_TRAPPED', message: 'at 5', block: 5 }
  assert.deepEqual(last(setbacks), shown)
  await fail(6)
  assert.deepEqual(last(setbacks), shown)
  setbacks.blockFailed({ ...limit, block: 4 })
  assert.deepEqual(last(setbacks), { ...limit, block: 4 })
  setbacks.retry()
  assert.deepEqual(last(setbacks), { ...shown, message: 'at 6', block: 6 })
})
