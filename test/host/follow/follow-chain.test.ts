/** Where followers go on: cursors, reorganisations, gaps, and what was pruned. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { followLimits } from '../../../src/follow/follow-limits.ts'
import type { FollowedBlock } from '../../../src/follow/open-frames.ts'
import {
  type ChainBlock,
  createChain,
  forkChain,
  shapes,
} from '../../support/chain/block-factory.ts'
import { storableBlock } from '../../support/chain/store-blocks.ts'
import { viewBlock } from '../../support/view-rows.ts'
import { engineChain } from '../views/engine/support/engine-room.ts'
import {
  hasSigned,
  heights,
  kinds,
  logs,
  stored,
  trustRows,
  untilSigned,
} from './support/follow-checks.ts'
import { type FollowRoom, openFollowRoom } from './support/follow-room.ts'

const view = logs(1)
const places = engineChain(12).map(({ header: { number, hash } }) => ({ number, hash }))
const unknown = (number: number): FollowedBlock => ({ number, hash: `0x${'ee'.repeat(32)}` })
const cursorTo = (height: number): FollowedBlock[] =>
  places.filter(({ number }) => number <= height).toReversed()

async function opened(
  t: Parameters<typeof openFollowRoom>[0],
  blocks: number,
): Promise<FollowRoom> {
  const room = await openFollowRoom(t)
  room.serve(view)
  await room.put(engineChain(blocks))
  return room
}

/** The heights of which rows came, in the order in which they did. */
const rowsOf = (client: { readonly frames: readonly { readonly kind: string }[] }): number[] =>
  client.frames.flatMap((frame) =>
    'parent' in frame && 'number' in frame ? [Number(frame.number)] : [],
  )

describe('a cursor', () => {
  it('whose newest block is on the chain lets the follower go on above it', async (t) => {
    const room = await opened(t, 6)
    const client = await room.follow({ views: [{ ...view, cursor: cursorTo(102) }] })
    await client.until(() => hasSigned(client, view, heights(3, 103)))
    assert.deepEqual(rowsOf(client), [103, 104, 105])
    assert.ok(!kinds(client).includes('retract'))
  })

  it('whose newest blocks gave way goes back to the newest that did not', async (t) => {
    const room = await opened(t, 6)
    const cursor = [unknown(105), unknown(103), ...cursorTo(102)]
    const client = await room.follow({ views: [{ ...view, cursor }] })
    await client.until(() => hasSigned(client, view, heights(3, 103)))
    assert.deepEqual(rowsOf(client), [103, 104, 105])
    const place = places.find(({ number }) => number === 102)
    assert.deepEqual(
      client.frames.find(({ kind }) => kind === 'retract'),
      {
        kind: 'retract',
        view: view.id,
        place,
      },
    )
    assert.deepEqual(kinds(client).slice(0, 2), ['welcome', 'retract'])
  })

  it('of which no block is known lets the follower begin again', async (t) => {
    const room = await opened(t, 4)
    const client = await room.follow({ views: [{ ...view, cursor: [unknown(103)] }], from: 101 })
    await client.until(() => hasSigned(client, view, heights(3, 101)))
    assert.deepEqual(
      client.frames.find(({ kind }) => kind === 'retract'),
      {
        kind: 'retract',
        view: view.id,
        place: null,
      },
    )
    assert.deepEqual(rowsOf(client), [101, 102, 103])
  })

  it('of a block right below the lowest that is kept is good', async (t) => {
    const room = await openFollowRoom(t, { retainBlocks: 6 })
    room.serve(view)
    await room.put(engineChain(12))
    const client = await room.follow({ views: [{ ...view, cursor: cursorTo(105) }] })
    await client.until(() => client.rows.get(view.id)?.size === 6)
    assert.deepEqual(rowsOf(client), heights(6, 106))
  })

  it('all of whose blocks were pruned is refused with where to begin', async (t) => {
    const room = await openFollowRoom(t, { retainBlocks: 6 })
    room.serve(view)
    room.followers.setChain({ floor: 106 })
    await room.put(engineChain(12))
    const client = await room.follow({ views: [{ ...view, cursor: cursorTo(104) }] })
    assert.deepEqual(await client.untilError(), { kind: 'error', error: 'pruned', tail: 106 })
    assert.deepEqual(kinds(client), ['welcome', 'error'])
  })
})

describe('a follower', () => {
  it('goes back to the common block of a reorganisation, and gets the other branch', async (t) => {
    const room = await openFollowRoom(t)
    room.serve(view)
    const chain = createChain({ seed: 'engine', count: 6, from: 100, shape: shapes.sparse })
    await room.put(chain.map((block) => storableBlock(block)))
    const client = await room.follow({ views: [view], from: 100 })
    await client.until(() => hasSigned(client, view, heights(6)))
    for (const common of [102, 100]) {
      const fork = forkChain(chain, common, {
        seed: `from ${common}`,
        count: 7,
        shape: shapes.sparse,
      })
      const above = fork.filter(({ number }) => number > common)
      await room.replace(
        common + 1,
        above.map((block) => storableBlock(block)),
      )
      const top = above.at(-1)
      await client.until(() => client.rows.get(view.id)?.get(top?.number ?? 0)?.hash === top?.hash)
      await client.until(() => hasSigned(client, view, heights(7, common + 1)))
      const retracts = client.frames.filter(({ kind }) => kind === 'retract')
      const { number, hash } = chain.find((block) => block.number === common) ?? assert.fail()
      assert.deepEqual(retracts.at(-1), { kind: 'retract', view: view.id, place: { number, hash } })
      assert.deepEqual(client.rows.get(view.id), stored(room, view))
    }
  })

  for (const large of [100, 101])
    it(`gets no further part of block ${large} once that gives way`, async (t) => {
      const room = await openFollowRoom(t, { isSigning: false })
      await trustRows(room.store, view)
      const putRows = async (block: ChainBlock): Promise<void> => {
        const length = block.number === large ? 60_000 : 60
        const rows = heights(30).map(() => ({ name: randomBytes(length).toString('base64url') }))
        await room.store.putViewRows(view.slot, [viewBlock(block, rows)])
      }
      const chain = createChain({ seed: 'engine', count: large - 98, from: 99, shape: shapes.tiny })
      const [below, leaving] = chain.slice(-2)
      const [other] = forkChain(chain, large - 1, { count: 1 }).slice(-1)
      assert.ok(below && leaving && other)
      await room.put(chain.slice(1).map((block) => storableBlock(block)))
      for (const block of chain.slice(1)) await putRows(block)
      room.expect(view)
      const client = await room.follow({ views: [view], from: 100, windowBytes: 1, grants: false })
      let frame = await client.next()
      for (let paid = 0; frame.kind !== 'rows' || frame.number !== large; ) {
        const due = client.costs() - paid
        if (due > 0) await client.credit(due)
        paid += due
        frame = await client.next()
      }
      assert.deepEqual([frame.part, frame.last, frame.hash], [0, false, leaving.hash])
      await room.replace(large, [storableBlock(other)])
      await putRows(other)
      const before = client.frames.length
      await client.credit(followLimits.windowBytes / 2)
      await client.until(() => client.rows.get(view.id)?.get(large)?.hash === other.hash)
      assert.deepEqual(client.rows.get(view.id), stored(room, view))
      const { number, hash } = below
      const place = large === 100 ? null : { number, hash }
      const [first, ...others] = client.frames.slice(before).filter(({ kind }) => kind !== 'head')
      assert.deepEqual(first, { kind: 'retract', view: view.id, place })
      assert.deepEqual(
        others.map((each) => [each.kind, 'hash' in each && each.hash]),
        ['seals', 'rows', 'rows'].map((kind) => [kind, other.hash]),
      )
    })

  it('hears nothing of the blocks below those with which it begins', async (t) => {
    const room = await opened(t, 6)
    await untilSigned(room, heights(6))
    const client = await room.follow({ views: [view], from: 103 })
    await client.until(() => hasSigned(client, view, heights(3, 103)))
    const block = ['seals', 'rows', 'statement']
    assert.deepEqual(kinds(client), ['welcome', ...block, ...block, ...block])
  })

  it('waits for a gap that is filled', async (t) => {
    const room = await openFollowRoom(t)
    room.serve(view)
    const chain = engineChain(9)
    await room.put([...chain.slice(0, 2), ...chain.slice(7)])
    const client = await room.follow({ views: [view], from: 100 })
    await client.until(() => hasSigned(client, view, heights(2)))
    await room.put(chain.slice(2, 7))
    await client.until(() => hasSigned(client, view, heights(9)))
    assert.deepEqual(rowsOf(client), heights(9))
  })

  it('leaves a gap out that nothing fills for long', async (t) => {
    const room = await openFollowRoom(t, { times: { gapMs: 50, checkMs: 10 } })
    room.serve(view)
    const chain = engineChain(9)
    await room.put([...chain.slice(0, 2), ...chain.slice(7)])
    const client = await room.follow({ views: [view], from: 100 })
    await client.until(() => hasSigned(client, view, [107, 108]))
    assert.deepEqual(rowsOf(client), [100, 101, 107, 108])
  })

  it('waits for what may come below the lowest block, and begins there where nothing does', async (t) => {
    const room = await openFollowRoom(t, { times: { gapMs: 300, checkMs: 10 } })
    room.serve(view)
    const chain = engineChain(4)
    await room.put(chain.slice(2))
    const client = await room.follow({ views: [view], from: 99 })
    await client.until(() => kinds(client).includes('welcome'))
    await room.put(chain.slice(0, 2))
    await client.until(() => hasSigned(client, view, heights(4)))
    assert.deepEqual(rowsOf(client), heights(4))
  })

  it('does not wait for what no peer of the Host serves', async (t) => {
    const room = await openFollowRoom(t)
    room.serve(view)
    await room.put(engineChain(4))
    room.followers.setChain({ servedFrom: 100 })
    const client = await room.follow({ views: [view], from: 89 })
    await client.until(() => hasSigned(client, view, heights(4)))
    assert.deepEqual(rowsOf(client), heights(4))
  })

  it('without a block begins where what is kept begins', async (t) => {
    const room = await openFollowRoom(t, { retainBlocks: 6 })
    room.serve(view)
    room.followers.setChain({ floor: 103 })
    await room.put(engineChain(9))
    const client = await room.follow({ views: [view] })
    await client.until(() => hasSigned(client, view, heights(6, 103)))
    assert.deepEqual(rowsOf(client), heights(6, 103))
  })

  it('that is overtaken by pruning ends with an error', async (t) => {
    const room = await openFollowRoom(t, { retainBlocks: 6, times: { checkMs: 10 } })
    room.serve(view)
    const chain = engineChain(12)
    await room.put(chain.slice(0, 6))
    const views = [{ ...view, cursor: cursorTo(100) }]
    const client = await room.follow({ views, windowBytes: 1, grants: false })
    await client.until(() => kinds(client).includes('seals'))
    room.followers.setChain({ floor: 106 })
    await room.put(chain.slice(6))
    assert.deepEqual(await client.untilError(), { kind: 'error', error: 'pruned', tail: 106 })
  })
})
