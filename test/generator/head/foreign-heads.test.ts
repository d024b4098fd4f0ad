/** When a key runs twice, as a table: heads of our key that we did not sign, with minute and height of their node. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  countForeignHead,
  type ForeignHeads,
  keyRunsTwice,
  noForeignHeads,
  startAt,
} from '../../../src/generator/head/foreign-heads.ts'
import { defaultHeadTiming } from '../../../src/generator/head/timing.ts'

type Found = readonly [minute: number, nodeHeight: number, place?: 'below']

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
  'three show it also where the chain stood still meanwhile': {
    found: [
      [1, 1_001],
      [2, 1_001],
      [3, 1_001],
    ],
    runsTwice: true,
  },
  'three show it also where each is exactly as long after the one before as it has to be': {
    found: [
      [1, 1_001],
      [1.75, 1_001],
      [2.5, 1_001],
    ],
    runsTwice: true,
  },
  'three that are not above ours show it where each is twice as long after': {
    found: [
      [1, 1_001, 'below'],
      [2.5, 1_011, 'below'],
      [4, 1_026, 'below'],
    ],
    runsTwice: true,
  },
  'three do not where the node of one was no higher than ours when the last one counted': {
    found: [
      [1, 1_001, 'below'],
      [2.5, 1_010, 'below'],
      [4, 1_026, 'below'],
    ],
    runsTwice: false,
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
  'three that are not above ours, each signed after the one before was seen, show it': {
    found: [
      [1, 1_010, 'below'],
      [3, 1_030, 'below'],
      [5, 1_050, 'below'],
    ],
    runsTwice: true,
  },
  'but not within three minutes, in which of two programs the one below has stopped': {
    found: [
      [1, 1_010, 'below'],
      [2, 1_020, 'below'],
      [2.9, 1_029, 'below'],
      [3.8, 1_038, 'below'],
    ],
    runsTwice: false,
  },
  'and kept ones that somebody shows, however many, count once': {
    found: Array.from(
      { length: 100 },
      (_, index): Found => [1 + index / 10, 1_001 + index / 10, 'below'],
    ),
    runsTwice: false,
  },
}

/** Our own node gets ten blocks a minute. */
function count(before: ForeignHeads, [minute, nodeHeight, place]: Found): ForeignHeads {
  const found = { nodeHeight, isAbove: place !== 'below' }
  return countForeignHead(before, found, start + 10 * minute, defaultHeadTiming, 60_000 * minute)
}

describe('a Generator', () => {
  for (const [name, { found, runsTwice }] of Object.entries(cases))
    test(name, () => {
      const counted = found.reduce(count, startAt(noForeignHeads, start))
      assert.equal(keyRunsTwice(counted, defaultHeadTiming), runsTwice)
    })

  test('counts nothing before its node has reported a height, and takes the first as the start', () => {
    const early = count(noForeignHeads, [0, 5_000])
    assert.deepEqual(early, noForeignHeads)
    assert.equal(startAt(startAt(early, start), 9_000).startHeight, start)
  })

  test('asks every peer between the first foreign head that counts and the third', () => {
    const { askPeersMs, foreignHeads, foreignHeadsApartMs } = defaultHeadTiming
    assert.ok((foreignHeads - 1) * foreignHeadsApartMs > askPeersMs)
  })
})
