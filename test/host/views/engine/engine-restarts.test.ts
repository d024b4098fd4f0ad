import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import process from 'node:process'
import { describe, it } from 'node:test'
import { buildLens, op } from '../../../lens/support/lens.ts'
import { metricValue } from '../../../support/metric-value.ts'
import { testDirectory } from '../../../support/test-store.ts'
import { engineChain, hostedView, openEngineRoom, rowBytes } from './support/engine-room.ts'

const identity = buildLens()
/** Counts to ten million before each document. */
const count = [...op.get(1), ...op.const(1), ...op.add, ...op.set(1)]
const isEnough = [...op.get(1), ...op.const(10_000_000), ...op.greater]
const slow = buildLens({
  transform: [
    ...op.forever([...count, ...isEnough, ...op.when([...op.callNext, ...op.return])]),
    ...op.const(0),
  ],
})
const isLive = ({ name }: { name: string }): boolean => name === 'live'

/** Process numbers of the lens processes that this one has started. */
function lensProcesses(): number[] {
  const list = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', `${process.pid}`]).toString()
  const lines = list.split('\n').filter((line) => line.includes('lens/child/main'))
  return lines.map((line) => Number.parseInt(line, 10))
}

describe('the engine of Views', () => {
  it('goes on where the process of the lenses is killed', async (t) => {
    const room = await openEngineRoom(t)
    await room.put(engineChain(80))
    const view = hostedView({ lenses: [identity] })
    room.engine.serve(view)
    await room.until(view, ({ done }) => done.length > 0)
    const [lenses] = lensProcesses()
    assert.ok(lenses !== undefined)
    process.kill(lenses, 'SIGKILL')
    const state = await room.until(view, isLive)
    assert.deepEqual(state.done, [[100, 179]])
    assert.equal(state.blocksFailed, 0)
  })

  it('computes all rows again that another version of the runtime has made', async (t) => {
    const path = testDirectory(t)
    const view = hostedView({ lenses: [identity] })
    let room = await openEngineRoom(t, { path })
    await room.put(engineChain(5))
    room.engine.serve(view)
    await room.until(view, isLive)
    const before = rowBytes(room.store, 1)
    const older = Buffer.from(JSON.stringify({ runtime: 0, quarantine: null }))
    await room.store.putRecord(`view-engine/${view.id}`, older)
    await room.close()
    room = await openEngineRoom(t, { path })
    room.engine.serve(view)
    await room.until(view, isLive)
    await room.untilAnnounced(5)
    assert.deepEqual(rowBytes(room.store, 1), before)
    assert.equal(await metricValue(room.registry, 'viewmesh_host_view_rows_total'), 15)
  })

  it('computes nothing again after a restart that it has done before', async (t) => {
    const path = testDirectory(t)
    const view = hostedView({ lenses: [identity] })
    let room = await openEngineRoom(t, { path })
    await room.put(engineChain(5))
    room.engine.serve(view)
    await room.until(view, isLive)
    await room.close()
    room = await openEngineRoom(t, { path })
    room.engine.serve(view)
    const state = await room.until(view, isLive)
    assert.equal(state.rows, 15)
    assert.equal(await metricValue(room.registry, 'viewmesh_host_view_rows_total'), 0)
  })

  it('lets a View that cannot keep up lag alone', async (t) => {
    const room = await openEngineRoom(t)
    const query = 'Block { number }'
    const sdl = 'type Numbers { number: Int }'
    const late = hostedView({ lenses: [slow], query, sdl })
    const quick = hostedView({ lenses: [identity], query, sdl, slot: 2 })
    room.engine.serve(late)
    room.engine.serve(quick)
    await room.put(engineChain(60))
    await room.until(late, ({ name }) => name === 'lagging')
    await room.until(quick, ({ done }) => done[0]?.[0] === 100 && done[0][1] === 159)
    assert.equal(room.engine.states().get(late.id)?.name, 'lagging')
    assert.equal(room.engine.states().get(quick.id)?.name, 'live')
    const caughtUp = await room.until(late, ({ blocksLeft }) => blocksLeft === 0)
    assert.equal(caughtUp.rows, 60)
    assert.equal(caughtUp.blocksPerSecond, null)
  })
})
