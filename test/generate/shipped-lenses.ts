/** The table of the lenses that ship, from the modules that are checked in and from the table as it is. */
import { readFileSync } from 'node:fs'
import { lensNames } from '../../src/lenses/build.ts'
import { lensHash } from '../../src/views/lens-hash.ts'
import { shippedLenses } from '../../src/views/shipped-lenses.ts'

/** Text of the file by its path in the repository. */
export function shippedLensFiles(): ReadonlyMap<string, string> {
  const present = new Map(lensNames.map((name) => [hashOf(name), name]))
  return new Map([['src/views/shipped-lenses.ts', tableText(shippedLenses, present)]])
}

/** The table with the hashes that it had, and behind those of the same lens the ones that are new. */
export function tableText(
  before: ReadonlyMap<string, string>,
  present: ReadonlyMap<string, string>,
): string {
  const all = [...new Map([...before, ...present])]
  const names = [...new Set(all.map(([, name]) => name))].sort()
  const lines = names
    .flatMap((each) => all.filter(([, name]) => name === each))
    .map(([hash, name]) => `  ['${hash}', '${name}'],\n`)
  return `/** Which lenses are ours; \`npm run generate\` adds the modules in \`src/lenses\` to this file, and takes nothing away. */

/**
 * Names of the lenses that ship, by the hashes that \`lensHash\` gives their modules: the present one and earlier ones,
 * which registered Views go on having; one that was in no release may be taken out. Whoever changes what a lens keeps or
 * adds up checks that what \`view-hints.ts\` and \`view-warnings.ts\` say under its name holds for each of them, or else
 * gives the lens a new name: a wrong hint loses rows.
 */
export const shippedLenses: ReadonlyMap<string, string> = new Map([
${lines.join('')}])
`
}

function hashOf(name: string): string {
  return lensHash(readFileSync(new URL(`../../src/lenses/${name}.wasm`, import.meta.url)))
}
