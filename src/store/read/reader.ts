/**
 * Reading a store, in any thread of the process whose writer has it open or in a child of that process: readers
 * see every commit as soon as it is made.
 */
import { resolve } from 'node:path'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { invariant, ServiceError } from '../../errors.ts'
import {
  type Environment,
  openForReading,
  readValue,
  usedBytes,
  type WriterProcess,
} from '../disk/environment.ts'
import {
  decodeState,
  emptyState,
  identityKey,
  type StoreIdentity,
  type StoreState,
  stateKey,
} from '../disk/layout.ts'
import { createReaderMetrics, type ReaderMetrics } from '../disk/metrics.ts'
import { createEpochCache } from '../index/epoch-cache.ts'
import { createTableCache } from '../index/index-reader.ts'
import type { StoreReader } from '../store.ts'
import { createBlockCache } from './block-cache.ts'
import { startReadAhead } from './read-ahead.ts'
import { createRowCache } from './row-cache.ts'
import { createSealedUpTo } from './seal-reader.ts'
import { createSnapshot, type HeldSnapshot, type SnapshotParts } from './snapshot.ts'

export interface StoreReaderOptions {
  /** Memory for opened bodies and chunks. Default 32 MiB. */
  readonly cacheBytes?: number
  /** How long a snapshot may be held before it expires. Default 60 seconds. */
  readonly maxSnapshotMs?: number
}

interface OpenReaderOptions extends StoreReaderOptions {
  readonly path: string
  /**
   * Which process writes the store. Default `this`; a process that was started by the one that has it open says
   * `parent`, and may go on reading what it sees when that one has closed it.
   */
  readonly writer?: WriterProcess
}

interface StoreReaderParts {
  readonly log?: Logger
  readonly registry?: Registry
}

const defaults = { cacheBytes: 32 * 1024 * 1024, maxSnapshotMs: 60_000 }

/** Decoded headers that are kept: some 600 bytes each. */
const keptHeaders = 4096

/** The room's own view of a reader. */
export interface HoldingReader extends StoreReader {
  snapshot(): HeldSnapshot
  read<T>(use: (snapshot: HeldSnapshot) => T): T
}

/** Memory for rows of Views, as a share of the cache's, beside it. */
const rowShare = 0.25

/** Share of the cache that read-ahead may fill. */
const aheadShare = 0.5

/**
 * Opens a store for reading, while `openWriter` has it open, and begins to unpack its newest blocks where that is in
 * the same process.
 * @throws ServiceError `STORE_NOT_OPEN` where it has not.
 */
export function openReader(options: OpenReaderOptions, parts: StoreReaderParts = {}): StoreReader {
  const path = resolve(options.path)
  const { writer = 'this' } = options
  const environment = openEnvironment(path, writer)
  if (writer === 'parent') {
    return createStoreReader(environment, options, parts, () => void environment.root.close())
  }
  const reader = createStoreReader(environment, options, parts, () => {
    stop()
    void environment.root.close()
  })
  const maxBytes = aheadShare * (options.cacheBytes ?? defaults.cacheBytes)
  const stop = startReadAhead(reader, maxBytes, (cause) => {
    parts.log?.warn({ err: cause }, 'the newest blocks could not be read ahead')
  })
  return reader
}

/** A reader over an open environment; `onClose` ends what belongs to it alone. */
export function createStoreReader(
  environment: Environment,
  options: StoreReaderOptions,
  parts: StoreReaderParts,
  onClose: () => void,
): HoldingReader {
  const metrics = createReaderMetrics(parts.registry)
  const { cacheBytes = defaults.cacheBytes } = options
  const shared = sharedParts(environment, cacheBytes, metrics, parts.log)
  const readState = createStateReader(environment)
  const held = new Map<HeldSnapshot, number>()
  const maxSnapshotMs = options.maxSnapshotMs ?? defaults.maxSnapshotMs
  const watch = setInterval(() => expireOld(), Math.max(10, maxSnapshotMs / 4)).unref()

  const expireOld = (): void => {
    const since = performance.now() - maxSnapshotMs
    for (const [snapshot, taken] of held) {
      if (taken > since) return
      snapshot.expire()
      metrics.countExpired()
      parts.log?.warn({ maxSnapshotMs }, 'a snapshot of the store was held for too long')
    }
  }
  let isClosed = false
  const snapshot = (): HeldSnapshot => {
    // lmdb would throw as well, and once more in the next turn of the event loop, where nobody can catch it.
    if (isClosed) throw closedError()
    environment.root.resetReadTxn()
    const transaction = environment.root.useReadTransaction()
    const taken = createSnapshot(shared, transaction, readState(transaction), () =>
      held.delete(taken),
    )
    held.set(taken, performance.now())
    return taken
  }
  return {
    snapshot,
    showSealsOf: (identities) => {
      shared.shownSigners = identities
    },
    countRowVotesOf: (voters) => {
      shared.rowVoters = voters
    },
    read: (use) => {
      const taken = snapshot()
      try {
        return use(taken)
      } finally {
        taken.release()
      }
    },
    clearDeadReaders: () => environment.root.readerCheck(),
    usedBytes: () => {
      if (isClosed) throw closedError()
      return usedBytes(environment)
    },
    close: () => {
      isClosed = true
      clearInterval(watch)
      for (const open of held.keys()) open.release()
      onClose()
    },
  }
}

function closedError(): ServiceError {
  return new ServiceError('STORE_NOT_OPEN', 'The store was closed.', {
    remedy: 'Open it again; what still reads belongs to what was closed.',
  })
}

function openEnvironment(path: string, writer: WriterProcess): Environment {
  let cause: unknown
  try {
    const environment = openForReading(path, writer)
    if (environment !== undefined) return environment
  } catch (error) {
    cause = error
  }
  throw new ServiceError('STORE_NOT_OPEN', `No writer has the store at ${path} open.`, {
    facts: { path },
    remedy: 'Open the store for writing first; readers follow it.',
    cause,
  })
}

function sharedParts(
  environment: Environment,
  cacheBytes: number,
  metrics: ReaderMetrics,
  log: Logger | undefined,
): SnapshotParts {
  const entry = environment.databases.meta.getEntry(identityKey)
  invariant(entry !== undefined, 'a store that a writer has open says what it is')
  const identity: StoreIdentity = JSON.parse(entry.value.toString())
  return {
    environment,
    seed: identity.seed,
    headers: createEpochCache(keptHeaders, () => 1),
    blocks: createBlockCache(cacheBytes, metrics.cacheReads),
    tables: createTableCache(),
    sealed: createSealedUpTo(),
    rows: createRowCache(rowShare * cacheBytes),
    onDamagedStatement: (error, height) =>
      log?.warn({ err: error, height }, 'a statement about rows cannot be read, it is left out'),
    shownSigners: null,
    rowVoters: null,
  }
}

/** Reads the state record, and parses it when it has changed. */
function createStateReader(
  environment: Environment,
): (transaction: Parameters<typeof readValue>[2]) => StoreState {
  let last: { bytes: Buffer; state: StoreState } = { bytes: Buffer.alloc(0), state: emptyState }
  return (transaction) => {
    const bytes = readValue(environment.databases.meta, stateKey, transaction)
    if (bytes === undefined) return emptyState
    if (!bytes.equals(last.bytes)) last = { bytes, state: decodeState(bytes) }
    return last.state
  }
}
