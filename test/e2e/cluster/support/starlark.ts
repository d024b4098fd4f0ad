/**
 * A Starlark interpreter, to evaluate a Tiltfile without Tilt: `starlark` of go.starlark.net where it is
 * on PATH, else Python's starlark-pyo3 in an environment of its own under the user's cache folder.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const pinned = 'starlark-pyo3==2026.1.3'

/** Evaluates a program and gives the value of its global `result`, a string. */
export type Evaluate = (program: string) => Promise<string>

/** Null where no interpreter is there and none can be installed. */
export async function findStarlark(): Promise<Evaluate | null> {
  if (await succeeds('starlark', ['-c', 'x = 1'])) return evaluateWithGo
  const home = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'viewmesh')
  const folder = join(home, 'starlark')
  const python = join(folder, 'bin', 'python')
  if (!existsSync(python) || !(await succeeds(python, ['-c', 'import starlark']))) {
    await mkdir(home, { recursive: true })
    const isThere =
      (await succeeds('python3', ['-m', 'venv', folder])) &&
      (await succeeds(python, ['-m', 'pip', 'install', '--quiet', pinned]))
    if (!isThere) return null
  }
  return (program) => evaluateWithPython(python, program)
}

async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return await run(command, [...args], { timeout: 120_000 }).then(
    () => true,
    () => false,
  )
}

async function evaluateWithGo(program: string): Promise<string> {
  const args = ['-globalreassign']
  return await withFile(`${program}\nprint(result)\n`, async (path) => {
    return (await run('starlark', [...args, path])).stderr.trim()
  })
}

const pythonProgram = `
import sys, starlark
dialect = starlark.Dialect.extended()
dialect.enable_top_level_stmt = True
library = [starlark.LibraryExtension.Json]
module = starlark.Module()
program = open(sys.argv[1]).read() + "\\nresult\\n"
tree = starlark.parse("Tiltfile", program, dialect)
sys.stdout.write(starlark.eval(module, tree, starlark.Globals.extended_by(library)))
`

async function evaluateWithPython(python: string, program: string): Promise<string> {
  return await withFile(program, async (path) => {
    return (await run(python, ['-c', pythonProgram, path], { maxBuffer: 16_777_216 })).stdout
  })
}

async function withFile<T>(text: string, use: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'viewmesh-starlark-'))
  try {
    const path = join(folder, 'program.star')
    await writeFile(path, text)
    return await use(path)
  } finally {
    await rm(folder, { recursive: true })
  }
}
