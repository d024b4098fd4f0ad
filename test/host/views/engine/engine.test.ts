import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { buildLens } from '../../../lens/support/lens.ts'
import { storedRows } from '../../../support/view-rows.ts'
import { engineChain, hostedView, openEngineRoom, rowBytes } from './support/engine-room.ts'

const identity = buildLens()
const isLive = ({ name }: { name: string }): boolean => name === 'live'

describe('a View', () => {
  it('has rows of every stored block, and of each new one', async (t) => {
    const room = await openEngineRoom(t)
    const chain = engineChain(30)
    await room.put(chain.slice(0, 20))
    const view = hostedView({ lenses: [identity] })
    room.engine.serve(view)
    const before = await room.until(view, isLive)
    assert.deepEqual(before.done, [[100, 119]])
    assert.equal(before.failure, null)
    await room.put(chain.slice(20))
    const state = await room.until(view, ({ done }) => done[0]?.[1] === 129)
    assert.equal(state.rows, 30 * 3)
    assert.ok(state.bytes > 0 && (state.costMs ?? 0) > 0)
    assert.equal(state.blocksLeft, 0)
    room.store.reader.read((snapshot) => {
      const rows = storedRows(snapshot, 1, 129) ?? []
      assert.deepEqual(
        rows.map(({ source }) => source),
        [0, 1, 2],
      )
      assert.match(String(rows[0]?.values[0]), /^0x[0-9a-f]{40}$/)
      assert.match(JSON.stringify(rows[0]?.values[2]), /^\{"hash":"0x[0-9a-f]{64}"\}$/)
    })
    await room.untilAnnounced(30)
    const heights = room.announced.map(([, height]) => height).toSorted((a, b) => a - b)
    assert.deepEqual(
      heights,
      Array.from({ length: 30 }, (_, index) => 100 + index),
    )
  })

  it('gets to new blocks as they are stored, without waiting for the clock', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const room = await openEngineRoom(t)
    room.engine.serve(hostedView({ lenses: [identity] }))
    for (const block of engineChain(3)) {
      const before = room.announced.length
      await room.put([block])
      while (room.announced.length === before) {
        t.signal.throwIfAborted()
        await nextTurn()
      }
    }
    assert.equal(room.announced.length, 3)
  })

  it('is done without a job with blocks without rows that came while its first job ran', async (t) => {
    const marked = new Map<number, number[]>()
    const room = await openEngineRoom(t, {
      through: (writer) => ({
        ...writer,
        putEmptyViewBlocks: async (blocks) => {
          for (const { height, slots } of blocks)
            for (const slot of slots) marked.set(slot, [...(marked.get(slot) ?? []), height])
          return await writer.putEmptyViewBlocks(blocks)
        },
      }),
    })
    const views = [1, 2].map((slot) => {
      const address = `0x${`${slot}`.repeat(40)}`
      return hostedView({ slot, query: `Log(filter: {address: "${address}"}) { address }` })
    })
    for (const view of views) room.engine.serve(view)
    await room.put(engineChain(12))
    for (const view of views)
      await room.until(view, ({ done }) => done.length === 1 && String(done[0]) === '100,111')
    await room.engine.close()
    assert.deepEqual([...marked.keys()].toSorted(), [1, 2])
    for (const heights of marked.values()) {
      // The first job of a View has four blocks at most.
      assert.ok(heights.length >= 8)
      assert.equal(new Set(heights).size, heights.length)
    }
    const text = await room.registry.metrics()
    assert.match(text, /^viewmesh_host_view_blocks_total\{stage="live",outcome="done"\} 24$/m)
  })

  it('without lenses keeps the documents of its query', async (t) => {
    const room = await openEngineRoom(t)
    await room.put(engineChain(3))
    const view = hostedView({
      query: 'Transaction(filter: {transactionIndex: 0}) { hash blockNumber }',
      sdl: 'type First { hash: String blockNumber: Int }',
    })
    room.engine.serve(view)
    const { rows } = await room.until(view, isLive)
    assert.equal(rows, 3)
  })

  it('back-fills the newest blocks first', async (t) => {
    const room = await openEngineRoom(t)
    await room.put(engineChain(40))
    const view = hostedView({ lenses: [identity] })
    room.engine.serve(view)
    await room.until(view, isLive)
    await room.untilAnnounced(40)
    const heights = room.announced.map(([, height]) => height)
    assert.deepEqual(
      heights.slice(0, 4),
      [136, 137, 138, 139],
      'each job in the order of the chain',
    )
    // Of two jobs at once either may end first.
    assert.ok(heights.indexOf(100) >= 20)
  })

  it('computes a block again that another one has replaced, and has none of the old rows', async (t) => {
    const room = await openEngineRoom(t)
    await room.put(engineChain(10))
    const view = hostedView({ lenses: [identity] })
    room.engine.serve(view)
    await room.until(view, isLive)
    const before = rowBytes(room.store, 1)
    const fork = engineChain(3, 107, 'fork')
    await room.replace(107, fork)
    await room.until(view, ({ done, blocksLeft }) => blocksLeft === 0 && done[0]?.[1] === 109)
    const after = rowBytes(room.store, 1)
    for (const { header } of fork) {
      assert.ok(after.get(header.number)?.startsWith(header.hash))
      assert.notEqual(after.get(header.number), before.get(header.number))
    }
    assert.equal(after.get(106), before.get(106))
  })

  it('that is removed computes nothing more and can be cleared', async (t) => {
    const room = await openEngineRoom(t)
    await room.put(engineChain(200))
    const view = hostedView({ lenses: [identity] })
    room.engine.serve(view)
    await room.until(view, ({ done }) => done.length > 0)
    await room.engine.remove(view.id)
    assert.equal(room.engine.states().size, 0)
    assert.equal(room.engine.state(view.id), undefined)
    const kept = room.store.reader.read((snapshot) => snapshot.recordNames('view-engine/'))
    assert.deepEqual(kept, [])
    await room.store.clearView(view.slot)
    assert.deepEqual(rowBytes(room.store, 1), new Map())
  })

  it('whose rows are computed as they are queried waits for the first block and is live with it', async (t) => {
    const room = await openEngineRoom(t)
    const view = hostedView({ sdl: 'type Logs @materialized(if: false) { address: String }' })
    room.engine.serve(view)
    for (const name of ['waiting', 'live']) {
      const state = room.engine.state(view.id)
      assert.deepEqual([state?.name, state?.rows, state?.blocksLeft], [name, 0, 0])
      assert.deepEqual(room.engine.states(), new Map([[view.id, state]]))
      await room.put(engineChain(3))
    }
    await room.engine.remove(view.id)
    assert.equal(room.engine.state(view.id), undefined)
    assert.deepEqual([room.engine.states(), rowBytes(room.store, 1)], [new Map(), new Map()])
  })

  it('shows its blocks and rows as metrics', async (t) => {
    const room = await openEngineRoom(t)
    await room.put(engineChain(5))
    const view = hostedView({ lenses: [identity] })
    room.engine.serve(view)
    await room.until(view, isLive)
    await room.untilAnnounced(5)
    assert.deepEqual(room.engine.state(view.id), room.engine.states().get(view.id))
    const text = await room.registry.metrics()
    const done = /^viewmesh_host_view_blocks_total\{stage="backfill",outcome="done"\} 5$/m
    assert.match(text, done)
    assert.match(text, /^viewmesh_host_view_rows_total 15$/m)
    assert.match(text, /^viewmesh_host_view_job_seconds_count\{stage="backfill",part="store"\}/m)
  })
})
