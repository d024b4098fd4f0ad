/** When a key runs twice, as a table: own heads that were found above ours, with minute and height of their node. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  countOvertaking,
  keyRunsTwice,
  noOvertakings,
  startAt,
} from '../../../src/generator/head/overtaking.ts'
import { defaultHeadTiming } from '../../../src/generator/head/timing.ts'

type Found = readonly [minute: number, nodeHeight: number]

/** The node was at this height when the program started. */
const start = 1_000

const cases: Readonly<Record<string, { found: readonly Found[]; runsTwice: boolean }>> = {
  'three later heads in ten minutes show it': {
    found: [
      [1, 1_005],
      [2, 1_010],
      [3, 1_015],
    ],
    runsTwice: true,
  },
  'also where the chain stood still meanwhile': {
    found: [
      [1, 1_001],
      [2, 1_001],
      [3, 1_001],
    ],
    runsTwice: true,
  },
  'two do not': {
    found: [
      [1, 1_005],
      [2, 1_010],
    ],
    runsTwice: false,
  },
  'three in more than ten minutes do not': {
    found: [
      [0, 1_005],
      [5, 1_010],
      [10, 1_015],
    ],
    runsTwice: false,
  },
  'but the last three of many in ten minutes do': {
    found: [
      [0, 1_005],
      [9, 1_010],
      [12, 1_015],
      [15, 1_020],
    ],
    runsTwice: true,
  },
  'a thousand heads from before the start never do': {
    found: Array.from({ length: 1_000 }, (_, index): Found => [index, index + 1]),
    runsTwice: false,
  },
  'later heads that several peers show at once count once': {
    found: [
      [1, 1_001],
      [1.1, 1_002],
      [1.2, 1_003],
      [1.7, 1_004],
    ],
    runsTwice: false,
  },
}

describe('a Generator', () => {
  for (const [name, { found, runsTwice }] of Object.entries(cases))
    test(name, () => {
      const counted = found.reduce(
        (state, [minute, nodeHeight]) =>
          countOvertaking(state, nodeHeight, defaultHeadTiming, 60_000 * minute),
        startAt(noOvertakings, start),
      )
      assert.equal(keyRunsTwice(counted, defaultHeadTiming), runsTwice)
    })

  test('counts nothing before its node has told a height, and takes the first one for the start', () => {
    const early = countOvertaking(noOvertakings, 5_000, defaultHeadTiming, 0)
    assert.deepEqual(early, noOvertakings)
    assert.deepEqual(startAt(startAt(early, start), 9_000), { startHeight: start, timesMs: [] })
  })

  test('asks every peer between the first overtaking that counts and the third', () => {
    const { askPeersMs, overtakings, overtakingsApartMs } = defaultHeadTiming
    assert.ok((overtakings - 1) * overtakingsApartMs > askPeersMs)
  })
})
