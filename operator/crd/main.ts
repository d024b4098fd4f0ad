/**
 * `npm run crds` writes the CRDs from the types of the API, into `crds/` and into the operator's chart;
 * with `--check` it writes nothing and fails where a file differs.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { generatorKind, hostKind } from '../api/resource-kinds.ts'
import { readDeclarations } from './declarations.ts'
import { definitionOf } from './definition.ts'

const root = new URL('../../', import.meta.url)
const folders = ['crds', 'charts/operator/files/crds']
const note = '# Made from operator/api.ts by `npm run crds`: change it there.\n'

const declarations = readDeclarations()
const files = [generatorKind, hostKind].flatMap((resource) => {
  const text = note + stringify(definitionOf(resource, declarations), { lineWidth: 100 })
  return folders.map((folder) => ({ name: `${folder}/${resource.singular}.yaml`, text }))
})

if (process.argv.includes('--check')) {
  const stale = files.filter(({ name, text }) => readText(name) !== text)
  for (const { name } of stale) {
    process.stderr.write(`${name} is not what operator/api.ts says: run npm run crds\n`)
  }
  if (stale.length > 0) process.exitCode = 1
} else {
  for (const folder of folders) mkdirSync(new URL(folder, root), { recursive: true })
  for (const { name, text } of files) writeFileSync(new URL(name, root), text)
}

function readText(name: string): string | null {
  try {
    return readFileSync(new URL(name, root), 'utf8')
  } catch {
    return null
  }
}
