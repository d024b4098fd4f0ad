/**
 * A program with a store and the engine, for tests that kill it. `backfill <path> <blocks>` stores a chain where there is
 * none, serves the decoding View and says how many blocks are done, until it is killed.
 */
import { writeSync } from 'node:fs'
import process from 'node:process'
import { decodingView, engineChain, openEngineRoom } from './engine-room.ts'

const [, , path = '', blocks = '0'] = process.argv
const room = await openEngineRoom({ after: () => undefined }, { path })
if (room.store.reader.read((snapshot) => snapshot.range()) === null)
  await room.put(engineChain(Number(blocks)))
room.engine.onRows((_name, height) => {
  writeSync(1, `done ${height}\n`)
})
room.engine.serve(decodingView())
setInterval(() => undefined, 1_000)
