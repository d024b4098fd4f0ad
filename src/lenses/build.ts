/**
 * `node src/lenses/build.ts [FOLDER]` compiles the lenses that ship into the files beside their sources, which are
 * checked in, and into FOLDER. The same sources give the same bytes wherever they are compiled.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

const sources = fileURLToPath(new URL('.', import.meta.url))

/** Names of the lenses, as in `decode_log`: each AssemblyScript file right in this folder is one. */
export const lensNames: readonly string[] = readdirSync(sources)
  .filter((name) => name.endsWith('.ts') && name !== 'build.ts')
  .map((name) => name.replace(/\.ts$/, '').replaceAll('-', '_'))
  .toSorted()

/**
 * The module of a lens that ships, or of another source text in its place.
 * @throws Error with what the compiler says
 */
export async function compileLens(name: string, text?: string): Promise<Uint8Array> {
  const made = new Map<string, string | Uint8Array>()
  const source = `${name.replaceAll('_', '-')}.ts`
  const args = [source, '--config', 'asconfig.json', '--baseDir', sources, '--outFile', 'lens.wasm']
  const { error, stderr } = await asc.main(args, {
    readFile: (path) => (path === source ? (text ?? readSource(path)) : readSource(path)),
    writeFile: (path, content) => {
      made.set(path, content)
    },
  })
  const wasm = made.get('lens.wasm')
  if (error === null && wasm instanceof Uint8Array) return wasm
  throw new Error(`${source} does not compile:\n${stderr.toString()}`, { cause: error })
}

function readSource(path: string): string | null {
  try {
    return readFileSync(join(sources, path), 'utf8')
  } catch {
    return null
  }
}

async function buildAll(folders: readonly string[]): Promise<void> {
  for (const folder of folders) mkdirSync(folder, { recursive: true })
  for (const name of lensNames) {
    const wasm = await compileLens(name)
    for (const folder of folders) writeFileSync(join(folder, `${name}.wasm`), wasm)
  }
}

/** What `viewmesh lens new` copies into projects. */
function copySdk(folder: string): void {
  for (const name of ['sdk', 'asconfig.json'])
    cpSync(join(sources, name), join(folder, name), { recursive: true })
}

if (import.meta.main) {
  const folders = process.argv.slice(2)
  await buildAll([sources, ...folders])
  for (const folder of folders) copySdk(folder)
}
