/** Stands for the development chain below `npm start`: names itself, and says which signal ends it. */
import process from 'node:process'
import { followNpm } from '../../src/devnet/follow-npm.ts'

process.once('SIGTERM', () => {
  process.stdout.write('SIGTERM\n')
  process.exit()
})
void followNpm(process.env, new AbortController().signal)
setInterval(() => undefined, 60_000)
process.stdout.write('following\n')
