import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ViewState } from '../../../../src/host/views/engine/view-engine.ts'
import { runtimeVersion } from '../../../../src/lens/program/run-limits.ts'
import { buildLens, op } from '../../../lens/support/lens.ts'
import { createChain, shapes } from '../../../support/chain/block-factory.ts'
import { storableBlock } from '../../../support/chain/store-blocks.ts'
import { metricValue } from '../../../support/metric-value.ts'
import { testDirectory } from '../../../support/test-store.ts'
import { engineChain, hostedView, openEngineRoom, rowBytes } from './support/engine-room.ts'

const identity = buildLens()
const trap = buildLens({ transform: [...op.callNext, ...op.drop, ...op.unreachable] })
/** Traps when it is called again, which it is after a document. */
const secondTrap = buildLens({
  transform: [
    ...op.getGlobal(1),
    ...op.when(op.unreachable),
    ...op.const(1),
    ...op.setGlobal(1),
    ...op.callNext,
  ],
})
/** Traps at blocks with odd numbers of four digits. */
const everySecond = hostedView({
  lenses: [
    buildLens({
      transform: [
        ...[...op.callNext, ...op.set(0)],
        // The last digit of {"number":1005}, behind the header of an item.
        ...[...op.get(0), ...op.const(5 + 13), ...op.add, ...op.load8],
        ...[...op.const(-(2 ** 31)), ...op.multiply, ...op.when(op.unreachable)],
        ...op.get(0),
      ],
    }),
  ],
  query: 'Block { number }',
  sdl: 'type Numbers { number: Int }',
})
const endless = buildLens({ transform: [...op.forever(), ...op.const(0)] })
const isLive = ({ name }: { name: string }): boolean => name === 'live'
const isAllTried = ({ blocksLeft, name }: { blocksLeft: number; name: string }): boolean =>
  blocksLeft === 0 && name !== 'waiting'
const isQuarantined = ({ name }: { name: string }): boolean => name === 'quarantined'

describe('a View that fails', () => {
  it('is quarantined after 20 blocks in a row, says why, and others go on', async (t) => {
    const room = await openEngineRoom(t)
    await room.put(engineChain(60))
    const [bad, good] = [
      hostedView({ lenses: [trap] }),
      hostedView({ lenses: [identity], slot: 2 }),
    ]
    room.engine.serve(bad)
    room.engine.serve(good)
    const state = await room.until(bad, isQuarantined)
    assert.equal(state.failure?.code, 'LENS_TRAPPED')
    assert.match(state.failure.message, /lens 1 trapped/)
    assert.ok(state.failure.block !== null)
    assert.ok(state.blocksFailed >= 20)
    assert.equal(state.rows, 0)
    assert.deepEqual((await room.until(good, isLive)).done, [[100, 159]])
  })

  it('is not quarantined after 19 blocks in a row, and after a restart is by the next', async (t) => {
    const path = testDirectory(t)
    let room = await openEngineRoom(t, { path })
    const chain = engineChain(20)
    await room.put(chain.slice(0, 19))
    const bad = hostedView({ lenses: [trap] })
    room.engine.serve(bad)
    const before = await room.until(bad, isAllTried)
    assert.deepEqual([before.name, before.blocksFailed], ['failed', 19])
    await room.close()
    room = await openEngineRoom(t, { path })
    room.engine.serve(bad)
    await room.put(chain.slice(19))
    const after = await room.until(bad, isQuarantined)
    assert.deepEqual([after.blocksFailed, after.failure?.block], [20, 119])
  })

  it('is quarantined also where blocks without anything for it lie between', async (t) => {
    const room = await openEngineRoom(t)
    const bad = hostedView({
      lenses: [secondTrap],
      query: 'Block(filter: {number: {_gt: 110}}) { number hash }',
      sdl: 'type Blocks { number: Int hash: String }',
    })
    await room.put(engineChain(30))
    room.engine.serve(bad)
    const before = await room.until(bad, isAllTried)
    assert.deepEqual([before.name, before.blocksFailed], ['failed', 19])
    await room.put(engineChain(1, 130))
    const after = await room.until(bad, isQuarantined)
    assert.equal(after.failure?.block, 130)
  })

  it('stays quarantined over a restart, tries nothing again, and goes on when it is retried', async (t) => {
    const path = testDirectory(t)
    const chain = engineChain(40)
    const bad = hostedView({ lenses: [trap] })
    let room = await openEngineRoom(t, { path })
    await room.put(chain)
    room.engine.serve(bad)
    const before = await room.until(bad, isQuarantined)
    await room.close()
    room = await openEngineRoom(t, { path })
    room.engine.serve(bad)
    const after = await room.until(bad, isQuarantined)
    assert.deepEqual(after.failure, before.failure)
    const good = hostedView({ lenses: [identity], slot: 2 })
    room.engine.serve(good)
    await room.until(good, isLive)
    assert.equal((await room.until(bad, isQuarantined)).blocksFailed, after.blocksFailed)
    room.engine.retry(bad.id)
    await room.until(bad, ({ name, failure }) => name !== 'quarantined' || failure === null)
    const again = await room.until(bad, isQuarantined)
    assert.ok(again.blocksFailed >= 20)
  })

  it('at every second block is quarantined after 1,001 of them, says so, and can be retried', async (t) => {
    const room = await openEngineRoom(t)
    await room.put(engineChain(2_000, 1_000))
    room.engine.serve(everySecond)
    const before = await room.until(everySecond, isAllTried)
    assert.deepEqual([before.name, before.rows, before.blocksFailed], ['failed', 1_000, 1_000])
    await room.put(engineChain(2, 3_000))
    const after = await room.until(everySecond, isQuarantined)
    assert.deepEqual([after.blocksFailed, after.failure?.block], [1_001, 3_001])
    assert.equal(after.failure?.code, 'LENS_TRAPPED')
    assert.match(
      after.failure.message,
      /^blocks failed in more than 1000 separate ranges of heights, the last one: lens 1 trapped/,
    )
    room.engine.retry(everySecond.id)
    const isTriedAgain = (blocksFailed: number): boolean => blocksFailed > 0 && blocksFailed < 1_001
    const again = await room.until(
      everySecond,
      (state) => isQuarantined(state) && isTriedAgain(state.blocksFailed),
    )
    // What went well before is not tried again, so that these follow each other.
    assert.ok(again.blocksFailed >= 20)
    assert.match(again.failure?.message ?? '', /^lens 1 trapped/)
  })

  it('at too many places goes on once it is retried, also where those are pruned', async (t) => {
    const path = testDirectory(t)
    let room = await openEngineRoom(t, { path })
    await room.put(engineChain(2_002, 1_000))
    room.engine.serve(everySecond)
    const before = await room.until(everySecond, isQuarantined)
    await room.close()
    const reopen = async (): Promise<void> => {
      room = await openEngineRoom(t, { path, retainBlocks: 10, retainRows: 10_000 })
      room.engine.serve(everySecond)
    }
    await reopen()
    await room.put(engineChain(20, 3_002))
    assert.deepEqual((await room.until(everySecond, isQuarantined)).failure, before.failure)
    room.engine.retry(everySecond.id)
    const retried = await room.until(everySecond, isAllTried)
    assert.deepEqual([retried.name, retried.blocksFailed], ['failed', 5])
    await room.close()
    await reopen()
    await room.put(engineChain(2, 3_022))
    const isOfLast = (state: ViewState) => isAllTried(state) && state.failure?.block === 3_023
    assert.equal((await room.until(everySecond, isOfLast)).name, 'failed')
    const stored = room.store.reader.read((snapshot) => snapshot.viewFailures(everySecond.slot))
    assert.ok(stored.length > 1_000)
  })

  it('that is posted again is tried, though a kill left what was known of it before', async (t) => {
    const path = testDirectory(t)
    let room = await openEngineRoom(t, { path })
    await room.put(engineChain(40))
    const before = hostedView({ lenses: [trap] })
    room.engine.serve(before)
    await room.until(before, isQuarantined)
    await room.close()
    room = await openEngineRoom(t, { path })
    const again = hostedView({ lenses: [trap], slot: 2 })
    assert.equal(again.id, before.id)
    room.engine.serve(again)
    assert.ok((await room.until(again, isQuarantined)).blocksFailed >= 20)
    await room.close()
    room = await openEngineRoom(t, { path })
    room.engine.serve(again)
    await room.until(again, isQuarantined)
  })

  it('stays quarantined where an earlier version wrote so, without the slot', async (t) => {
    const room = await openEngineRoom(t)
    const view = hostedView({ lenses: [identity] })
    const quarantine = { code: 'LENS_TRAPPED', message: 'lens 1 trapped', block: 104 }
    const record = Buffer.from(JSON.stringify({ runtime: runtimeVersion, quarantine }))
    await room.store.putRecord(`view-engine/${view.id}`, record)
    room.engine.serve(view)
    assert.deepEqual((await room.until(view, isQuarantined)).failure, quarantine)
  })

  it('at one block has the rows of the others, and says at which one and why', async (t) => {
    // The last digit of {"number":105}, behind the header of an item.
    const digit = [...op.get(0), ...op.const(5 + 12), ...op.add, ...op.load8]
    const fails = [...digit, ...op.const(0x35), ...op.equal, ...op.when(op.unreachable)]
    const transform = [...op.callNext, ...op.set(0), ...fails, ...op.get(0)]
    const view = hostedView({
      lenses: [buildLens({ transform })],
      query: 'Block { number }',
      sdl: 'type Numbers { number: Int }',
    })
    const path = testDirectory(t)
    let room = await openEngineRoom(t, { path })
    await room.put(engineChain(10))
    room.engine.serve(view)
    const state = await room.until(view, ({ name }) => name === 'failed')
    assert.deepEqual([state.rows, state.blocksFailed, state.blocksLeft], [9, 1, 0])
    assert.equal(state.failure?.block, 105)
    assert.equal(state.failure.code, 'LENS_TRAPPED')
    await room.close()
    room = await openEngineRoom(t, { path })
    room.engine.serve(view)
    const again = await room.until(view, ({ name }) => name === 'failed')
    assert.deepEqual(again.failure, state.failure)
    await room.put(engineChain(1, 110))
    await room.untilAnnounced(1)
    assert.equal(await metricValue(room.registry, 'viewmesh_host_view_blocks_total'), 1)
    await room.replace(105, engineChain(1, 105, 'fork'))
    const replaced = await room.until(view, ({ blocksLeft }) => blocksLeft === 0)
    assert.deepEqual([replaced.rows, replaced.blocksFailed], [5, 1])
  })

  it('at a block whose row is too large has the rows of the blocks around it', async (t) => {
    const room = await openEngineRoom(t)
    const [large] = createChain({ seed: 'large', count: 1, from: 104, shape: shapes.full })
    assert.ok(large !== undefined)
    await room.put([...engineChain(4), storableBlock(large), ...engineChain(4, 105)])
    const view = hostedView({
      query: 'Block { number transactions { input logs { topics data } } }',
      sdl: 'type Blocks { number: Int transactions: JSON }',
    })
    room.engine.serve(view)
    const state = await room.until(view, ({ name }) => name === 'failed')
    assert.deepEqual([state.rows, state.blocksFailed, state.blocksLeft], [8, 1, 0])
    const { code, message, block } = state.failure ?? {}
    assert.deepEqual([code, block], ['LENS_OUTPUT_LIMIT', 104])
    assert.equal(message, 'a row takes more than 262144 bytes')
  })

  it('in values alone has rows with null in their place, and counts them', async (t) => {
    const room = await openEngineRoom(t)
    await room.put(engineChain(4))
    const view = hostedView({
      query: 'Block { number hash }',
      sdl: 'type Numbers { number: Int hash: Boolean }',
    })
    room.engine.serve(view)
    assert.equal((await room.until(view, isLive)).rows, 4)
    await room.untilAnnounced(4)
    assert.equal(await metricValue(room.registry, 'viewmesh_host_view_mismatches_total'), 4)
  })

  it('whose module is refused is quarantined at once, without a block to blame', async (t) => {
    const room = await openEngineRoom(t)
    await room.put(engineChain(3))
    const view = hostedView({ lenses: [Buffer.from('no module')] })
    room.engine.serve(view)
    const { failure, blocksFailed } = await room.until(view, isQuarantined)
    assert.equal(failure?.code, 'LENS_MODULE_REFUSED')
    assert.equal(failure.block, null)
    assert.equal(blocksFailed, 0)
  })

  it('by a loop without end fails block by block at the limit of time, and others go on', async (t) => {
    const room = await openEngineRoom(t, { threads: 2 })
    await room.put(engineChain(8))
    const [bad, good] = [
      hostedView({ lenses: [endless] }),
      hostedView({ lenses: [identity], slot: 2 }),
    ]
    room.engine.serve(bad)
    room.engine.serve(good)
    await room.until(good, isLive)
    const state = await room.until(bad, ({ blocksFailed }) => blocksFailed > 0)
    assert.equal(state.failure?.code, 'LENS_TIME_LIMIT')
    await room.put(engineChain(9).slice(8))
    await room.until(good, ({ done }) => done[0]?.[1] === 108)
    room.store.reader.read((snapshot) => {
      const [[height = 0] = []] = snapshot.viewFailures(bad.slot)
      const stored = JSON.parse(String(Buffer.from(snapshot.viewFailure(bad.slot, height) ?? [])))
      assert.equal(stored.attempts, 1)
    })
    assert.equal(rowBytes(room.store, bad.slot).size, 0)
  })
})
