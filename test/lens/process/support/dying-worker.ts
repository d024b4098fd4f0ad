/** A thread that writes much to the end, and takes its process with it. */
import { writeSync } from 'node:fs'
import process from 'node:process'

writeSync(2, `${'x'.repeat(10_000)}the end`)
process.kill(process.pid, 'SIGKILL')
