/**
 * Files of a project: read within bounds and never from outside of it, written beside and then renamed. A project may
 * come from a stranger, whose links must not bring other files of this machine into a View.
 */
import { randomBytes } from 'node:crypto'
import {
  lstat,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { ServiceError } from '../../errors.ts'

/** Where files of a project are, by absolute paths. */
export interface ProjectPlaces {
  /** Of the project: what people edit. */
  readonly folder: string
  /** Of revisions, kept modules and wire bytes: what only the toolkit writes. */
  readonly history: string
  /** Null in the home folder, which needs none. */
  readonly settingsFile: string | null
}

/**
 * The bytes of a file in the project; null where there is none.
 * @throws ServiceError `TOOLKIT_FILE_REFUSED` where it is larger than `maxBytes`, no regular file, or a link leads out of the
 *   project.
 */
export async function readProjectFile(
  places: ProjectPlaces,
  path: string,
  maxBytes: number,
): Promise<Uint8Array | null> {
  const real = await realPathOf(places, path)
  if (real === null) return null
  await checkInside(places, path, real)
  const found = await stat(real)
  // A pipe would have the command wait for whoever writes into it.
  if (!found.isFile()) throw refused(places, path, 'is not a file')
  const { size } = found
  if (size > maxBytes) throw refused(places, path, `has ${size} bytes, and may have ${maxBytes}`)
  try {
    return new Uint8Array(await readFile(real))
  } catch (cause) {
    throw refused(places, path, 'cannot be read', { cause })
  }
}

/**
 * Writes a file whole or not at all, over what is there. Folders on the way are made. The caller holds the project's lock.
 * @throws ServiceError `TOOLKIT_FILE_REFUSED` where it cannot be written, or its folder is a link that leads out of the project.
 */
export async function writeProjectFile(
  places: ProjectPlaces,
  path: string,
  content: string | Uint8Array,
): Promise<void> {
  await makeFolder(places, dirname(path))
  const draft = await draftPath(places)
  try {
    await writeFile(draft, content, { flag: 'wx', flush: true })
    await rename(draft, path)
  } catch (cause) {
    throw refused(places, path, 'cannot be written', { cause, remedy: writable })
  }
}

/** Makes a folder of the project where there is none. */
export async function makeFolder(places: ProjectPlaces, folder: string): Promise<void> {
  await makeProjectItself(places)
  const parts = relative(places.folder, folder).split(sep)
  // One after the other: made at once, those behind a link that leads out would be made outside.
  for (const [index] of parts.entries())
    await makeOne(places, join(places.folder, ...parts.slice(0, index + 1)))
}

async function makeProjectItself(places: ProjectPlaces): Promise<void> {
  try {
    await mkdir(places.folder, { recursive: true })
  } catch (cause) {
    throw refused(places, places.folder, 'cannot be made', { cause, remedy: folderRemedy })
  }
}

async function makeOne(places: ProjectPlaces, folder: string): Promise<void> {
  try {
    // An existing one is left as it is, and so is a link to nowhere, which then has no real path.
    await mkdir(folder).catch(async (error: unknown) => {
      if (!(await stat(folder)).isDirectory()) throw error
    })
  } catch (cause) {
    throw refused(places, folder, 'cannot be made', { cause, remedy: folderRemedy })
  }
  await checkInside(places, folder, await realpath(folder))
}

/**
 * Names in a folder of the project; none where it is not there.
 * @throws ServiceError `TOOLKIT_FILE_REFUSED` where it is a link that leads out of the project.
 */
export async function listFolder(places: ProjectPlaces, folder: string): Promise<string[]> {
  const real = await realPathOf(places, folder)
  if (real === null) return []
  await checkInside(places, folder, real)
  try {
    return await readdir(real)
  } catch (cause) {
    if (isMissing(cause)) return []
    throw refused(places, folder, 'cannot be read', { cause, remedy: folderRemedy })
  }
}

/**
 * Refuses a path where something other than an empty file is, a link above all; nothing may be there.
 * @throws ServiceError `TOOLKIT_FILE_REFUSED`
 */
export async function checkEmptyFile(places: ProjectPlaces, path: string): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    if (isMissing(error)) return null
    throw error
  })
  if (found !== null && !(found.isFile() && found.size === 0))
    throw refused(places, path, 'is not an empty file', {
      remedy: 'Remove it: an empty one is made in its place.',
    })
}

/** A path for what is to be renamed into its place; what a killed process left of such is removed by `clearDrafts`. */
export async function draftPath(places: ProjectPlaces): Promise<string> {
  const folder = draftFolder(places)
  await makeFolder(places, folder)
  return join(folder, randomBytes(8).toString('hex'))
}

/** Removes what killed processes were writing; nobody else writes while the lock is held. */
export async function clearDrafts(places: ProjectPlaces): Promise<void> {
  await makeFolder(places, places.history)
  await rm(draftFolder(places), { recursive: true, force: true })
}

/** A path as the project's files name it, with slashes; null where it lies outside. */
export function pathInProject({ folder }: ProjectPlaces, path: string): string | null {
  const found = relative(folder, path)
  if (found === '' || found === '..' || found.startsWith(`..${sep}`)) return null
  return found.split(sep).join('/')
}

function draftFolder({ history }: ProjectPlaces): string {
  return join(history, 'drafts')
}

/** Null where nothing is there. A name too long and a circle of links are a stranger's doing, and no failure of ours. */
async function realPathOf(places: ProjectPlaces, path: string): Promise<string | null> {
  try {
    return await realpath(path)
  } catch (cause) {
    if (isMissing(cause)) return null
    throw refused(places, path, 'cannot be read', { cause })
  }
}

/** Whether a call failed because there is no such file. */
export function isMissing(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return code === 'ENOENT' || code === 'ENOTDIR'
}

async function checkInside(places: ProjectPlaces, path: string, real: string): Promise<void> {
  const folder = await realpath(places.folder)
  if (real === folder || real.startsWith(`${folder}${sep}`)) return
  throw refused(places, path, 'leads out of the project')
}

const readable = 'Put a readable file of the right size there, inside the project.'
const writable = 'Make room for it, remove what is in its place, or let this user write there.'
const folderRemedy = 'Remove what is in its place, or let this user write there: it is a folder.'

function refused(
  places: ProjectPlaces,
  path: string,
  what: string,
  { remedy = readable, cause }: { readonly remedy?: string; readonly cause?: unknown } = {},
): ServiceError {
  const shown = pathInProject(places, path) ?? path
  const facts = { path }
  return new ServiceError('TOOLKIT_FILE_REFUSED', `${shown} ${what}`, { facts, remedy, cause })
}
