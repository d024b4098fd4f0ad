/** All files of the repository that are made from code, and which of them differ. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { crdFiles } from '../../operator/crd/files.ts'
import { repository } from '../support/repository.ts'
import { chartFiles } from './chart-files.ts'
import { contractFiles } from './contracts.ts'
import { graphqlPages } from './graphql-pages.ts'
import { sampleBlockFiles } from './sample-blocks.ts'
import { docPages } from './sections.ts'
import { shippedLensFiles } from './shipped-lenses.ts'

type Files = ReadonlyMap<string, string>

/** Made in this order: a step may read what those before it made. */
const steps: readonly (() => Files | Promise<Files>)[] = [
  crdFiles,
  chartFiles,
  docPages,
  graphqlPages,
  contractFiles,
  sampleBlockFiles,
  shippedLensFiles,
]

/** Paths of the files whose content is not what the code makes. */
export async function differingFiles(): Promise<string[]> {
  const made = await Promise.all(steps.map((make) => make()))
  const paths = made.flatMap((files) => differing(files).map(([path]) => path))
  return [...new Set(paths)]
}

/** Writes those that differ and returns their paths. */
export async function writeFiles(): Promise<string[]> {
  const written: string[] = []
  for (const make of steps) {
    for (const [path, text] of differing(await make())) {
      mkdirSync(dirname(`${repository}/${path}`), { recursive: true })
      writeFileSync(`${repository}/${path}`, text)
      written.push(path)
    }
  }
  return written
}

function differing(files: Files): [string, string][] {
  return [...files].filter(([path, text]) => textAt(path) !== text)
}

function textAt(path: string): string | null {
  const file = `${repository}/${path}`
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}
