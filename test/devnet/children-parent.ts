/** A parent to be killed: starts a child that only waits, and prints its process id. */
import { openChildren } from '../../src/devnet/children.ts'

const children = openChildren({ onFailure: () => undefined })
children.start({
  name: 'orphan',
  command: process.execPath,
  args: ['--eval', 'console.log(process.pid); setInterval(() => {}, 1000)'],
  env: {},
  logPath: process.argv[2] ?? '',
  onLine: (line) => void process.stdout.write(`${line}\n`),
})
