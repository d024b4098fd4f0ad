/** The table of the lenses that ship, from the modules that are checked in. */
import { readFileSync } from 'node:fs'
import { lensNames } from '../../src/lenses/build.ts'
import { lensHash } from '../../src/views/lens-hash.ts'

/** Text of the file by its path in the repository. */
export function shippedLensFiles(): ReadonlyMap<string, string> {
  return new Map([['src/views/shipped-lenses.ts', tableText()]])
}

function tableText(): string {
  const lines = lensNames.map((name) => `  ['${hashOf(name)}', '${name}'],\n`)
  return `/** Which lenses are ours; \`npm run generate\` writes this file from the modules in \`src/lenses\`. */

/** Names of the lenses that ship, by the hash that \`lensHash\` gives their modules. */
export const shippedLenses: ReadonlyMap<string, string> = new Map([
${lines.join('')}])
`
}

function hashOf(name: string): string {
  return lensHash(readFileSync(new URL(`../../src/lenses/${name}.wasm`, import.meta.url)))
}
