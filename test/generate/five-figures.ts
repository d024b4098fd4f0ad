/** The figures that README shows, from the page with all of them. */
import { readFileSync } from 'node:fs'
import { repository } from '../support/repository.ts'
import { readSection } from './section-text.ts'

/** How their rows begin. */
const chosen: readonly string[] = [
  'Generator, sustained: wall time per full block / floor',
  "Host: verify and apply a full block / Generator's wall time per block",
  'Bytes on disk per full block, everything included: host',
  '50 newest logs of an address with transaction and block over HTTP / plain route, same bytes',
  'Own memory (RssAnon) at 1000 full blocks: host',
]

/** Their rows as they stand in the performance table. Throws where one is missing. */
export function fiveFigures(): string {
  const page = readFileSync(`${repository}/docs/development/benchmarks.md`, 'utf8')
  const [head = '', rule = '', ...rows] = readSection(page, 'performance').split('\n')
  const shown = chosen.map((name) => {
    const row = rows.find((one) => one.startsWith(`| ${name} |`))
    if (row === undefined) throw new Error(`the performance table has no row ${name}`)
    return row
  })
  return [head, rule, ...shown].join('\n')
}
