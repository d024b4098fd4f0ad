/**
 * One process changes a project at a time. SQLite's lock on an empty file is a lock of the kernel, which ends with
 * the process that holds it, however that ends.
 */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../errors.ts'
import { checkEmptyFile, makeFolder, type ProjectPlaces } from './project-files.ts'

/** How long one waits for another; changes take a fraction of a second. */
const patienceMs = 15_000
const retryMs = 25

/**
 * Runs an action while nobody else changes the project.
 * @throws ServiceError `TOOLKIT_PROJECT_BUSY` where another process does not finish in time.
 */
export async function withProjectLock<T>(
  places: ProjectPlaces,
  signal: AbortSignal,
  action: () => Promise<T>,
): Promise<T> {
  await makeFolder(places, places.history)
  const path = join(places.history, 'lock')
  // Through a link SQLite would change a file elsewhere; of a database that is not empty it would follow a journal, which may
  // name files anywhere.
  await checkEmptyFile(places, path)
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    await acquire(database, places, signal)
    return await action()
  } finally {
    database.close()
  }
}

async function acquire(
  database: DatabaseSync,
  { folder }: ProjectPlaces,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (!tryLock(database)) {
    if (performance.now() > deadline)
      throw new ServiceError('TOOLKIT_PROJECT_BUSY', `another process is changing ${folder}`, {
        remedy: 'Wait until it is done, or end it: its lock ends with it.',
      })
    await delay(retryMs, undefined, { signal })
  }
}

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    // SQLITE_BUSY, https://www.sqlite.org/rescode.html
    if ((error as { errcode?: unknown }).errcode === 5) return false
    throw error
  }
}
