/**
 * The LMDB environment. Defaults of lmdb that a store must turn off: growing the map while others read
 * it, guessing from a dot in the path that it is a file, and batching the writes of one event turn (a
 * failed commit then rejects a promise that no caller holds).
 */
import { open } from 'lmdb'
import { invariant } from '../../errors.ts'
import { pageBytes, type StoreDatabase, storeDatabases } from './layout.ts'

/** A read transaction; `done` once for each use. */
export interface ReadTransaction {
  done(): void
}

/** The part of lmdb's database that the store uses; its own types leave out the read options. */
export interface Database {
  /** Valid until the next read; only the first `lastSize` bytes are the value. */
  getBinaryFast(key: Uint8Array, options: { transaction: ReadTransaction }): Buffer | undefined
  readonly lastSize: number
  getEntry(key: Uint8Array): { value: Buffer; version: number } | undefined
  getKeys(options?: KeyRange): Iterable<Buffer>
  getRange(options: KeyRange): Iterable<{ key: Buffer; value: Buffer }>
  put(key: Uint8Array, value: Uint8Array, version?: number): unknown
  remove(key: Uint8Array): unknown
  /** Runs the writes of `action` in one transaction, if the key still has this version. */
  ifVersion(key: Uint8Array, version: number, action: () => void): Promise<boolean>
  getStats(): PageCounts
}

/** Pages of a database. */
interface PageCounts {
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

interface KeyRange {
  readonly start?: Uint8Array
  readonly end?: Uint8Array
  readonly limit?: number
  /** From `start` down to what lies above `end`. */
  readonly reverse?: boolean
  readonly transaction?: ReadTransaction
}

interface RootDatabase extends Database {
  openDB(name: string, options: object): Database | undefined
  useReadTransaction(): ReadTransaction
  resetReadTxn(): void
  /** Frees the places of readers whose process has ended; returns how many. */
  readerCheck(): number
  transactionSync(action: () => void): void
  /** Locks among the threads of this process. */
  attemptLock(name: string, version: number): boolean
  hasLock(name: string, version: number): boolean
  unlock(name: string, version: number): boolean
  close(): Promise<void>
}

export interface Environment {
  readonly root: RootDatabase
  readonly databases: Readonly<Record<StoreDatabase, Database>>
}

/** The data file of a store, in its directory. */
export const dataFile = 'data.mdb'

const writerMark = 'viewmesh-writer'
const mib = 1024 * 1024
const binary = { encoding: 'binary', keyEncoding: 'binary' }
const rootOptions = {
  ...binary,
  noSubdir: false,
  eventTurnBatching: false,
  /** A commit is visible when it has reached the disk, and not before. */
  overlappingSync: false,
  maxDbs: storeDatabases.length + 2,
  /** Each of them is a snapshot on another commit. */
  maxReaders: 1024,
  /** Address space, not memory; a file that outgrows it still grows. */
  mapSize: 64 * 1024 * mib,
}

/** Opens the environment for writing, without any of its databases. */
export function openRoot(path: string): RootDatabase {
  return openLmdb({ ...rootOptions, path, pageSize: pageBytes })
}

/** Opens one database that exists, or returns undefined. */
export function openExisting(root: RootDatabase, name: StoreDatabase): Database | undefined {
  return root.openDB(name, { ...databaseOptions(name), create: false })
}

/** Opens the databases, creating those that do not exist, and lets readers open them. */
export function openForWriting(root: RootDatabase): Environment {
  const environment = { root, databases: openDatabases(root) }
  root.attemptLock(writerMark, 1)
  return environment
}

/** Which process has the store open for writing: this one, or the one that started it. */
export type WriterProcess = 'this' | 'parent'

/**
 * Opens the environment for reading. Undefined unless a writer of this process has it open, where that is to have
 * it; a parent's word is taken for it, as locks among threads do not reach other processes.
 */
export function openForReading(path: string, writer: WriterProcess): Environment | undefined {
  const root = openLmdb({ ...rootOptions, path, readOnly: true })
  if (writer === 'parent' || root.hasLock(writerMark, 1))
    return { root, databases: openDatabases(root) }
  void root.close()
  return undefined
}

/**
 * Closes what `openForWriting` opened, without waiting for lmdb after a failed commit: it may wait for
 * ever for a flush that does not come.
 */
export async function closeWriting(environment: Environment, isSound: boolean): Promise<void> {
  environment.root.unlock(writerMark, 1)
  const closed = environment.root.close()
  if (isSound) await closed
}

/** Bytes of the pages that hold something of the databases. */
export function usedBytes({ root, databases }: Environment): number {
  root.resetReadTxn()
  const pages = Object.values(databases).map((database) => {
    const { treeBranchPageCount, treeLeafPageCount, overflowPages } = database.getStats()
    return treeBranchPageCount + treeLeafPageCount + overflowPages
  })
  return pageBytes * pages.reduce((sum, each) => sum + each, 0)
}

/** Copies a value out of the map, or returns undefined. Not for keeping: the copy shares memory with others. */
export function readValue(
  database: Database,
  key: Uint8Array,
  transaction: ReadTransaction,
): Buffer | undefined {
  const borrowed = peekValue(database, key, transaction)
  return borrowed && Buffer.from(borrowed)
}

/** A value without a copy, or undefined; valid until the next read of any kind. */
export function peekValue(
  database: Database,
  key: Uint8Array,
  transaction: ReadTransaction,
): Buffer | undefined {
  return sharedValue(database, key, transaction)?.subarray(0, database.lastSize)
}

/** The same with other bytes behind it, and without making anything. */
export function sharedValue(
  database: Database,
  key: Uint8Array,
  transaction: ReadTransaction,
): Buffer | undefined {
  return database.getBinaryFast(key, { transaction })
}

/** The same of a value that must be there. */
export function borrowValue(
  database: Database,
  key: Uint8Array,
  transaction: ReadTransaction,
): Buffer {
  const shared = sharedValue(database, key, transaction)
  invariant(shared !== undefined, 'the store has what its headers and tables name')
  return shared
}

function openLmdb(options: object): RootDatabase {
  return (open as unknown as (options: object) => RootDatabase)(options)
}

function openDatabases(root: RootDatabase): Record<StoreDatabase, Database> {
  const opened = storeDatabases.map((name) => {
    const database = root.openDB(name, databaseOptions(name))
    if (database === undefined) throw new Error(`the store has no database ${name}`)
    return [name, database]
  })
  return Object.fromEntries(opened) as Record<StoreDatabase, Database>
}

const databaseOptions = (name: StoreDatabase): object => ({
  ...binary,
  useVersions: name === 'meta',
})
