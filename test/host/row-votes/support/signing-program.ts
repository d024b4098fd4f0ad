/**
 * A program that computes two Views and signs them, for tests that kill it: `<path> <blocks>` puts what is missing of a
 * chain block by block, and says `signed` with each signature.
 */
import { writeSync } from 'node:fs'
import process from 'node:process'
import { engineChain, hostedView } from '../../views/engine/support/engine-room.ts'
import { openSigningRoom } from './signing-room.ts'

const [, , path = '', blocks = '0'] = process.argv
const room = await openSigningRoom({ after: () => undefined }, { path })
const views = [1, 2].map((slot) =>
  hostedView({ slot, sdl: `type Logs${slot} { address: String logIndex: Int }` }),
)
room.serve(...views)
const head = room.store.reader.read((snapshot) => snapshot.range()?.head ?? -1)
const missing = engineChain(Number(blocks)).filter(({ header }) => header.number > head)
const say = async (): Promise<never> => {
  for (let count = 1; ; count++) {
    await room.untilSigned(count)
    writeSync(1, `signed ${count}\n`)
  }
}
void say()
for (const block of missing) await room.put([block])
setInterval(() => undefined, 1_000)
