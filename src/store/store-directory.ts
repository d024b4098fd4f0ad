/** The directory a store lives in: that it can be used, and that its disk is not full. */
import { accessSync, constants, mkdirSync, statfsSync, statSync } from 'node:fs'
import { ServiceError } from '../errors.ts'

/** Below this a store is not opened: lmdb's lock file is a memory map, and a full disk then kills the process. */
const minFreeBytes = 2 * 1024 * 1024
/** What a failed commit leaves free at most when the disk was its reason. */
const fullBelowBytes = 8 * 1024 * 1024

/**
 * Makes the directory where it is missing, and checks that it can be used.
 * @throws ServiceError `STORE_PATH_UNUSABLE` or `STORE_FULL`.
 */
export function prepareDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true })
    if (!statSync(path).isDirectory()) throw new Error(`${path} is no directory`)
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw unusable(path, cause)
  }
  if (freeBytes(path) < minFreeBytes) throw storeFull(path)
}

/** Turns lmdb's error for a failed write into ours. */
export function writeFailure(path: string, cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause
  if (isFull(cause) || freeBytes(path) < fullBelowBytes) return storeFull(path, cause)
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

/** ENOSPC, EDQUOT, EFBIG and MDB_MAP_FULL, as lmdb reports them. */
const fullCodes: ReadonlySet<unknown> = new Set([28, 122, 27, -30792])

function isFull(cause: unknown): boolean {
  return fullCodes.has((cause as { code?: unknown } | null)?.code)
}

function storeFull(path: string, cause?: unknown): ServiceError {
  const message = `There is no space left for the store at ${path}.`
  return new ServiceError('STORE_FULL', message, {
    facts: { path },
    remedy:
      'Free space on its disk, or make the volume larger, then start again: everything that was acknowledged is kept. A lower pruner.max_blocks (PRUNER_MAX_BLOCKS) needs less space.',
    cause,
  })
}

function unusable(path: string, cause: unknown): ServiceError {
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

const messageOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause)
