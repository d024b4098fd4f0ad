/** Writes the module of types: whole or not at all, not where it is there already, and not over what somebody else wrote. */
import type { Stats } from 'node:fs'
import { lstat, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import process from 'node:process'
import { ServiceError } from '../../errors.ts'
import { isMissing } from '../project/project-files.ts'
import { moduleHeader } from './shared-declarations.ts'
import { maxModuleBytes } from './view-module.ts'

/**
 * Writes `text` to `path` unless it is there. `force` takes the place of a file that this command has not written.
 * @throws ServiceError `TOOLKIT_TYPES_REFUSED`
 */
export async function writeModule(
  path: string,
  text: string,
  { force }: { readonly force: boolean },
): Promise<'written' | 'unchanged'> {
  const former = await readFormer(path)
  if (former === text) return 'unchanged'
  if (!force) checkOwn(path, former)
  try {
    await replace(path, text)
  } catch (cause) {
    throw refused(path, 'cannot be written', {
      remedy: 'Name a file in a folder that is there and that you may write to.',
      cause,
    })
  }
  return 'written'
}

/** Refuses a path that cannot be written to, before there is anything to write. @throws ServiceError `TOOLKIT_TYPES_REFUSED` */
export async function checkModulePath(
  path: string,
  { force }: { readonly force: boolean },
): Promise<void> {
  const former = await readFormer(path)
  if (!force) checkOwn(path, former)
}

function checkOwn(path: string, former: string | null): void {
  if (former === null || former.startsWith(`${moduleHeader}\n`)) return
  throw refused(path, 'was not written by viewmesh types', {
    remedy: 'Choose another file with --out, or replace this one with --force.',
  })
}

/** What is there; null where nothing is. Of a file that is larger than a module only that it is another. */
async function readFormer(path: string): Promise<string | null> {
  try {
    const found = await lstat(path)
    if (!found.isFile()) throw noFile(path, found)
    return found.size > maxModuleBytes ? '' : await readFile(path, 'utf8')
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    if (isMissing(cause)) return null
    throw refused(path, 'cannot be read', { remedy: 'Choose another file with --out.', cause })
  }
}

/** A link is not followed: what it leads to was not named. */
function noFile(path: string, found: Stats): ServiceError {
  const what = found.isSymbolicLink() ? 'a link' : 'no file'
  return refused(path, `is ${what}`, { remedy: 'Name the file itself with --out.' })
}

/** Beside it, so that renaming stays within one file system. */
async function replace(path: string, text: string): Promise<void> {
  const draft = join(dirname(path), `${draftPrefix(path)}${process.pid}`)
  await removeDrafts(path)
  try {
    await writeFile(draft, text, { flag: 'wx', flush: true })
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

const draftPrefix = (path: string): string => `.${basename(path)}.draft-`

/** What killed processes left; that of one which is still running stays. */
async function removeDrafts(path: string): Promise<void> {
  const prefix = draftPrefix(path)
  for (const name of await readdir(dirname(path))) {
    const pid = name.startsWith(prefix) ? name.slice(prefix.length) : ''
    if (!/^[1-9][0-9]{0,9}$/.test(pid)) continue
    if (Number(pid) === process.pid || !isRunning(Number(pid)))
      await rm(join(dirname(path), name), { force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as { code?: unknown } | null)?.code === 'EPERM'
  }
}

interface Refusal {
  readonly remedy: string
  readonly cause?: unknown
}

function refused(path: string, what: string, { remedy, cause }: Refusal): ServiceError {
  const facts = { path }
  return new ServiceError('TOOLKIT_TYPES_REFUSED', `${path} ${what}`, { facts, remedy, cause })
}
