import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eachHeight } from '../../../src/primitives/height-ranges.ts'
import { startChild } from '../../support/child-program.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'
import { testDirectory } from '../../support/test-store.ts'
import { decodingView, engineChain, openEngineRoom, rowBytes } from './support/engine-room.ts'

const blocks = 160
const kills = 3

describe('two Hosts', () => {
  it('hold the same rows, one from new blocks, one back-filled and killed meanwhile', async (t) => {
    const chain = engineChain(blocks)
    const live = await openEngineRoom(t)
    const view = decodingView()
    live.engine.serve(view)
    // This one begins later, and gets the blocks one by one.
    for (const block of chain.slice(20)) await live.put([block])
    await live.until(view, ({ done }) => done[0]?.[1] === 259 && done.length === 1)

    const path = testDirectory(t)
    const random = createSeededRandom('two-hosts')
    const program = 'test/host/views/support/engine-program.ts'
    for (let round = 0; round < kills; round++) {
      const child = startChild(program, { args: [path, `${blocks}`] })
      await child.says('done')
      for (let more = random.int(4); more > 0; more--) await child.says('\n')
      child.process.kill('SIGKILL')
      await child.ended()
    }
    const filled = await openEngineRoom(t, { path })
    filled.store.reader.read((snapshot) => {
      // Nothing is stored but whole blocks, each with its rows.
      for (const height of eachHeight(snapshot.viewRanges(1)))
        assert.equal(snapshot.viewRows(1, height)?.count, 3)
    })
    filled.engine.serve(view)
    await filled.until(view, ({ name }) => name === 'live')
    const [ofLive, ofFilled] = [rowBytes(live.store, 1), rowBytes(filled.store, 1)]
    assert.equal(ofFilled.size, blocks)
    assert.equal(ofLive.size, blocks - 20)
    for (const [height, bytes] of ofLive) assert.equal(ofFilled.get(height), bytes)
  })
})
