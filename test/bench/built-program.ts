/** A module of the benchmarks as JavaScript, as those run Viewmesh who installed it: without Node's reader of types. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../support/source-files.ts'

interface BuiltProgram {
  readonly file: string
  remove(): void
}

/** Compiles a TypeScript module, and what it imports, into a folder of its own. */
export async function buildProgram(path: string): Promise<BuiltProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'viewmesh-built-'))
  const project = join(folder, 'tsconfig.json')
  const compilerOptions = {
    rootDir: root,
    outDir: folder,
    typeRoots: [join(root, 'node_modules/@types')],
  }
  const config = {
    extends: join(root, 'tsconfig.build.json'),
    include: [join(root, path)],
    compilerOptions,
  }
  writeFileSync(project, JSON.stringify(config))
  for (const name of ['node_modules', 'package.json'])
    symlinkSync(join(root, name), join(folder, name))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  await promisify(execFile)(process.execPath, [compiler, '--project', project])
  return {
    file: join(folder, path.replace(/\.ts$/, '.js')),
    remove: () => rmSync(folder, { recursive: true }),
  }
}
