/** `lens new`: a project with a lens that builds. */
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { codeOf, ServiceError } from '../../errors.ts'
import { usageError } from '../cli/exit-code.ts'
import { printResult } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { assemblyScriptFiles } from './assemblyscript-files.ts'
import { rustFiles } from './rust-files.ts'

export interface NewFlags {
  readonly language: 'assemblyscript' | 'rust'
  readonly json?: boolean
}

/**
 * Makes the folder `name`, whole or not at all.
 * @throws ServiceError `TOOLKIT_FOLDER_TAKEN`
 */
export async function newLens(
  terminal: Terminal,
  name: string,
  { language, json }: NewFlags,
): Promise<void> {
  if (!/^[a-z][a-z0-9_-]{0,63}$/.test(name))
    throw usageError(
      `${JSON.stringify(name.slice(0, 80))} cannot be the name of a lens`,
      'A name begins with a small letter and has at most 64 small letters, digits, - and _.',
    )
  const folder = resolve(terminal.cwd, name)
  const files = language === 'rust' ? rustFiles(name) : await assemblyScriptFiles(name)
  await writeFolder(folder, files)
  const next = language === 'rust' ? '' : 'npm install && '
  const text = `${name} is a lens in ${language === 'rust' ? 'Rust' : 'AssemblyScript'} now\nNext: cd ${name} && ${next}viewmesh lens build`
  printResult(terminal, { folder, language, files: [...files.keys()] }, { json, text })
}

/** Everything goes into a folder beside, which then gets the name: a kill leaves no half of a project under it. */
async function writeFolder(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  const draft = await mkdtemp(`${folder}.new-`)
  try {
    for (const [path, text] of files) {
      await mkdir(dirname(join(draft, path)), { recursive: true })
      await writeFile(join(draft, path), text)
    }
    // Only an empty folder gives way.
    await rename(draft, folder)
  } catch (cause) {
    await rm(draft, { recursive: true, force: true })
    const code = codeOf(cause)
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOTDIR') throw cause
    throw new ServiceError('TOOLKIT_FOLDER_TAKEN', `${folder} exists already`, {
      remedy: 'Choose another name, or remove it first.',
    })
  }
}
