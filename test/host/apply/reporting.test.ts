/** When the writer says where the Host stands. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FollowState } from '../../../src/host/apply/outcome.ts'
import { createReporting } from '../../../src/host/apply/reporting.ts'

interface Scene {
  readonly reporting: ReturnType<typeof createReporting>
  /** The floors that were reported. */
  readonly floors: readonly number[]
  setFloor(floor: number): void
  pass(ms: number): void
}

function openScene(t: TestContext): Scene {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let floor = 1
  const floors: number[] = []
  const stateNow = (): FollowState => ({
    genesis: null,
    signers: [],
    reached: null,
    wants: [],
    failures: [],
    standsStillMs: 0,
    floor,
    waiting: { blocks: 0, bytes: 0 },
  })
  return {
    reporting: createReporting(stateNow, (state) => floors.push(state.floor)),
    floors,
    setFloor: (next) => {
      floor = next
    },
    pass: (ms) => t.mock.timers.tick(ms),
  }
}

test('what changed is reported once, 20 ms after the first change, as it is then', (t) => {
  const { reporting, floors, setFloor, pass } = openScene(t)
  pass(1_000)
  assert.deepEqual(floors, [], 'nothing woke it')
  reporting.wake()
  pass(19)
  assert.deepEqual(floors, [])
  setFloor(2)
  reporting.wake()
  pass(1)
  assert.deepEqual(floors, [2])
  pass(1_000)
  assert.deepEqual(floors, [2])
})

test('what is as it was is not reported again, what differs is', (t) => {
  const { reporting, floors, setFloor, pass } = openScene(t)
  for (const floor of [1, 1, 2, 2, 1]) {
    setFloor(floor)
    reporting.wake()
    pass(20)
  }
  assert.deepEqual(floors, [1, 2, 1])
})

test('nothing is reported once it is closed', (t) => {
  const { reporting, floors, pass } = openScene(t)
  reporting.wake()
  reporting.close()
  reporting.wake()
  pass(1_000)
  assert.deepEqual(floors, [])
})
