/**
 * The key directory: one file per program, mode 0600, written atomically and never over an existing
 * one.
 */
import { randomBytes } from 'node:crypto'
import { link, mkdir, mkdtemp, open, readFile, rmdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { isPermissionDenied, nearestExisting, permissionDetails } from '../directory-permission.ts'
import { codeOf, ServiceError } from '../errors.ts'
import type { KeyFile, KeyProgram } from './key-file.ts'

const maxBytes = 65_536

/** The program's key file, null where there is none yet. */
export async function readKeyFile(directory: string, program: KeyProgram): Promise<KeyFile | null> {
  const path = keyFilePath(directory, program)
  try {
    const { size } = await stat(path)
    const text = size > maxBytes ? '' : await readFile(path, 'utf8')
    return { path, program, text }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw directoryProblem(directory, error)
  }
}

/**
 * Checks whether a first key file could be written, and leaves nothing behind. It tries the nearest
 * existing directory, since creating one where a file system allows none (/proc) would never end. Throws
 * IDENTITY_PERMISSION or IDENTITY_DIRECTORY_UNUSABLE.
 */
export async function requireUsable(directory: string): Promise<void> {
  try {
    await rmdir(await mkdtemp(join(nearestExisting(directory), '.viewmesh-')))
  } catch (error) {
    throw directoryProblem(directory, error)
  }
}

/** Writes the program's first key file; returns the existing one where another process was faster. */
export async function createKeyFile(
  directory: string,
  program: KeyProgram,
  text: string,
): Promise<KeyFile | null> {
  const path = keyFilePath(directory, program)
  const draft = join(directory, `.${program}.${randomBytes(8).toString('hex')}.draft`)
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await writeDurably(draft, text)
    const isOurs = await placeOnce(draft, path, text)
    await unlink(draft)
    await syncDirectory(directory)
    return isOurs ? null : readKeyFile(directory, program)
  } catch (error) {
    throw directoryProblem(directory, error)
  }
}

function keyFilePath(directory: string, program: KeyProgram): string {
  return join(directory, `${program}.json`)
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * Gives the draft its name unless that is taken: a hard link, unlike a rename, replaces nothing.
 * Network file systems without hard links get the file written under its name, unless that is taken.
 */
async function placeOnce(draft: string, path: string, text: string): Promise<boolean> {
  try {
    await link(draft, path).catch(() => writeDurably(path, text))
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

function directoryProblem(directory: string, cause: unknown): unknown {
  const code = codeOf(cause)
  if (code === null) return cause
  if (isPermissionDenied(cause)) {
    const message = 'Permission denied on the key directory'
    return new ServiceError('IDENTITY_PERMISSION', message, {
      ...permissionDetails(directory),
      cause,
    })
  }
  return new ServiceError(
    'IDENTITY_DIRECTORY_UNUSABLE',
    `the key directory cannot be used: ${code}`,
    {
      facts: { directory },
      remedy: 'Set DB_KEY_PATH to a directory on a writable disk with free space.',
      cause,
    },
  )
}
