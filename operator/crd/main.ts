/**
 * `npm run crds` writes the CRDs from the types of the API; with `--check` it writes nothing and fails
 * where a file differs.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { generatorKind, hostKind } from '../api/resource-kinds.ts'
import { readDeclarations } from './declarations.ts'
import { definitionOf } from './definition.ts'

const folder = new URL('../../crds/', import.meta.url)
const note = '# Made from operator/api.ts by `npm run crds`: change it there.\n'

const declarations = readDeclarations()
const files = [generatorKind, hostKind].map((resource) => ({
  name: `${resource.singular}.yaml`,
  text: note + stringify(definitionOf(resource, declarations), { lineWidth: 100 }),
}))

if (process.argv.includes('--check')) {
  const stale = files.filter(({ name, text }) => readText(name) !== text)
  for (const { name } of stale) {
    process.stderr.write(`crds/${name} is not what operator/api.ts says: run npm run crds\n`)
  }
  if (stale.length > 0) process.exitCode = 1
} else {
  mkdirSync(folder, { recursive: true })
  for (const { name, text } of files) writeFileSync(new URL(name, folder), text)
}

function readText(name: string): string | null {
  try {
    return readFileSync(new URL(name, folder), 'utf8')
  } catch {
    return null
  }
}
