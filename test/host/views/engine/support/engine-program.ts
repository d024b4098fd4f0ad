/**
 * A program with a store and the engine, for tests that kill it. `backfill <path> <blocks>` stores a chain where there is
 * none, serves the decoding View and says `done` and the height of each block with rows, until it is killed. With a
 * third argument, the most bytes that a View may take, the chain comes block by block and goes on where the store
 * ends; it says `full` instead of `done` where older rows have given way.
 */
import { writeSync } from 'node:fs'
import process from 'node:process'
import { decodingView, engineChain, openEngineRoom } from './engine-room.ts'

const [, , path = '', blocks = '0', maxViewBytes] = process.argv
const limit = maxViewBytes === undefined ? {} : { maxViewBytes: Number(maxViewBytes) }
const room = await openEngineRoom({ after: () => undefined }, { path, ...limit })
const head = room.store.reader.read((snapshot) => snapshot.range()?.head ?? -1)
const missing = engineChain(Number(blocks)).filter(({ header }) => header.number > head)
if (maxViewBytes === undefined) await room.put(missing)
const view = decodingView()
room.engine.onRows((_name, height) => {
  const from = room.store.reader.read((snapshot) => snapshot.viewFrom(view.slot))
  writeSync(1, `${from > 0 ? 'full' : 'done'} ${height}\n`)
})
room.engine.serve(view)
if (maxViewBytes !== undefined)
  for (const [index, block] of missing.entries()) {
    await room.put([block])
    await room.untilAnnounced(index + 1)
  }
setInterval(() => undefined, 1_000)
