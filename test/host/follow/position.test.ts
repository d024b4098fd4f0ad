/** Where a follower is on a chain that grows, gives way, has gaps and loses its oldest blocks. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { FollowedBlock } from '../../../src/follow/open-frames.ts'
import {
  type FillBounds,
  followChain,
  openPosition,
  type Position,
  passBlock,
  passGap,
} from '../../../src/host/follow/position.ts'
import type { Snapshot, StoreWriter } from '../../../src/store/store.ts'
import { namedHash, opaqueBlock } from '../../support/chain/opaque-blocks.ts'
import { openTestStore } from '../../support/test-store.ts'
import { hostedView } from '../views/engine/support/engine-room.ts'

const view = hostedView()
const heights = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)
const at = (number: number, branch = 'main'): FollowedBlock => ({
  number,
  hash: namedHash(`${branch}:${number}`),
})

async function openChain(t: TestContext, stored: readonly number[]): Promise<StoreWriter> {
  const store = await openTestStore(t, null)
  for (const height of stored) await store.putBlock(opaqueBlock(height, 5))
  return store
}

/** A moment of the store, where rows of the View below `viewFrom` took too much. */
const momentOf = (snapshot: Snapshot, viewFrom = 0) => ({
  snapshot: Object.create(snapshot, { viewFrom: { value: () => viewFrom } }) as Snapshot,
  standing: () => assert.fail('nothing is asked of the View'),
  statements: () => assert.fail('nothing is asked of what Hosts signed'),
})

function opened(store: StoreWriter, cursor: readonly FollowedBlock[], from = 5): Position {
  return store.reader.read((snapshot) =>
    openPosition(momentOf(snapshot), view, { cursor, withRows: true, from }),
  )
}

const fresh: Position = {
  ...{ view, withRows: true, from: 5, blocks: [], next: 5 },
  ...{ part: null, retract: null, gap: null },
}

test('a follower goes on above the newest block of its cursor that is on the chain', async (t) => {
  const store = await openChain(t, heights(10, 20))
  assert.deepEqual(opened(store, []), fresh)
  fc.assert(
    fc.property(fc.nat(10), fc.nat(9), (kept, gone) => {
      const mains = heights(10, 9 + kept).map((height) => at(height))
      const forks = heights(10 + kept, 9 + kept + gone).map((height) => at(height, 'fork'))
      const place = mains.at(-1)
      const expected = {
        ...fresh,
        blocks: mains,
        next: place === undefined ? 5 : place.number + 1,
        retract: gone === 0 ? null : { place: place ?? null },
      }
      assert.deepEqual(opened(store, [...mains, ...forks].toReversed()), expected)
    }),
  )
})

test('a block below all others is on the chain where the next one names it, or else unknown', async (t) => {
  const store = await openChain(t, heights(10, 20))
  assert.deepEqual(opened(store, [at(9)]), { ...fresh, blocks: [at(9)], next: 10 })
  const gone = { ...fresh, retract: { place: null } }
  assert.deepEqual(opened(store, [at(9, 'fork')]), gone)
  assert.deepEqual(opened(store, [at(8), at(7)]), { ...fresh, blocks: [at(8)], next: 9 })
  assert.deepEqual(opened(store, [at(12, 'fork'), at(8)]), gone)
  const empty = await openChain(t, [])
  assert.deepEqual(opened(empty, [at(8)]), gone)
})

test('a follower goes back to the highest block that it has in common with the chain', async (t) => {
  const store = await openChain(t, heights(10, 16))
  const follow = (position: Position): Position => {
    store.reader.read((snapshot) => followChain(snapshot, position))
    return position
  }
  const cursor = [15, 14, 13].map((height) => at(height))
  const position = (): Position => opened(store, cursor)
  const [before, whole] = [position(), position()]
  assert.deepEqual(follow(position()), before)
  const forks = [15, 16].map((height) => opaqueBlock(height, 5, 'fork'))
  await store.replaceBlocks(15, Number.MAX_SAFE_INTEGER, forks)
  const gap = { from: 16, to: 17, sinceMs: 0 }
  const behind: Position = { ...before, part: { hash: at(16).hash, count: 2 }, gap }
  assert.deepEqual(follow(behind), {
    ...fresh,
    blocks: [at(13), at(14)],
    next: 15,
    retract: { place: at(14) },
  })
  await store.replaceBlocks(13, Number.MAX_SAFE_INTEGER, [opaqueBlock(13, 5, 'fork')])
  assert.deepEqual(follow(whole), { ...fresh, retract: { place: null } })
})

test('rows that were sent in part begin again where another block is in that place', async (t) => {
  const store = await openChain(t, heights(10, 16))
  const follow = (position: Position): Position => {
    store.reader.read((snapshot) => followChain(snapshot, position))
    return position
  }
  const partOf = (branch: string): Position['part'] => ({ hash: at(16, branch).hash, count: 2 })
  const position = { ...fresh, blocks: [at(15)], next: 16 }
  const same = { ...position, part: partOf('main') }
  assert.deepEqual(follow({ ...same }), same)
  const other = { ...position, part: partOf('fork') }
  assert.deepEqual(follow(other), { ...position, retract: { place: at(15) } })
  const first = { ...fresh, next: 16, part: partOf('fork') }
  assert.deepEqual(follow(first), { ...fresh, next: 16, retract: { place: null } })
})

/** Lets a follower wait at a gap at this time; returns what it is sent. */
function waitAt(
  store: StoreWriter,
  position: Position,
  { viewFrom = 0, ...bounds }: Partial<FillBounds> & { readonly viewFrom?: number } = {},
): ReturnType<typeof passGap> {
  return store.reader.read((snapshot) =>
    passGap(momentOf(snapshot, viewFrom), position, {
      ...{ fillsFrom: 0, nowMs: 0, gapMs: 1_000 },
      ...bounds,
    }),
  )
}

test('a gap is waited for as long as it stays the same, and then left out', async (t) => {
  const store = await openChain(t, [...heights(10, 12), 16, 17])
  const position: Position = { ...fresh, blocks: [at(12)], next: 13 }
  assert.equal(waitAt(store, position, { nowMs: 500 }), null)
  assert.deepEqual(position.gap, { from: 13, to: 16, sinceMs: 500 })
  await store.putBlock(opaqueBlock(15, 5))
  waitAt(store, position, { nowMs: 1_400 })
  assert.deepEqual(position.gap, { from: 13, to: 15, sinceMs: 1_400 })
  waitAt(store, position, { nowMs: 2_399 })
  assert.equal(position.next, 13)
  assert.equal(waitAt(store, position, { nowMs: 2_400 }), null)
  assert.deepEqual([position.next, position.gap], [15, null])
  for (const next of [16, 18]) {
    const above = { ...position, next, gap: { from: 13, to: 15, sinceMs: 0 } }
    assert.equal(waitAt(store, above, { nowMs: 9_000 }), null)
    assert.deepEqual([above.next, above.gap], [next, null])
  }
})

test('what does not come any more is left out by who has nothing, and pruned for others', async (t) => {
  const store = await openChain(t, heights(10, 12))
  const reached = (next: number, bounds: Parameters<typeof waitAt>[2]): unknown[] =>
    [{}, { blocks: [at(4)] }, { part: { hash: at(next).hash, count: 1 } }].map((more) => {
      const position: Position = { ...fresh, ...more, next }
      return waitAt(store, position, bounds) ?? position.next
    })
  assert.deepEqual(reached(5, { fillsFrom: 8 }), [8, { tail: 8 }, { tail: 8 }])
  assert.deepEqual(reached(5, { fillsFrom: 11 }), [10, { tail: 10 }, { tail: 10 }])
  assert.deepEqual(reached(8, { fillsFrom: 8 }), [8, 8, 8])
  assert.deepEqual(reached(10, { fillsFrom: 11 }), [10, 10, 10])
  assert.deepEqual(reached(11, { viewFrom: 12 }), [12, { tail: 12 }, { tail: 12 }])
  assert.deepEqual(reached(5, { viewFrom: 7 }), [10, { tail: 10 }, { tail: 10 }])
  assert.deepEqual(reached(12, { viewFrom: 12 }), [12, 12, 12])
})

test('a follower below all blocks waits for those that may still come', async (t) => {
  const store = await openChain(t, heights(10, 12))
  for (const [blocks, pruned, next] of [
    [[], null, 10],
    [[at(7)], { tail: 10 }, 8],
  ] as const) {
    const position: Position = { ...fresh, blocks: [...blocks], next: 8 }
    for (const nowMs of [0, 999])
      assert.equal(waitAt(store, position, { fillsFrom: 8, nowMs }), null)
    assert.deepEqual(position.gap, { from: 8, to: 10, sinceMs: 0 })
    assert.deepEqual(waitAt(store, position, { fillsFrom: 8, nowMs: 1_000 }), pruned)
    assert.equal(position.next, next)
  }
  const empty = await openChain(t, [])
  const waiting = { ...fresh }
  assert.equal(waitAt(empty, waiting, { fillsFrom: 9 }), null)
  assert.deepEqual(waiting, fresh)
})

test('of the blocks that a follower has, the newest 1,024 are remembered at least', () => {
  const position: Position = { ...fresh, part: { hash: at(1).hash, count: 3 }, blocks: [] }
  for (const height of heights(1, 2_047)) passBlock(position, at(height))
  assert.deepEqual([position.blocks.length, position.next, position.part], [2_047, 2_048, null])
  passBlock(position, at(2_048))
  assert.deepEqual(
    position.blocks,
    heights(1_025, 2_048).map((height) => at(height)),
  )
})
