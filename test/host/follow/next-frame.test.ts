/** What a follower of several Views gets first. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { HostFrame } from '../../../src/follow/host-frames.ts'
import type { Following } from '../../../src/host/follow/following.ts'
import type { Moment } from '../../../src/host/follow/moments.ts'
import { nextFrame, prepare } from '../../../src/host/follow/next-frame.ts'
import type { Position } from '../../../src/host/follow/position.ts'
import { createVoteBook, sentOf } from '../../../src/host/follow/vote-book.ts'
import type { HostedView } from '../../../src/host/views/hosted-view.ts'
import type { HeightRanges } from '../../../src/primitives/height-ranges.ts'
import type { Snapshot } from '../../../src/store/store.ts'
import { namedHash, opaqueBlock } from '../../support/chain/opaque-blocks.ts'
import { openTestStore } from '../../support/test-store.ts'
import { hostedView } from '../views/engine/support/engine-room.ts'

const template = hostedView()
const viewOf = (name: string): HostedView => ({ ...template, id: namedHash(name), name })
const whole: HeightRanges = [[0, 100]]

const at = (name: string, next: number, more: Partial<Position> = {}): Position => ({
  ...{ view: viewOf(name), withRows: false, from: 0, blocks: [], next },
  ...{ part: null, retract: null, gap: null },
  ...more,
})

interface Standing {
  readonly done: HeightRanges
  readonly failed: HeightRanges
}

/** A Host with blocks 0 to 100, whose Views are done with all of them; steps without a frame are taken. */
async function open(
  t: TestContext,
  positions: readonly Position[],
  standing: Standing = { done: whole, failed: [] },
) {
  const store = await openTestStore(t)
  const blocks = Array.from({ length: 101 }, (_, height) => opaqueBlock(height, 5))
  await store.replaceBlocks(0, 100, blocks)
  const following: Following = { positions, book: createVoteBook('me'), epoch: 0 }
  const read = <T>(use: (moment: Moment) => T): T =>
    store.reader.read((snapshot) =>
      use({
        snapshot,
        standing: (view) => ({ ...view, ...standing, isStopped: false }),
        statements: () => [],
      }),
    )
  const next = (): HostFrame | null =>
    read((moment) => {
      for (;;) {
        const due = nextFrame(following, moment)
        const frame = due?.frame?.() ?? null
        due?.done()
        if (due === null || frame !== null) return frame
      }
    })
  return { next, read, following }
}

/** The heights of the next seals, which come in front of the rows of a block. */
const sealsFrom = (next: () => HostFrame | null, count: number): number[] =>
  Array.from({ length: count }, () => {
    const frame = next()
    assert.ok(frame?.kind === 'seals')
    return frame.number
  })

test('Views that are among the newest 64 blocks go before those that lag, the lowest first', async (t) => {
  const positions = [at('lagging', 36), at('newest', 98), at('live', 37), at('far behind', 5)]
  const { next } = await open(t, positions)
  assert.deepEqual(
    sealsFrom(next, 64),
    [...Array(64).keys()].map((index) => index + 37),
  )
  assert.deepEqual(sealsFrom(next, 3), [5, 6, 7])
})

test('a View of whose rows a part was sent goes before all others', async (t) => {
  const { hash } = opaqueBlock(5).header
  const failed = { done: [], failed: whole }
  const part = { hash, count: 1 }
  const positions = [at('live', 99), at('begun', 5, { withRows: true, part })]
  const { next } = await open(t, positions, failed)
  const { number, parentHash: parent } = opaqueBlock(5).header
  const view = namedHash('begun')
  assert.deepEqual(next(), { kind: 'failed', view, number, hash, parent })
  assert.deepEqual(sealsFrom(next, 2), [5, 99])
})

test('what gave way is sent before anything else, once', async (t) => {
  const place = { number: 4, hash: opaqueBlock(4).header.hash }
  const positions = [at('live', 100), at('left', 5, { retract: { place } })]
  const { next } = await open(t, positions)
  assert.deepEqual(next(), { kind: 'retract', view: namedHash('left'), place })
  assert.deepEqual(sealsFrom(next, 2), [100, 5])
})

test('nothing comes of a block that the View is not done with, or that is not there', async (t) => {
  const none = await open(t, [at('waiting', 5)], { done: [[6, 100]], failed: [] })
  assert.equal(none.next(), null)
  const above = await open(t, [at('all', 101)])
  assert.equal(above.next(), null)
})

test('seals are sent for the block that is there, whatever was sent for another one', async (t) => {
  const { next, following } = await open(t, [at('live', 100)])
  sentOf(following.book, 100, namedHash('another')).seals = { sent: 1, of: 1 }
  assert.deepEqual(sealsFrom(next, 1), [100])
})

const bounds = { fillsFrom: 0, nowMs: 0, gapMs: 0 }

test('what was sent of the blocks that a follower keeps is remembered when others give way', async (t) => {
  const { number, hash } = opaqueBlock(3).header
  const gone = { number: 4, hash: namedHash('another') }
  const positions = [at('left', 5, { blocks: [{ number, hash }, gone] })]
  const { read, following } = await open(t, positions)
  for (const block of [{ number, hash }, gone]) sentOf(following.book, block.number, block.hash)
  following.epoch = -1
  assert.equal(
    read((moment) => prepare(following, moment, bounds)),
    null,
  )
  assert.deepEqual(positions[0]?.retract, { place: { number, hash } })
  assert.deepEqual([...following.book.sent.keys()], [3])
})

test('nothing is remembered of what was sent where all blocks of a follower gave way', async (t) => {
  const gone = [0, 1].map((number) => ({ number, hash: namedHash(`another ${number}`) }))
  const positions = [at('left', 2, { blocks: gone })]
  const { read, following } = await open(t, positions)
  for (const { number, hash } of gone) sentOf(following.book, number, hash)
  following.epoch = -1
  read((moment) => prepare(following, moment, bounds))
  assert.deepEqual(positions[0]?.retract, { place: null })
  assert.deepEqual(following.book.sent, new Map())
})

test('a follower learns where all of its Views can begin again', async (t) => {
  const blocks = [{ number: 4, hash: opaqueBlock(4).header.hash }]
  const positions = [50, 60, 40].map((slot) =>
    at(`${slot}`, 5, { blocks, view: { ...viewOf(`${slot}`), slot } }),
  )
  const { read, following } = await open(t, positions)
  const pruned = read((moment) => {
    const snapshot: Snapshot = Object.create(moment.snapshot, {
      viewFrom: { value: (slot: number) => slot },
    })
    return prepare(following, { ...moment, snapshot }, bounds)
  })
  assert.deepEqual(pruned, { tail: 60 })
})
