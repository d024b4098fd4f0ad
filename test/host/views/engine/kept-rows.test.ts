import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ViewState } from '../../../../src/host/views/engine/view-engine.ts'
import { storedRows } from '../../../support/view-rows.ts'
import { engineChain, hostedView, openEngineRoom } from './support/engine-room.ts'

const isLive = ({ name }: { name: string }): boolean => name === 'live'

describe('rows of a View that are kept for longer than documents', () => {
  it('are those of the blocks that it had done, and it is live', async (t) => {
    const room = await openEngineRoom(t, { retainBlocks: 20, retainRows: 60 })
    const chain = engineChain(120)
    await room.put(chain.slice(0, 40))
    const view = hostedView()
    room.engine.serve(view)
    await room.until(view, isLive)
    for (const from of [40, 60, 80, 100]) {
      await room.put(chain.slice(from, from + 20))
      // Newest first: what is left of these could lose its documents to the next ones.
      const newest = 100 + from + 19
      await room.until(view, (now) => now.blocksLeft === 0 && now.done.at(-1)?.[1] === newest)
    }
    await room.store.prune()
    const state = await room.until(view, isLive)
    assert.deepEqual(state.done, [[160, 219]])
    assert.deepEqual([state.blocksLeft, state.blocksFailed, state.rowsFrom], [0, 0, null])
    room.store.reader.read((snapshot) => {
      assert.equal(snapshot.header(170), undefined)
      assert.equal(storedRows(snapshot, 1, 170)?.length, 3)
    })
  })

  it('are removed with their View', async (t) => {
    const room = await openEngineRoom(t, { retainBlocks: 5, retainRows: 60 })
    const chain = engineChain(30)
    const view = hostedView()
    room.engine.serve(view)
    await room.put(chain.slice(0, 5))
    await room.until(view, ({ done }) => done.at(-1)?.[1] === 104)
    await room.put(chain.slice(5))
    await room.store.prune()
    await room.engine.remove(view.id)
    await room.store.clearView(1)
    room.store.reader.read((snapshot) => {
      assert.deepEqual(snapshot.viewRanges(1), [])
      assert.equal(snapshot.viewSize(1).rows, 0)
      assert.equal(storedRows(snapshot, 1, 100), null)
    })
  })
})

describe('a View that takes as much of the store as it may', () => {
  it('keeps its newest rows, is live, and leaves the older blocks alone', async (t) => {
    const room = await openEngineRoom(t, { maxViewBytes: 6_000 })
    const chain = engineChain(120)
    await room.put(chain.slice(0, 100))
    const view = hostedView()
    room.engine.serve(view)
    const before = await room.until(view, isLive)
    const from = before.rowsFrom
    assert.ok(from !== null && from > 110 && from < 195, `${from}`)
    assert.deepEqual(before.done, [[from, 199]])
    assert.ok(before.bytes <= 6_000)
    await room.put(chain.slice(100))
    const isDone = ({ done, blocksLeft }: ViewState): boolean =>
      blocksLeft === 0 && done.at(-1)?.[1] === 219
    const after = await room.until(view, isDone)
    assert.ok(after.rowsFrom !== null && after.rowsFrom > from)
    assert.deepEqual(after.done, [[after.rowsFrom, 219]])
    const { rows } = after
    assert.equal(rows, (219 - after.rowsFrom + 1) * 3)
  })
})
