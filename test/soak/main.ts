/**
 * `npm run soak -- --minutes N`: two Generators and three Hosts beside a real node under load, while the node
 * reorganises and goes away and programs are killed. At the end all have to be equal to the node and to one another.
 * `--seed` repeats what went wrong when.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect, parseArgs } from 'node:util'
import { reportText } from './report.ts'
import { soak } from './soak.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    seed: { type: 'string', default: randomBytes(4).toString('hex') },
  },
})
const minutes = Number(values.minutes)
if (!(minutes >= 2)) throw new Error('--minutes takes a number from 2')
const { seed } = values

function say(text: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`)
}

const folder = mkdtempSync(join(tmpdir(), 'viewmesh-soak-'))
say(`${minutes} minutes; to repeat: npm run soak -- --minutes ${minutes} --seed ${seed}`)
let isWell = false
try {
  const found = await soak({ minutes, seed, folder }, say)
  process.stdout.write(`${reportText(found)}\n`)
  isWell = found.faults.length === 0
} catch (error) {
  process.stderr.write(`${inspect(error)}\n`)
}
if (isWell) rmSync(folder, { recursive: true, force: true })
else say(`FAILED; stores and logs are in ${folder}, the seed is ${seed}`)
// Programs that could not be ended go with this one.
process.exit(isWell ? 0 : 1)
