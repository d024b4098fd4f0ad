import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { buildLens, terminal } from '../../lens/support/lens.ts'
import { engineChain, hostedView } from '../views/support/engine-room.ts'
import { openStreamRoom } from './support/stream-room.ts'

const identity = buildLens()
const streaming = buildLens({ transform: terminal })
const sdl = (name: string, materialized: boolean): string =>
  `type ${name} @materialized(if: ${materialized}) { address: String @index logIndex: Int transaction: JSON }`

describe('“`@materialized(if: false)` computes at query time (slower queries, lower storage)”', () => {
  for (const [feed, lenses] of [
    ['single', [identity]],
    ['stream', [streaming]],
    ['no lens', []],
    ['two lenses', [streaming, identity]],
  ] as const)
    it(`gives the rows of its materialised twin, ${feed}`, async (t) => {
      const { room, serve, query } = await openStreamRoom(t)
      await room.put(engineChain(30))
      const kept = hostedView({ lenses, sdl: sdl('Kept', true) })
      const made = hostedView({ lenses, sdl: sdl('Made', false), slot: 2 })
      serve(kept, made)
      await room.until(kept, ({ name }) => name === 'live')
      const fields = 'address logIndex transaction _blockNumber _source _attestations'
      const data = await query(`{ Kept { ${fields} } Made { ${fields} } }`)
      assert.equal(data.Made.length, 90)
      assert.deepEqual(data.Made, data.Kept)
      const more = `(filter: {_blockNumber: {_geq: 103, _leq: 120}, logIndex: {_gt: 0}}, order: {address: DESC}, limit: 7)`
      const again = await query(`{ Kept${more} { ${fields} } Made${more} { ${fields} } }`)
      assert.equal(again.Made.length, 7)
      assert.deepEqual(again.Made, again.Kept)
      assert.equal(room.engine.states().get(made.id)?.name, 'live')
      assert.equal(room.store.reader.read((snapshot) => snapshot.viewSize(2)).rows, 0)
    })
})
