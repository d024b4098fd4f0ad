/** `lens build`: compiles the lens of a project, and checks that a Host would take it. */
import { existsSync } from 'node:fs'
import { copyFile, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'
import process from 'node:process'
import { z } from 'zod'
import { ServiceError } from '../../errors.ts'
import { checkModules } from '../../lens/view-modules.ts'
import { lensHash } from '../../views/lens-hash.ts'
import { printResult } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { missingCompiler, runCompiler } from './compiler.ts'

/**
 * Builds the project in `given`, the current folder by default, to `<name>.wasm` in it.
 * @throws ServiceError `TOOLKIT_COMPILER_MISSING`, `TOOLKIT_BUILD_FAILED`; `LENS_MODULE_REFUSED` for a module that is no lens.
 */
export async function buildLensProject(
  terminal: Terminal,
  given: string | undefined,
  { json }: { readonly json?: boolean },
): Promise<void> {
  const folder = resolve(terminal.cwd, given ?? '.')
  const path = existsSync(join(folder, 'Cargo.toml'))
    ? await buildRust(terminal, folder)
    : await buildAssemblyScript(terminal, folder)
  const wasm = await readFile(path)
  checkModules([{ wasm }])
  const [bytes, hash] = [wasm.length, lensHash(wasm)]
  printResult(
    terminal,
    { path, bytes, hash },
    { json, text: `${path}: ${bytes} bytes, hash ${hash}` },
  )
}

// --- AssemblyScript --------------------------------------------------------------------------

const asSource = 'assembly/lens.ts'

async function buildAssemblyScript(terminal: Terminal, folder: string): Promise<string> {
  if (!existsSync(join(folder, asSource)))
    throw new ServiceError('TOOLKIT_BUILD_FAILED', `${folder} is not the project of a lens`, {
      remedy: 'viewmesh lens new makes one: with assembly/lens.ts, or with Cargo.toml.',
    })
  const path = join(folder, `${basename(folder)}.wasm`)
  await runCompiler(terminal, {
    program: process.execPath,
    args: [findAssemblyScript(folder), asSource, '--config', 'asconfig.json', '--outFile', path],
    folder,
    install: 'Install Node.js.',
  })
  return path
}

/** The compiler that the project depends on, else that of Viewmesh, which only a clone has. */
function findAssemblyScript(folder: string): string {
  for (const from of [join(folder, 'package.json'), import.meta.url])
    try {
      return join(createRequire(from).resolve('assemblyscript/package.json'), '../bin/asc.js')
    } catch {
      // Not there.
    }
  throw missingCompiler('AssemblyScript', `Run npm install in ${folder}.`)
}

// --- Rust ------------------------------------------------------------------------------------

const target = 'wasm32-unknown-unknown'
const installRust = 'Install Rust: https://rustup.rs'

const metadataSchema = z.object({
  target_directory: z.string(),
  packages: z.array(
    z.object({
      manifest_path: z.string(),
      targets: z.array(z.object({ name: z.string(), crate_types: z.array(z.string()) })),
    }),
  ),
})

async function buildRust(terminal: Terminal, folder: string): Promise<string> {
  const run = (...args: readonly string[]): Promise<string> =>
    runCompiler(terminal, { program: 'cargo', args, folder, install: installRust })
  const metadata = parseMetadata(await run('metadata', '--no-deps', '--format-version', '1'))
  const manifest = join(folder, 'Cargo.toml')
  const found = metadata.packages.find(({ manifest_path }) => resolve(manifest_path) === manifest)
  const library = found?.targets.find(({ crate_types }) => crate_types.includes('cdylib'))
  if (library === undefined)
    throw new ServiceError(
      'TOOLKIT_BUILD_FAILED',
      `${manifest} has no library of the type cdylib`,
      {
        remedy: 'Write [lib] with crate-type = ["cdylib"].',
      },
    )
  await run('build', '--release', '--target', target)
  const file = `${library.name.replaceAll('-', '_')}.wasm`
  const path = join(folder, `${basename(folder)}.wasm`)
  await copyFile(join(metadata.target_directory, target, 'release', file), path)
  return path
}

function parseMetadata(text: string): z.infer<typeof metadataSchema> {
  try {
    return metadataSchema.parse(JSON.parse(text))
  } catch (cause) {
    throw new ServiceError('TOOLKIT_BUILD_FAILED', 'cargo metadata says nothing of the project', {
      remedy: 'Update Rust: rustup update.',
      cause,
    })
  }
}
