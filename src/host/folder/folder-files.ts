/**
 * The files of `HOST_VIEWS_DIR`, read with bounds: whoever writes there may put anything in it. Symbolic links are
 * followed, since all files of a Kubernetes volume are such.
 */
import { constants } from 'node:fs'
import { type FileHandle, open, opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, ServiceError } from '../../errors.ts'
import { readBounded } from '../../read-bounded.ts'
import { maxViewFile } from '../../views/view-file.ts'

/** A file that should be a View. */
export interface FolderFile {
  readonly name: string
  /** Changes with the file. */
  readonly version: string
}

/** Entries of a folder; a Host serves a thousand Views at most. */
const maxEntries = 2_000
const ending = '.view'

/**
 * What lies in a folder and has the name of a View's file, by name. A link whose target has gone is no file: Kubernetes
 * leaves some behind for a moment.
 * @throws ServiceError `HOST_VIEWS_DIR_UNREADABLE`
 */
export async function listViewFiles(path: string): Promise<readonly FolderFile[]> {
  const names = await namesIn(path)
  const files: FolderFile[] = []
  for (const name of names.toSorted()) {
    const version = await versionOf(join(path, name))
    if (version !== null) files.push({ name, version })
  }
  // Where the folder went meanwhile, nothing is known of its files.
  if (files.length < names.length) await requireFolder(path)
  return files
}

async function requireFolder(path: string): Promise<void> {
  try {
    await stat(path)
  } catch (error) {
    throw unreadable(reasonOf(error))
  }
}

async function namesIn(path: string): Promise<string[]> {
  const names: string[] = []
  let entries = 0
  try {
    for await (const { name } of await opendir(path)) {
      entries += 1
      if (entries > maxEntries) throw unreadable(`it has more than ${maxEntries} files`)
      if (!name.startsWith('.') && name.endsWith(ending)) names.push(name)
    }
  } catch (error) {
    throw error instanceof ServiceError ? error : unreadable(reasonOf(error))
  }
  return names
}

/** Null where there is no file; what cannot be examined is found out when it is read. */
async function versionOf(path: string): Promise<string | null> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = await stat(path)
    return [dev, ino, size, mtimeMs, ctimeMs].join()
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? null : reasonOf(error)
  }
}

/** @throws ServiceError `HOST_VIEW_FILE_UNREADABLE`; `VIEWS_TOO_LARGE` before more is read than a View has. */
export async function readFolderFile(folder: string, name: string): Promise<Uint8Array> {
  let file: FileHandle | null = null
  try {
    // Opening a pipe that nobody writes to would wait for ever.
    file = await open(join(folder, name), constants.O_RDONLY | constants.O_NONBLOCK)
    if (!(await file.stat()).isFile()) throw notRead('it is no regular file')
    // One byte more than a View has shows that there are more.
    const content = file.createReadStream({ end: maxViewFile, autoClose: false })
    return new Uint8Array(await readBounded(content, maxViewFile + 1))
  } catch (error) {
    throw error instanceof ServiceError ? error : notRead(reasonOf(error))
  } finally {
    await file?.close()
  }
}

function reasonOf(error: unknown): string {
  return codeOf(error) ?? String(error)
}

function unreadable(why: string): ServiceError {
  return new ServiceError('HOST_VIEWS_DIR_UNREADABLE', why, {
    remedy: 'Make the folder, empty where there are no Views, and let the program read it.',
  })
}

function notRead(why: string): ServiceError {
  return new ServiceError('HOST_VIEW_FILE_UNREADABLE', `it cannot be read: ${why}`, {
    remedy: 'Let the user of the program read it, or take it out of the folder.',
  })
}
