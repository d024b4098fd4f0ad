/** Writes the files of the charts that are made from CRDs and shared templates. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { chartFiles } from '../support/chart-files.ts'
import { repository } from '../support/repository.ts'

for (const [path, text] of chartFiles()) {
  mkdirSync(dirname(`${repository}/${path}`), { recursive: true })
  writeFileSync(`${repository}/${path}`, text)
}
