/**
 * One program per store. LMDB lets a second one in, and identifies readers by process number, which
 * containers share; so a store is opened under a lock of our own. SQLite's lock on an empty file is a
 * record lock of the kernel: it works between containers on one volume, and ends with the process that
 * holds it, however that ends.
 */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ServiceError } from '../../errors.ts'

/** The file in a store's directory that is locked while a program has the store open. */
export const lockFile = 'store.lock'

/** How long to wait for a program that starts at the same moment and gives way. */
const patienceMs = 300
/** SQLite's result codes, https://www.sqlite.org/rescode.html */
const sqliteBusy = 5
const sqliteLocked = 6

interface StoreLock {
  release(): void
}

/** Held locks; a lock that nothing refers to would be collected and released. */
const held = new Set<DatabaseSync>()

/**
 * Locks a store until released or until the process or thread ends.
 * @throws ServiceError `STORE_LOCKED`, or `STORE_PATH_UNUSABLE` where the file cannot be opened.
 */
export function lockStore(path: string): StoreLock {
  const file = join(path, lockFile)
  const database = openLockFile(file, path)
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (cause) {
    database.close()
    throw isBusy(cause) ? locked(path) : unusable(path, cause)
  }
  held.add(database)
  return {
    release: () => {
      if (held.delete(database)) database.close()
    },
  }
}

function openLockFile(file: string, path: string): DatabaseSync {
  try {
    return new DatabaseSync(file, { timeout: patienceMs })
  } catch (cause) {
    throw unusable(path, cause)
  }
}

function isBusy(cause: unknown): boolean {
  const code = (cause as { errcode?: unknown }).errcode
  return code === sqliteBusy || code === sqliteLocked
}

function locked(path: string): ServiceError {
  return new ServiceError('STORE_LOCKED', `Another program has the store at ${path} open.`, {
    facts: { path },
    remedy:
      'Stop the other program, or give this one a store of its own with db.store.path (DB_STORE_PATH).',
  })
}

function unusable(path: string, cause: unknown): ServiceError {
  return new ServiceError('STORE_PATH_UNUSABLE', `The store at ${path} cannot be locked.`, {
    facts: { path, file: lockFile },
    remedy: `Make ${lockFile} in it readable and writable for this user, or choose a directory with a shorter path on a local disk.`,
    cause,
  })
}
