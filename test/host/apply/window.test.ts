/** Which heights are of use to a Host. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Window, windowOf } from '../../../src/host/apply/window.ts'

type Facts = Parameters<typeof windowOf>[0]

const nothing: Facts = { retainBlocks: null, head: -1, horizon: null, highest: -1 }
const cases: readonly (readonly [string, Partial<Facts>, Window])[] = [
  ['nothing is known', {}, { floor: 0, windowFloor: 0, ceiling: 64 }],
  [
    'all blocks are kept',
    { head: 5_000, horizon: 4_000, highest: 5_000 },
    { floor: 0, windowFloor: 3_977, ceiling: 5_064 },
  ],
  [
    'fewer blocks are kept than the window has',
    { retainBlocks: 100, head: 5_000, highest: 5_000 },
    { floor: 4_901, windowFloor: 4_901, ceiling: 5_064 },
  ],
  [
    'more blocks are kept than the window has',
    { retainBlocks: 2_000, head: 5_000, highest: 5_000 },
    { floor: 3_001, windowFloor: 3_977, ceiling: 5_064 },
  ],
  [
    'most signers are above what is stored, and one is above them',
    { retainBlocks: 100, head: 10, horizon: 5_000, highest: 6_000 },
    { floor: 4_901, windowFloor: 4_901, ceiling: 6_064 },
  ],
  [
    'the chain is shorter than what is kept',
    { retainBlocks: 100, head: 98, horizon: 99, highest: 99 },
    { floor: 0, windowFloor: 0, ceiling: 163 },
  ],
  [
    'one block of the chain is no longer kept',
    { retainBlocks: 100, head: 100, horizon: 100, highest: 100 },
    { floor: 1, windowFloor: 1, ceiling: 164 },
  ],
]
for (const [name, facts, expected] of cases)
  test(`the window is known where ${name}`, () => {
    assert.deepEqual(windowOf({ ...nothing, ...facts }), expected)
  })
