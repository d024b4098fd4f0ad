/** Whose head counts: a table that reads like the decision. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  countedSigners,
  followedSigners,
  nextCountMs,
  reachedHeight,
  type Signer,
} from '../../../src/host/fork-choice/counting.ts'

const started = 1_000_000
const late = started + 600_000

/** A signer at a height whose newest head came so many seconds ago; null was not heard since the start. */
function signer(
  identity: string,
  number: number,
  secondsAgo: number | null,
  behindNode = 0,
  now = late,
): Signer {
  const head = { number, hash: `${number}`, nodeHeight: number + behindNode }
  return { identity, head, heardMs: secondsAgo === null ? null : now - secondsAgo * 1000 }
}

interface Case {
  readonly name: string
  readonly signers: readonly Signer[]
  readonly counted: readonly string[]
  /** Seconds since the start. Default ten minutes. */
  readonly after?: number
}

const unheard: Signer = { identity: 'C', head: null, heardMs: null }
const early = (secondsAgo: number | null, identity: string): Signer =>
  signer(identity, 9, secondsAgo, 0, started + 10_000)

const cases: readonly Case[] = [
  { name: 'a sole signer counts at once', signers: [early(1, 'A')], counted: ['A'], after: 10 },
  {
    name: 'two of three count at once after a start',
    signers: [early(1, 'A'), early(1, 'B'), unheard],
    counted: ['A', 'B'],
    after: 10,
  },
  {
    name: 'one of two waits for the other until a minute has passed',
    signers: [early(1, 'A'), early(null, 'B')],
    counted: [],
    after: 10,
  },
  {
    name: 'one of two counts after that minute',
    signers: [signer('A', 9, 1, 0, started + 60_000), early(null, 'B')],
    counted: ['A'],
    after: 60,
  },
  {
    name: 'one of three waits as well',
    signers: [early(1, 'A'), early(null, 'B'), unheard],
    counted: [],
    after: 10,
  },
  {
    name: 'a head counts for 45 seconds',
    signers: [signer('A', 9, 45), signer('B', 9, 45.001)],
    counted: ['A'],
  },
  {
    name: 'a signer that is heard on another chain does not count',
    signers: [{ ...signer('A', 9, 1), head: null }, signer('B', 9, 1)],
    counted: ['B'],
  },
  {
    name: 'a head that was known before the start does not count until a newer one comes',
    signers: [signer('A', 9, null), signer('B', 9, 1)],
    counted: ['B'],
  },
  {
    name: 'who is more than 64 below its node gives way to who is not',
    signers: [signer('A', 100, 1, 65), signer('B', 200, 1, 64)],
    counted: ['B'],
  },
  {
    name: 'who catches up counts while those that do not are fewer than half of all',
    signers: [signer('A', 100, 1, 65), signer('B', 90, 1, 500), signer('C', 200, 1)],
    counted: ['A', 'B', 'C'],
  },
  {
    name: 'a sole signer that lost its store counts while it catches up',
    signers: [signer('A', 100, 1, 5_000)],
    counted: ['A'],
  },
  {
    name: 'where everybody is silent nobody counts',
    signers: [signer('A', 9, 300), unheard],
    counted: [],
  },
  { name: 'of no signers none counts', signers: [], counted: [] },
]

for (const { name, signers, counted, after = 600 } of cases) {
  test(name, () => {
    const time = { nowMs: started + after * 1000, startedMs: started }
    assert.deepEqual(
      countedSigners(signers, time).map(({ identity }) => identity),
      counted,
    )
  })
}

const followedCases: readonly (Omit<Case, 'counted'> & { readonly followed: readonly string[] })[] =
  [
    {
      name: 'while one counts the silent ones are not followed',
      signers: [signer('A', 9, null), signer('B', 9, 1)],
      followed: ['B'],
    },
    {
      name: 'where everybody is silent those are followed of which a head is known',
      signers: [signer('A', 9, 300), signer('B', 9, null), unheard],
      followed: ['A', 'B'],
    },
    {
      name: 'of silent ones who catches up gives way as well',
      signers: [signer('A', 100, 300, 65), signer('B', 200, 300)],
      followed: ['B'],
    },
    {
      name: 'within 45 seconds of a start nobody is followed who was not heard',
      signers: [signer('A', 9, null)],
      followed: [],
      after: 45,
    },
    {
      name: 'then most of all may be followed',
      signers: [signer('A', 9, null), signer('B', 9, null), unheard],
      followed: ['A', 'B'],
      after: 46,
    },
    {
      name: 'and half of them wait for the others until a minute has passed',
      signers: [signer('A', 9, null), unheard],
      followed: [],
      after: 59,
    },
  ]

for (const { name, signers, followed, after = 600 } of followedCases) {
  test(name, () => {
    const time = { nowMs: started + after * 1000, startedMs: started }
    assert.deepEqual(
      followedSigners(signers, time).map(({ identity }) => identity),
      followed,
    )
  })
}

test('time alone changes who counts: a head ages, patience ends, 45 seconds pass in silence', () => {
  const time = { nowMs: started + 1_000, startedMs: started }
  const silent = signer('A', 9, null)
  assert.equal(nextCountMs([silent], time), started + 45_001)
  assert.equal(nextCountMs([silent], { ...time, nowMs: started + 45_001 }), started + 60_000)
  const heard = { ...silent, heardMs: started + 500 }
  assert.equal(nextCountMs([heard], time), started + 45_001)
  assert.equal(nextCountMs([heard], { ...time, nowMs: started + 45_001 }), started + 45_501)
  assert.equal(nextCountMs([heard], { ...time, nowMs: started + 70_000 }), null)
})

test('reached is what more than half of the counted have reached: no single word moves it', () => {
  const at = (...heights: number[]): number | null =>
    reachedHeight(heights.map((height, index) => signer(`${index}`, height, 1)))
  assert.equal(at(), null)
  assert.equal(at(10), 10)
  assert.equal(at(10, 12), 10)
  assert.equal(at(10, 12, 2 ** 31 - 1), 12)
  assert.equal(at(10, 12, 0), 10)
  assert.equal(at(10, 12, 14, 16), 12)
})
