/** The directory of a store: checks that it can be used and that its disk is not full. */
import {
  accessSync,
  constants,
  existsSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import {
  isPermissionDenied,
  nearestExisting,
  permissionDetails,
} from '../../directory-permission.ts'
import { messageOf, ServiceError } from '../../errors.ts'
import { dataFile } from './environment.ts'
import { makeDirectory } from './make-directory.ts'
import { lockFile } from './store-lock.ts'

/**
 * What must fit on the disk for a store to be opened: lmdb's lock file is a memory map, and a disk
 * that is full when it is made kills the process.
 */
const roomBytes = 256 * 1024
/** What a failed commit leaves free at most where a full disk was its reason. */
const fullBelowBytes = 8 * 1024 * 1024
const probeFile = 'space.probe'
/** Of lmdb, beside its data. */
const lmdbLockFile = 'lock.mdb'

/**
 * Makes the directory where it is missing, and checks that it can be used.
 * @throws ServiceError `STORE_PATH_UNUSABLE` or `STORE_FULL`.
 */
export function prepareDirectory(path: string): void {
  try {
    makeDirectory(path)
    checkAccess(path)
  } catch (cause) {
    throw unusable(path, cause)
  }
  if (!hasRoom(path)) throw storeFull(path)
}

/**
 * Checks whether a store could be opened or made at `path`, and writes nothing.
 * @throws ServiceError `STORE_PATH_UNUSABLE`.
 */
export function requireUsableStore(path: string): void {
  try {
    const nearest = nearestExisting(path)
    requireDirectory(nearest)
    accessSync(nearest, constants.W_OK | constants.X_OK)
    if (nearest === path) checkAccess(path)
  } catch (cause) {
    throw unusable(path, cause)
  }
}

/** The directory and what is in it: files of another user are as much in the way as a directory of theirs. */
function checkAccess(path: string): void {
  requireDirectory(path)
  accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  for (const file of [dataFile, lmdbLockFile, lockFile].map((name) => join(path, name))) {
    if (!existsSync(file)) continue
    accessSync(file, constants.R_OK | constants.W_OK)
    // A pipe would be waited for, and on a directory lmdb crashes.
    if (!statSync(file).isFile()) throw new Error(`${file} is no file`)
  }
}

function requireDirectory(path: string): void {
  if (!statSync(path).isDirectory()) throw new Error(`${path} is no directory`)
}

/** Whether there is a store, in whatever state. */
export function hasStore(path: string): boolean {
  return existsSync(join(path, dataFile))
}

/** Turns lmdb's error for a failed write into ours. */
export function writeFailure(path: string, cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause
  // lmdb calls a write that a full disk cut short an input/output error.
  const isFull = freeBytes(path) < fullBelowBytes || !hasRoom(path)
  if (isFull) return storeFull(path, cause)
  return new ServiceError('STORE_WRITE_FAILED', `The store at ${path} could not be written.`, {
    facts: { path, found: messageOf(cause) },
    remedy:
      'Check the disk and the kernel’s log, then start again: everything that was acknowledged is kept.',
    cause,
  })
}

function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

const fullCodes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** Whether a little can be written; a quota is not in what the file system says is free. */
function hasRoom(path: string): boolean {
  const file = join(path, probeFile)
  try {
    writeFileSync(file, Buffer.alloc(roomBytes), { flush: true })
    return true
  } catch (cause) {
    return !fullCodes.has((cause as { code?: unknown }).code)
  } finally {
    rmSync(file, { force: true })
  }
}

function storeFull(path: string, cause?: unknown): ServiceError {
  const message = `There is no space left for the store at ${path}.`
  return new ServiceError('STORE_FULL', message, {
    facts: { path },
    remedy:
      'Free space on its disk, or make the volume larger, then start again: everything that was acknowledged is kept. Keeping fewer blocks (PRUNER_ENABLED, PRUNER_MAX_BLOCKS) stops the store from growing once it runs again; its file does not shrink.',
    cause,
  })
}

function unusable(path: string, cause: unknown): ServiceError {
  if (isPermissionDenied(cause)) return permissionDenied(path, cause)
  const found = messageOf(cause)
  return new ServiceError(
    'STORE_PATH_UNUSABLE',
    `The store directory ${path} cannot be used: ${found}`,
    {
      facts: { path, found },
      remedy:
        'Give this user read and write access to it, or choose another directory with db.store.path (DB_STORE_PATH).',
      cause,
    },
  )
}

/** A store that is denied is the same case as a key directory that is, and its remedy leads to both. */
function permissionDenied(path: string, cause: unknown): ServiceError {
  const { facts, remedy } = permissionDetails(path)
  return new ServiceError('STORE_PATH_UNUSABLE', 'Permission denied on the data directory', {
    facts,
    remedy: `${remedy} docs/troubleshooting.md has more under "Permission denied on the key directory".`,
    cause,
  })
}
