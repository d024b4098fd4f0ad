import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eachHeight } from '../../../../src/primitives/height-ranges.ts'
import { startChild } from '../../../support/child-program.ts'
import { createSeededRandom } from '../../../support/seeded-random.ts'
import { testDirectory } from '../../../support/test-store.ts'
import { decodingView, engineChain, openEngineRoom, rowBytes } from './support/engine-room.ts'

const blocks = 160
const kills = 3
/** Room for the rows of some blocks out of all. */
const maxViewBytes = 6_000

/** Starts a program that computes a View, and kills it a little after it has said something. */
async function killOften(seed: string, said: string, args: readonly string[]): Promise<void> {
  const random = createSeededRandom(seed)
  for (let round = 0; round < kills; round++) {
    const child = startChild('test/host/views/engine/support/engine-program.ts', { args })
    await child.says(said)
    for (let more = random.int(4); more > 0; more--) await child.says('\n')
    child.process.kill('SIGKILL')
    await child.ended()
  }
}

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
    await killOften('two-hosts', 'done', [path, `${blocks}`])
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

  it('hold the same newest rows where one is killed while older ones give way to them', async (t) => {
    const chain = engineChain(blocks)
    const view = decodingView()
    const whole = await openEngineRoom(t)
    await whole.put(chain)
    whole.engine.serve(view)
    await whole.until(view, ({ name }) => name === 'live')

    const path = testDirectory(t)
    await killOften('limited', 'full', [path, `${blocks}`, `${maxViewBytes}`])
    const limited = await openEngineRoom(t, { path, maxViewBytes })
    const assertWhole = (): number =>
      limited.store.reader.read((snapshot) => {
        const { bytes } = snapshot.viewSize(1)
        assert.ok(bytes <= maxViewBytes, `${bytes} bytes`)
        const from = snapshot.viewFrom(1)
        for (const height of eachHeight(snapshot.viewRanges(1))) {
          assert.ok(height >= from)
          assert.equal(snapshot.viewRows(1, height)?.count, 3)
        }
        return from
      })
    assertWhole()
    limited.engine.serve(view)
    const head = limited.store.reader.read((snapshot) => snapshot.range()?.head ?? 0)
    for (const block of chain.filter(({ header }) => header.number > head)) {
      await limited.put([block])
      await limited.until(view, ({ done }) => done.at(-1)?.[1] === block.header.number)
    }
    await limited.until(view, ({ name }) => name === 'live')
    assert.ok(assertWhole() > 100, 'older rows have given way')
    const [ofWhole, ofLimited] = [rowBytes(whole.store, 1), rowBytes(limited.store, 1)]
    assert.ok(ofLimited.has(259))
    for (const [height, bytes] of ofLimited) assert.equal(bytes, ofWhole.get(height))
  })
})
