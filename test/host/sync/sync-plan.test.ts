/** What a Host asks of its peers, in which order, and what it does about peers that do not deliver. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type HeightRange, subtractRanges } from '../../../src/host/height-ranges.ts'
import {
  firstSetbackMs,
  maxSetbackMs,
  missingHeights,
  nextChangeMs,
  nextPull,
  type PlanPeer,
  type PlanTime,
  type Pull,
  type Setback,
  type StoredHeights,
  withoutPeer,
  withoutSetback,
  withSetback,
} from '../../../src/host/sync/sync-plan.ts'

const options = { retainBlocks: 1000, pieceBlocks: 64, jumpAfterMs: 60_000 }
/** Long after the last block. */
const later = (nowMs: number): PlanTime => ({ nowMs, headSinceMs: -1_000_000 })
const at = (nowMs: number): PlanTime => ({ nowMs, headSinceMs: 0 })
const peer = (id: string, tail: number, head: number): PlanPeer => ({
  id,
  announced: { tail, head },
})
const stored = (tail: number, head: number, ...gaps: [number, number][]): StoredHeights => ({
  tail,
  head,
  gaps: gaps.map(([from, to]) => ({ from, to })),
})

describe('what is missing', () => {
  test('an empty Host wants the newest 1,000 of what a peer has', () => {
    assert.deepEqual(missingHeights(peer('a', 0, 5000), null, 1000), [{ from: 4001, to: 5000 }])
  })

  test('a Host that keeps everything wants everything', () => {
    assert.deepEqual(missingHeights(peer('a', 7, 5000), null, null), [{ from: 7, to: 5000 }])
  })

  test('only what the peer announces is asked of it', () => {
    assert.deepEqual(missingHeights(peer('a', 950, 960), stored(955, 957), 1000), [
      { from: 950, to: 954 },
      { from: 958, to: 960 },
    ])
    assert.deepEqual(missingHeights({ id: 'a', announced: null }, null, 1000), [])
  })

  test('gaps between stored blocks come before the end of the chain', () => {
    assert.deepEqual(missingHeights(peer('a', 0, 120), stored(0, 110, [50, 59]), 1000), [
      { from: 50, to: 59 },
      { from: 111, to: 120 },
    ])
  })

  test('what is older than the kept window is not fetched any more', () => {
    assert.deepEqual(missingHeights(peer('a', 0, 2000), stored(900, 1500), 1000), [
      { from: 1501, to: 2000 },
    ])
  })
})

describe('what is pulled next', () => {
  test('the lowest missing piece, no longer than a piece may be', () => {
    const pull = nextPull([peer('a', 0, 500)], stored(0, 99), [], at(0), options)
    assert.deepEqual(pull, { peer: 'a', from: 100, to: 163, mayFloat: false })
  })

  test('another peer is asked for what the first did not deliver', () => {
    const peers = [peer('a', 0, 500), peer('b', 0, 500)]
    const setbacks = withSetback([], { peer: 'a', from: 100, to: 163 }, 0)
    const pull = nextPull(peers, stored(0, 99), setbacks, at(1), options)
    assert.deepEqual(pull, { peer: 'b', from: 100, to: 163, mayFloat: false })
  })

  test('blocks far above wait while a peer can continue the stored chain, and no longer than a minute', () => {
    const far = peer('far', 5000, 6000)
    const near = peer('near', 0, 99)
    assert.equal(nextPull([far, near], stored(0, 99), [], at(59_999), options), null)
    const jump = { peer: 'far', from: 5001, to: 5064, mayFloat: true }
    assert.deepEqual(nextPull([far, near], stored(0, 99), [], at(60_000), options), jump)
    assert.deepEqual(nextPull([far], stored(0, 99), [], at(0), options), jump)
    assert.equal(nextChangeMs([], at(0), options), 60_000)
  })

  test('a peer that says it has blocks of the far future does not keep others from being asked', () => {
    const peers = [peer('liar', 0, 2 ** 50), peer('honest', 0, 120)]
    assert.equal(nextPull(peers, stored(0, 99), [], at(0), options)?.peer, 'honest')
  })

  test('setbacks double up to a minute and end when the peer delivers or comes back', () => {
    const failed = { peer: 'a', from: 100, to: 163 }
    let setbacks: readonly Setback[] = []
    let nowMs = 0
    const lengths: number[] = []
    for (let time = 0; time < 9; time++) {
      setbacks = withSetback(setbacks, failed, nowMs)
      const until = nextChangeMs(setbacks, later(nowMs), options) ?? Number.NaN
      lengths.push(until - nowMs)
      nowMs = until
    }
    assert.equal(lengths[0], firstSetbackMs)
    assert.deepEqual(lengths.slice(0, 4), [500, 1000, 2000, 4000])
    assert.equal(lengths.at(-1), maxSetbackMs)
    assert.deepEqual(withoutSetback(setbacks, 'a', 130), [])
    assert.deepEqual(withoutPeer(setbacks, 'a'), [])
  })
})

describe('any course of events', () => {
  const course = fc.record({
    peers: fc.array(
      fc.record({
        tail: fc.integer({ min: 0, max: 150 }),
        length: fc.integer({ min: 0, max: 250 }),
        lacks: fc.uniqueArray(fc.integer({ min: 0, max: 400 }), { maxLength: 30 }),
        failsFirst: fc.integer({ min: 0, max: 4 }),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    has: fc.uniqueArray(fc.integer({ min: 0, max: 400 }), { maxLength: 60 }),
    retain: fc.option(fc.integer({ min: 1, max: 300 }), { nil: null }),
    piece: fc.integer({ min: 1, max: 64 }),
  })

  test('everything that some peer has ends up stored, and nothing is asked that was not offered', () => {
    fc.assert(
      fc.property(course, ({ peers, has, retain, piece }) => {
        const announced = peers.map((p, index) => peer(String(index), p.tail, p.tail + p.length))
        const held = playCourse(peers, announced, new Set(has), retain, piece)
        for (const [index, source] of peers.entries()) {
          const lacks = new Set(source.lacks)
          const left = missingHeights(announced[index] ?? never(), storedOf(held), retain)
          const neverPulled = left.flatMap(heightsOf).filter((height) => !lacks.has(height))
          assert.deepEqual(neverPulled, [])
        }
      }),
      { numRuns: 150 },
    )
  })

  test('subtracting ranges leaves exactly the heights that no range covers', () => {
    const range = fc
      .tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 12 }))
      .map(([from, length]) => ({ from, to: from + length }))
    fc.assert(
      fc.property(range, fc.array(range, { maxLength: 6 }), (whole, taken) => {
        const left = subtractRanges(whole, taken)
        const inside = (list: readonly { from: number; to: number }[], height: number): boolean =>
          list.some(({ from, to }) => from <= height && height <= to)
        for (let height = 0; height <= 80; height++)
          assert.equal(
            inside(left, height),
            inside([whole], height) && !inside(taken, height),
            `height ${height}`,
          )
      }),
    )
  })
})

interface Source {
  readonly tail: number
  readonly length: number
  readonly lacks: readonly number[]
  readonly failsFirst: number
}

/** Pulls until nothing more is to be had; each source first fails some times, then delivers. */
function playCourse(
  sources: readonly Source[],
  announced: readonly PlanPeer[],
  held: Set<number>,
  retainBlocks: number | null,
  pieceBlocks: number,
): Set<number> {
  const failsLeft = sources.map((source) => source.failsFirst)
  let setbacks: readonly Setback[] = []
  let nowMs = 0
  while (nowMs < 600_000) {
    const plan = { retainBlocks, pieceBlocks, jumpAfterMs: 1000 }
    const pull = nextPull(announced, storedOf(held), setbacks, at(nowMs), plan)
    if (pull === null) {
      const change = nextChangeMs(setbacks, at(nowMs), plan)
      if (change === null) break
      nowMs = change
      continue
    }
    const index = Number(pull.peer)
    const source = sources[index] ?? never()
    assertFair(pull, source, held, pieceBlocks)
    const fails = (failsLeft[index] ?? 0) > 0
    if (fails) failsLeft[index] = (failsLeft[index] ?? 0) - 1
    const delivered = heightsOf(pull).filter((height) => !fails && !source.lacks.includes(height))
    for (const height of delivered) held.add(height)
    if (delivered.length <= pull.to - pull.from) setbacks = withSetback(setbacks, pull, nowMs)
    nowMs += 10
  }
  return held
}

function assertFair(pull: Pull, source: Source, held: Set<number>, pieceBlocks: number): void {
  assert.ok(pull.to >= pull.from && pull.to - pull.from < pieceBlocks)
  assert.ok(pull.from >= source.tail && pull.to <= source.tail + source.length)
  assert.deepEqual(
    heightsOf(pull).filter((height) => held.has(height)),
    [],
    'asked for stored heights',
  )
}

function heightsOf({ from, to }: HeightRange): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

function never(): never {
  throw new Error('an index that cannot be')
}

function storedOf(held: ReadonlySet<number>): StoredHeights | null {
  if (held.size === 0) return null
  const sorted = [...held].sort((a, b) => a - b)
  const gaps: { from: number; to: number }[] = []
  for (const [index, height] of sorted.entries()) {
    const next = sorted[index + 1]
    if (next !== undefined && next > height + 1) gaps.push({ from: height + 1, to: next - 1 })
  }
  return { tail: sorted[0] ?? 0, head: sorted.at(-1) ?? 0, gaps }
}
