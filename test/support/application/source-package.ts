/**
 * `viewmesh/app` from the sources, for programs of a folder, as an installed package would be. Its types are there once a
 * test has them written into `types`.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { repository } from '../repository.ts'

export function linkSources(folder: string): void {
  const home = join(folder, 'node_modules/viewmesh')
  const app = pathToFileURL(join(repository, 'src/app/app.ts')).href
  mkdirSync(home, { recursive: true })
  const exports = { './app': { types: './types/src/app/app.d.ts', default: './app.js' } }
  writeFileSync(join(home, 'package.json'), JSON.stringify({ type: 'module', exports }))
  writeFileSync(join(home, 'app.js'), `export * from '${app}'\n`)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
}
