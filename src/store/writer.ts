/** The one writer of a store: opens it, or makes it, and queues the transactions of every call. */
import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { createCommitQueue } from './commit-queue.ts'
import {
  closeWriting,
  dataFile,
  type Environment,
  openForWriting,
  openRoot,
} from './environment.ts'
import { emptyState, type StoreIdentity, stateKey } from './layout.ts'
import { createWriterMetrics } from './metrics.ts'
import { createReader, type ReaderOptions } from './reader.ts'
import { dueSpan, pruneableGroup } from './span-writes.ts'
import type { StoreWriter } from './store.ts'
import { prepareDirectory, writeFailure } from './store-directory.ts'
import {
  checkFile,
  checkIdentity,
  type Expected,
  newIdentity,
  readState,
  writeIdentity,
} from './store-identity.ts'
import { lockStore } from './store-lock.ts'
import {
  mergeDueSpan,
  pruneGroup,
  putBlock,
  putSeals,
  replaceAbove,
  visibleBlocks,
  type WriteContext,
} from './transactions.ts'

export interface WriterOptions extends ReaderOptions, Expected {
  /** This many heights, the head's included, stay visible; what lies below can be pruned. Null keeps all. */
  readonly retainBlocks: number | null
}

export interface WriterParts {
  readonly log: Logger
  readonly registry?: Registry
}

/**
 * Opens a store for writing, and makes it where there is none.
 * @throws ServiceError `STORE_LOCKED`, `STORE_PATH_UNUSABLE`, `STORE_FULL`, `STORE_FOREIGN`,
 *   `STORE_FORMAT_UNKNOWN` or `STORE_WRITE_FAILED`; nothing stored is then changed.
 */
export async function openWriter(options: WriterOptions, parts: WriterParts): Promise<StoreWriter> {
  const absolute = { ...options, path: resolve(options.path) }
  prepareDirectory(absolute.path)
  const lock = lockStore(absolute.path)
  try {
    const { environment, identity } = await openStore(absolute)
    const { end, ...writer } = createWriter(absolute, parts, environment, identity)
    const close = async (): Promise<void> => {
      const isSound = await end()
      await closeWriting(environment, isSound)
      lock.release()
    }
    return { ...writer, close }
  } catch (error) {
    lock.release()
    throw error
  }
}

async function openStore(
  expected: Expected,
): Promise<{ environment: Environment; identity: StoreIdentity }> {
  const root = openFile(expected.path)
  try {
    const known = checkIdentity(root, expected)
    const identity = known ?? newIdentity(expected)
    const environment = openForWriting(root)
    const { meta } = environment.databases
    const genesisHash = identity.genesisHash ?? expected.genesisHash ?? null
    root.transactionSync(() => {
      if (known?.genesisHash !== genesisHash) writeIdentity(meta, { ...identity, genesisHash })
      if (known === undefined) meta.put(stateKey, Buffer.from(JSON.stringify(emptyState)), 1)
    })
    return { environment, identity }
  } catch (error) {
    await root.close()
    throw writeFailure(expected.path, error)
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

/** `end` waits for what is under way, closes the reader and answers whether all of it was written. */
function createWriter(
  options: WriterOptions,
  parts: WriterParts,
  environment: Environment,
  identity: StoreIdentity,
): Omit<StoreWriter, 'close'> & { readonly end: () => Promise<boolean> } {
  const { path, retainBlocks } = options
  const { log, registry } = parts
  const start = readState(environment.databases.meta)
  const metrics =
    registry &&
    createWriterMetrics(registry, {
      bytes: () => statSync(join(path, dataFile)).size,
      blocks: () => visibleBlocks(queue.state()),
    })
  const failure: Parameters<typeof createCommitQueue>[1]['failure'] = (cause) =>
    writeFailure(path, cause)
  const queue = createCommitQueue(start, { environment, metrics, failure })
  const reader = createReader(environment, options, parts, () => undefined)
  const context: WriteContext = { reader, seed: identity.seed, retainBlocks }
  const documents = new Map<number, Promise<void>>()
  let upkeep: Promise<void> = Promise.resolve()

  const mergeSpans = async (): Promise<void> => {
    while (dueSpan(queue.state()) !== undefined) {
      const compose = mergeDueSpan(context, (span) => log.debug({ span }, 'index of a span merged'))
      await queue.run('upkeep', compose)
    }
  }
  const tidy = (): void => {
    if (dueSpan(queue.state()) === undefined) return
    upkeep = upkeep.then(mergeSpans)
    // Whoever writes next, or waits for `flushed`, meets the failure.
    upkeep.catch(() => undefined)
  }
  const writeDocuments = async (compose: Parameters<typeof queue.run>[1]): Promise<void> => {
    await queue.run('documents', compose)
    tidy()
  }
  const flushed = async (): Promise<void> => {
    await upkeep
    await queue.settled()
  }

  const range = start.state.blocks
  const facts = { path, tail: start.state.tail, head: range.at(-1)?.[1] ?? null }
  log.info({ ...facts, blocks: visibleBlocks(start.state) }, 'store opened')
  tidy()
  return {
    reader,
    flushed,
    putBlock: async (block) => {
      const { number } = block.header
      const done = writeDocuments(putBlock(context, block))
      documents.set(number, done)
      try {
        await done
      } finally {
        if (documents.get(number) === done) documents.delete(number)
      }
    },
    putSeals: async (height, seals) => {
      await documents.get(height)
      await queue.run('seals', putSeals(context, height, seals))
    },
    putSealedBlock: (block) => writeDocuments(putBlock(context, block, block.seals)),
    replaceAbove: (height, blocks) => writeDocuments(replaceAbove(context, height, blocks)),
    removeAbove: (height) => writeDocuments(replaceAbove(context, height, [])),
    prune: async () => {
      let removed = 0
      while (pruneableGroup(queue.state()) !== undefined) {
        const compose = pruneGroup(context, (blocks) => {
          removed += blocks
        })
        await queue.run('upkeep', compose)
      }
      if (removed > 0) log.debug({ blocks: removed }, 'blocks below the tail removed')
      return removed
    },
    end: async () => {
      const isSound = await flushed().then(
        () => true,
        () => false,
      )
      reader.close()
      return isSound
    },
  }
}
