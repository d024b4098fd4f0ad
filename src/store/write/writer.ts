/** The one writer of a store: opens it, or makes it, and queues the transactions of every call. */
import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import {
  closeWriting,
  dataFile,
  type Environment,
  openForWriting,
  openRoot,
} from '../disk/environment.ts'
import { emptyState, encodeState, type StoreIdentity, stateKey } from '../disk/layout.ts'
import { createWriterMetrics, type WriterFigures } from '../disk/metrics.ts'
import { prepareDirectory, writeFailure } from '../disk/store-directory.ts'
import {
  checkChain,
  checkFile,
  checkIdentity,
  completeIdentity,
  type Expected,
  newIdentity,
  readState,
  writeIdentity,
} from '../disk/store-identity.ts'
import { lockStore } from '../disk/store-lock.ts'
import { createStoreReader, type StoreReaderOptions } from '../read/reader.ts'
import type { StoreWriter, ViewsDone } from '../store.ts'
import { type CommitQueue, createCommitQueue, type WriteOperation } from './commit-queue.ts'
import { createCompaction } from './compaction.ts'
import { createViewNeeds } from './empty-views.ts'
import { raiseRowTail } from './row-block-operations.ts'
import { createViewWriter } from './view-operations.ts'
import { loadSlots } from './view-slots.ts'
import {
  putBlock,
  putIdentity,
  putRecord,
  putRowStatements,
  putSeals,
  replaceBlocks,
  visibleBlocks,
  type WriteContext,
} from './write-operations.ts'

export interface StoreWriterOptions extends StoreReaderOptions, Expected {
  /** This many heights, the head's included, stay visible; what lies below can be pruned. Null keeps all. */
  readonly retainBlocks: number | null
  /**
   * Rows of Views in this many heights, the head's included, stay visible when documents are pruned; with fewer than
   * `retainBlocks`, and with null, rows go with their documents. Default null.
   */
  readonly retainRows?: number | null
  /** What the rows of one View may take, with their index: of those beyond the lowest go. Default no bound. */
  readonly maxViewBytes?: number
}

export interface StoreWriterParts {
  readonly log: Logger
  readonly registry?: Registry
}

/**
 * Opens a store for writing, and makes it where there is none.
 * @throws ServiceError `STORE_LOCKED`, `STORE_PATH_UNUSABLE`, `STORE_FULL`, `STORE_FOREIGN`,
 *   `STORE_FORMAT_UNKNOWN`, `STORE_DAMAGED` or `STORE_WRITE_FAILED`; nothing stored is then changed.
 */
export async function openWriter(
  options: StoreWriterOptions,
  parts: StoreWriterParts,
): Promise<StoreWriter> {
  const absolute = { ...options, path: resolve(options.path) }
  prepareDirectory(absolute.path)
  const lock = lockStore(absolute.path)
  try {
    const root = openFile(absolute.path)
    try {
      const { environment, identity } = openStore(root, absolute)
      return createStoreWriter(absolute, parts, environment, identity, () => lock.release())
    } catch (error) {
      await root.close()
      throw writeFailure(absolute.path, error)
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

function openFile(path: string): ReturnType<typeof openRoot> {
  checkFile(path)
  try {
    return openRoot(path)
  } catch (cause) {
    throw writeFailure(path, cause)
  }
}

function openStore(
  root: ReturnType<typeof openRoot>,
  expected: Expected,
): { environment: Environment; identity: StoreIdentity } {
  const known = checkIdentity(root, expected)
  const identity = completeIdentity(known ?? newIdentity(expected), expected)
  const environment = openForWriting(root)
  const { meta } = environment.databases
  root.transactionSync(() => {
    if (!isDeepStrictEqual(known, identity)) writeIdentity(meta, identity)
    if (known === undefined) meta.put(stateKey, encodeState(emptyState), 1)
  })
  return { environment, identity }
}

function createStoreWriter(
  options: StoreWriterOptions,
  parts: StoreWriterParts,
  environment: Environment,
  identity: StoreIdentity,
  onClose: () => void,
): StoreWriter {
  const { path, retainBlocks, retainRows = null, maxViewBytes = Infinity } = options
  const start = readState(environment.databases.meta)
  const figures: WriterFigures = {
    bytes: () => statSync(join(path, dataFile), { throwIfNoEntry: false })?.size ?? 0,
    blocks: () => visibleBlocks(queue.state()),
  }
  const queue: CommitQueue = createCommitQueue(start, {
    environment,
    metrics: parts.registry && createWriterMetrics(parts.registry, figures),
    failure: (cause) => writeFailure(path, cause),
  })
  const reader = createStoreReader(environment, options, parts, () => undefined)
  const slots = loadSlots(environment.databases.viewSlots)
  const { seed } = identity
  const kept = { retainBlocks, retainRows, maxViewBytes }
  const context: WriteContext = { reader, seed, slots, needs: createViewNeeds(seed), ...kept }
  const compaction = createCompaction(queue, context, parts.log)
  const views = createViewWriter(queue, context)
  const flushed = async (): Promise<void> => {
    await compaction.finished()
    await views.merged()
    await queue.flushed()
  }
  const close = async (): Promise<void> => {
    compaction.stopPruning()
    await views.close()
    const isSound = await flushed().then(
      () => true,
      () => false,
    )
    reader.close()
    await closeWriting(environment, isSound)
    onClose()
  }

  const { tail, blocks } = start.state
  const facts = { path, tail, head: blocks.at(-1)?.[1] ?? null }
  parts.log.info({ ...facts, blocks: visibleBlocks(start.state) }, 'store opened')
  const onBlocks = (): void => {
    compaction.start()
    views.merge()
  }
  onBlocks()
  return {
    ...createPuts(queue, context, onBlocks),
    ...views.puts,
    ...createGenesis(queue, options, identity),
    prune: compaction.prune,
    pruneRowsBelow: async (height) => {
      await queue.run('compaction', raiseRowTail(height))
      await compaction.prune()
    },
    flushed,
    reader,
    close,
  }
}

function createGenesis(
  queue: CommitQueue,
  expected: Expected,
  opened: StoreIdentity,
): Pick<StoreWriter, 'genesisHash' | 'adoptGenesis'> {
  let identity = opened
  return {
    genesisHash: () => identity.genesisHash,
    adoptGenesis: async (genesisHash) => {
      checkChain(identity, { ...expected, genesisHash })
      if (identity.genesisHash === genesisHash) return
      identity = { ...identity, genesisHash }
      await queue.run('records', putIdentity(identity))
    },
  }
}

type Puts = Pick<
  StoreWriter,
  | 'putBlock'
  | 'putSeals'
  | 'putSealedBlock'
  | 'replaceBlocks'
  | 'truncateAbove'
  | 'putRowStatements'
  | 'putRecord'
>

/** `onBlocks` is called after blocks were put or removed. */
function createPuts(queue: CommitQueue, context: WriteContext, onBlocks: () => void): Puts {
  const documents = new Map<number, Promise<void>>()
  const write = async (operation: WriteOperation): Promise<void> => {
    await queue.run('documents', operation)
    onBlocks()
  }
  return {
    putBlock: async (block) => {
      const { number } = block.header
      const done = write(putBlock(context, block))
      documents.set(number, done)
      try {
        await done
      } finally {
        if (documents.get(number) === done) documents.delete(number)
      }
    },
    putSeals: async (height, seals, outdated = []) => {
      await documents.get(height)
      await queue.run('seals', putSeals(context, height, seals, outdated))
    },
    putSealedBlock: async (block) => {
      const done: ViewsDone[] = []
      await write(putBlock(context, block, block.seals, (each) => done.push(each)))
      return done
    },
    replaceBlocks: async (from, to, blocks) => {
      const done: ViewsDone[] = []
      await write(replaceBlocks(context, from, to, blocks, (each) => done.push(each)))
      return done
    },
    truncateAbove: (height) =>
      write(replaceBlocks(context, height + 1, Number.MAX_SAFE_INTEGER, [])),
    putRowStatements: async (height, statements, outdated = []) => {
      let isStored = false
      const onStored = (): void => {
        isStored = true
      }
      await queue.run('statements', putRowStatements(height, statements, outdated, onStored))
      return isStored
    },
    putRecord: (name, value) => queue.run('records', putRecord(name, value)),
  }
}
