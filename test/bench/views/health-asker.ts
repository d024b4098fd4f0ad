/**
 * Asks a Host for `/health` time and again, as a process of its own: what the benchmark collects of its own garbage is not in
 * the times. `view-pipeline.ts` forks it with the URL; told to end, it sends the milliseconds of all answers.
 */
import { pause } from '../../support/programs.ts'
import { timed } from '../statistics.ts'

const pingMs = 10

const [, , url = ''] = process.argv
const answers: number[] = []
let isOver = false
process.once('message', () => {
  isOver = true
})
const ask = async (): Promise<unknown> => (await fetch(url)).json()
// The first one loads what `fetch` needs.
await ask()
while (!isOver) {
  answers.push(await timed(ask))
  await pause(pingMs)
}
process.send?.(answers, () => process.disconnect())
