/**
 * What a store was made for. A store of another chain, of another layout, or a file that is none of
 * ours is refused before anything is written to it.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { ServiceError } from '../../errors.ts'
import { type Database, dataFile, openExisting, type openRoot } from './environment.ts'
import {
  decodeState,
  earlierFormats,
  emptyState,
  identityKey,
  pageHeaderBytes,
  type StoreIdentity,
  type StoreProgram,
  type StoreState,
  stateKey,
  storeFormat,
} from './layout.ts'
import { readShortage, type Shortage } from './whole-file.ts'

/** What the caller expects of a store. */
export interface Expected {
  readonly path: string
  readonly network: string
  readonly genesisHash?: string
  /** Left out where a store is only inspected. */
  readonly program?: StoreProgram
}

/** What follows the header of an LMDB file's first page: its magic number and its data version. */
const lmdbMagic = 0xbeefc0de
const lmdbVersion = 2

/**
 * Refuses a data file that is not LMDB's, or not whole, before lmdb opens it: it crashes on one.
 * @throws ServiceError `STORE_FORMAT_UNKNOWN` or `STORE_DAMAGED`.
 */
export function checkFile(path: string): void {
  const start = readStart(join(path, dataFile))
  if (start.length === 0) return
  const isLmdb =
    start.length >= pageHeaderBytes + 8 && start.readUInt32LE(pageHeaderBytes) === lmdbMagic
  if (!isLmdb) throw unknownFormat(path, `${dataFile} is no LMDB file`)
  const version = start.readUInt16LE(pageHeaderBytes + 4)
  if (version !== lmdbVersion) throw unknownFormat(path, `LMDB data version ${version}`)
  const shortage = readShortage(join(path, dataFile))
  if (shortage !== null) throw damaged(path, shortage)
}

/** The first bytes of a file; none where it does not exist. */
function readStart(file: string): Buffer {
  try {
    const handle = openSync(file, 'r')
    try {
      const bytes = Buffer.alloc(pageHeaderBytes + 8)
      return bytes.subarray(0, readSync(handle, bytes))
    } finally {
      closeSync(handle)
    }
  } catch (cause) {
    if ((cause as { code?: unknown }).code === 'ENOENT') return Buffer.alloc(0)
    throw cause
  }
}

/**
 * The identity of an existing store, checked against what is expected; undefined where the file is new.
 * @throws ServiceError `STORE_FORMAT_UNKNOWN` or `STORE_FOREIGN`.
 */
export function checkIdentity(
  root: ReturnType<typeof openRoot>,
  expected: Expected,
): StoreIdentity | undefined {
  const entry = openExisting(root, 'meta')?.getEntry(identityKey)
  if (entry === undefined) {
    // A program that dies while it makes a store leaves empty databases, and nothing else.
    const [foreign] = root.getKeys({ limit: 1 })
    if (foreign === undefined || openExisting(root, 'meta') !== undefined) return undefined
    throw unknownFormat(expected.path, `databases such as ${printable(foreign)}`)
  }
  const identity = parseIdentity(entry.value, expected.path)
  checkProgram(identity, expected)
  checkChain(identity, expected)
  return identity
}

/** Writes what a new store is, or adds what was not known of one. */
export function writeIdentity(meta: Database, identity: StoreIdentity): void {
  meta.put(identityKey, Buffer.from(JSON.stringify(identity)), 1)
}

/** The identity of a store that is being made. */
export function newIdentity(expected: Expected): StoreIdentity {
  const random = randomBytes(8)
  return {
    format: storeFormat,
    network: expected.network,
    genesisHash: expected.genesisHash ?? null,
    seed: [random.readInt32LE(0), random.readInt32LE(4)],
    program: expected.program ?? null,
  }
}

/**
 * An identity with what a program knows of its store and those before it did not; of this format, whose databases
 * are made before it is written.
 */
export function completeIdentity(identity: StoreIdentity, expected: Expected): StoreIdentity {
  const genesisHash = identity.genesisHash ?? expected.genesisHash ?? null
  const program = identity.program ?? expected.program ?? null
  return { ...identity, format: storeFormat, genesisHash, program }
}

const printable = (name: Buffer): string => name.toString('latin1').replace(/[^ -~]/g, '')

/** What a store holds, with the LMDB version of the record. */
export function readState(meta: Database): { state: StoreState; version: number } {
  const entry = meta.getEntry(stateKey)
  if (entry === undefined) return { state: emptyState, version: 0 }
  return { state: decodeState(entry.value), version: entry.version }
}

const knownFormats: readonly unknown[] = [...earlierFormats, storeFormat]

function parseIdentity(value: Buffer, path: string): StoreIdentity {
  const identity: Partial<StoreIdentity> = parseJson(value) ?? {}
  if (!knownFormats.includes(identity.format)) {
    throw unknownFormat(path, `format ${JSON.stringify(identity.format)}`)
  }
  return { program: null, ...identity } as StoreIdentity
}

function parseJson(value: Buffer): object | undefined {
  try {
    return JSON.parse(value.toString())
  } catch {
    return undefined
  }
}

function checkProgram({ program }: StoreIdentity, expected: Expected): void {
  const { path } = expected
  if (program === null || expected.program === undefined || program === expected.program) return
  const [found, wanted] = [programNames[program], programNames[expected.program]]
  const message = `The store at ${path} belongs to ${found}, not to ${wanted}.`
  const setting = expected.program === 'app' ? '' : ' with db.store.path (DB_STORE_PATH)'
  throw new ServiceError('STORE_FOREIGN', message, {
    facts: { path, found: program, expected: expected.program },
    remedy: `Choose another directory${setting}, or start the ${program} on this one.`,
  })
}

const programNames: Readonly<Record<StoreProgram, string>> = {
  generator: 'a generator',
  host: 'a host',
  app: 'an app',
}

/** @throws ServiceError `STORE_FOREIGN` where a store is of another chain than is expected. */
export function checkChain(identity: StoreIdentity, expected: Expected): void {
  const { path, network, genesisHash } = expected
  if (identity.network !== network) throw foreign(path, 'network', identity.network, network)
  if (identity.genesisHash === null || genesisHash === undefined) return
  if (identity.genesisHash === genesisHash) return
  throw foreign(path, 'genesis block', identity.genesisHash, genesisHash)
}

function foreign(path: string, what: string, found: string, expected: string): ServiceError {
  const message = `The store at ${path} belongs to the ${what} ${found}, not to ${expected}.`
  return new ServiceError('STORE_FOREIGN', message, {
    facts: { path, found, expected },
    remedy:
      'Choose another directory with db.store.path (DB_STORE_PATH), or set chain.name and chain.network (CHAIN_NAME, CHAIN_NETWORK) and the node back to the chain of this store.',
  })
}

function damaged(path: string, { bytes, needed }: Shortage): ServiceError {
  const message = `The store at ${path} is damaged: ${dataFile} ends after ${bytes} of ${needed} bytes.`
  return new ServiceError('STORE_DAMAGED', message, {
    facts: { path, bytes, needed },
    remedy:
      'Put a whole copy in its place, or choose an empty directory with db.store.path (DB_STORE_PATH); the blocks are read again.',
  })
}

/** The error for a file this program cannot read as a store. */
function unknownFormat(path: string, found: string, cause?: unknown): ServiceError {
  const message = `The store at ${path} is of an unknown format: ${found}, expected format ${storeFormat}.`
  return new ServiceError('STORE_FORMAT_UNKNOWN', message, {
    facts: { path, found, expected: storeFormat },
    remedy:
      'Use the version of the program that made it, or choose an empty directory with db.store.path (DB_STORE_PATH); the blocks are read again.',
    cause,
  })
}
