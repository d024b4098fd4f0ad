/** The one writer of a store: opens or makes it, and turns what is asked for into transactions. */
import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { ServiceError } from '../errors.ts'
import type { Seal } from '../primitives/seal.ts'
import { type Change, putBlockChange, sealWrites } from './block-writes.ts'
import { type CommitQueue, createCommitQueue } from './commit-queue.ts'
import {
  closeWriting,
  dataFile,
  type Environment,
  openForWriting,
  openRoot,
} from './environment.ts'
import type { FingerprintSeed } from './fingerprint.ts'
import { clipHeights, countHeights, hasHeight } from './height-ranges.ts'
import { emptyState, type StoreIdentity, type StoreState, sealKey, stateKey } from './layout.ts'
import { createWriterMetrics } from './metrics.ts'
import { createReader, type HoldingReader, type ReaderOptions } from './reader.ts'
import type { HeldSnapshot } from './snapshot.ts'
import {
  dueSpan,
  mergeSpanChange,
  pruneableSpan,
  removeBlocksChange,
  removeSpanChange,
} from './span-writes.ts'
import type { BlockToStore, SealedBlockToStore, StoreWriter } from './store.ts'
import { prepareDirectory, writeFailure } from './store-directory.ts'
import {
  checkIdentity,
  type Expected,
  newIdentity,
  readState,
  unknownFormat,
  writeIdentity,
} from './store-identity.ts'
import { lockStore } from './store-lock.ts'

export interface WriterOptions extends ReaderOptions, Expected {
  /** Blocks below the highest so many heights become invisible, and removable. Null keeps all. */
  readonly retainBlocks: number | null
}

export interface WriterParts {
  readonly log: Logger
  readonly registry?: Registry
}

/**
 * Opens a store for writing, and makes it where there is none.
 * @throws ServiceError `STORE_LOCKED`, `STORE_PATH_UNUSABLE`, `STORE_FULL`, `STORE_FOREIGN` or
 *   `STORE_FORMAT_UNKNOWN`; nothing is then changed.
 */
export async function openWriter(options: WriterOptions, parts: WriterParts): Promise<StoreWriter> {
  const expected = { ...options, path: resolve(options.path) }
  prepareDirectory(expected.path)
  const lock = lockStore(expected.path)
  try {
    const { environment, identity } = await openStore(expected)
    const writer = createWriter(expected, parts, environment, identity.seed)
    const close = async (): Promise<void> => {
      await writer.close()
      await closeWriting(environment)
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

/** MDB_PAGE_NOTFOUND, MDB_CORRUPTED, MDB_VERSION_MISMATCH and MDB_INVALID. */
const foreignFileCodes: ReadonlySet<unknown> = new Set([-30797, -30796, -30794, -30793])

function openFile(path: string): ReturnType<typeof openRoot> {
  try {
    return openRoot(path)
  } catch (cause) {
    const code = (cause as { code?: unknown }).code
    if (foreignFileCodes.has(code)) throw unknownFormat(path, `${dataFile} is no LMDB file`, cause)
    throw writeFailure(path, cause)
  }
}

function createWriter(
  options: WriterOptions,
  parts: WriterParts,
  environment: Environment,
  seed: FingerprintSeed,
): StoreWriter {
  const { log, registry } = parts
  const reader: HoldingReader = createReader(environment, options, parts, () => undefined)
  const figures = {
    bytes: () => statSync(join(options.path, dataFile)).size,
    blocks: () => visibleBlocks(queue.state()),
  }
  const metrics = registry === undefined ? undefined : createWriterMetrics(registry, figures)
  const failure = (cause: unknown): ServiceError => writeFailure(options.path, cause)
  const start = readState(environment.databases.meta)
  const queue: CommitQueue = createCommitQueue(start, { environment, metrics, failure })
  const context: Context = { reader, seed, retainBlocks: options.retainBlocks }
  const documents = new Map<number, Promise<void>>()

  const putBlock = async (block: BlockToStore): Promise<void> => {
    const { number } = block.header
    const done = queue.run('documents', (state, settled) => putOne(context, state, settled, block))
    documents.set(number, done)
    try {
      await done
    } finally {
      if (documents.get(number) === done) documents.delete(number)
    }
    tidy()
  }
  const putSeals = async (height: number, seals: readonly Seal[]): Promise<void> => {
    await documents.get(height)
    await queue.run('seals', (state) => {
      if (height < state.tail) return null
      return sealsChange(context, state, height, seals)
    })
  }
  const putSealedBlock = async (block: SealedBlockToStore): Promise<void> => {
    await queue.run('documents', async (state, settled) => {
      const put = (await putOne(context, state, settled, block)) ?? { writes: [], state }
      const { number } = block.header
      return number < state.tail ? null : withSeals(context, put, number, block.seals)
    })
    tidy()
  }
  const replaceAbove: StoreWriter['replaceAbove'] = async (height, blocks) => {
    await queue.run('documents', async (_state, settled) => {
      await settled()
      let change = withSnapshot(reader, (snapshot) => removeAllAbove(snapshot, height))
      for (const block of blocks) {
        if (block.header.number < change.state.tail) continue
        change = joined(change, putBlockChange(change.state, block, seed))
        change = withSeals(context, change, block.header.number, block.seals)
      }
      return { ...change, state: moveTail(change.state, context.retainBlocks) }
    })
    tidy()
  }
  const mergeNext = async (): Promise<boolean> => {
    let merged: number | undefined
    await queue.run('upkeep', async (state, settled) => {
      merged = dueSpan(state)
      if (merged === undefined) return null
      const span = merged
      await settled()
      return withSnapshot(reader, (snapshot) => mergeSpanChange(snapshot, span))
    })
    if (merged !== undefined) log.debug({ span: merged }, 'index tables of a span merged')
    return merged !== undefined
  }
  let upkeep: Promise<void> = Promise.resolve()
  const tidy = (): void => {
    if (dueSpan(queue.state()) === undefined) return
    upkeep = upkeep.then(async () => {
      while (await mergeNext());
    })
    // Whoever writes next meets the failure.
    upkeep.catch(() => undefined)
  }
  const pruneNext = async (): Promise<number> => {
    let removed = 0
    await queue.run('upkeep', async (_state, settled) => {
      await settled()
      return withSnapshot(reader, (snapshot) => {
        const [lowestSeal] = snapshot.sealKeys(Buffer.alloc(6), Buffer.alloc(6, 0xff))
        const span = pruneableSpan(snapshot.state, lowestSeal?.readUIntBE(0, 6))
        if (span === undefined) return null
        const change = removeSpanChange(snapshot, span)
        removed = countHeights(snapshot.state.blocks) - countHeights(change.state.blocks)
        return change
      })
    })
    return removed
  }
  const prune = async (): Promise<number> => {
    let removed = 0
    while (pruneableSpan(queue.state()) !== undefined) removed += await pruneNext()
    if (removed > 0) log.debug({ blocks: removed }, 'blocks below the tail removed')
    return removed
  }
  const flushed = async (): Promise<void> => {
    await upkeep
    await queue.settled()
  }
  const { blocks, tail } = queue.state()
  log.info(
    {
      path: options.path,
      tail,
      head: blocks.at(-1)?.[1] ?? null,
      blocks: visibleBlocks(queue.state()),
    },
    'store opened',
  )
  tidy()
  return {
    putBlock,
    putSeals,
    putSealedBlock,
    replaceAbove,
    removeAbove: (height) => replaceAbove(height, []),
    prune,
    flushed,
    reader,
    close: async () => {
      await flushed().catch(() => undefined)
      reader.close()
    },
  }
}

/** What composing a transaction needs. */
interface Context {
  readonly reader: HoldingReader
  readonly seed: FingerprintSeed
  readonly retainBlocks: number | null
}

async function putOne(
  context: Context,
  state: StoreState,
  settled: () => Promise<void>,
  block: BlockToStore,
): Promise<Change | null> {
  const { number } = block.header
  if (number < state.tail) return null
  let start: Change = { writes: [], state }
  if (hasHeight(state.blocks, number)) {
    await settled()
    const freed = withSnapshot(context.reader, (snapshot) => freeHeight(snapshot, block))
    if (freed === null) return null
    start = freed
  }
  const change = joined(start, putBlockChange(start.state, block, context.seed))
  return { ...change, state: moveTail(change.state, context.retainBlocks) }
}

/** Removes the block at a height, unless it is the same one. */
function freeHeight(snapshot: HeldSnapshot, block: BlockToStore): Change | null {
  const { number, hash, root } = block.header
  const there = snapshot.storedHeader(number)?.header
  if (there?.hash === hash && there.root === root) return null
  return removeBlocksChange(snapshot, [[number, number]])
}

function removeAllAbove(snapshot: HeldSnapshot, height: number): Change {
  const above = clipHeights(snapshot.state.blocks, height + 1, Number.MAX_SAFE_INTEGER)
  if (above.length === 0) return { writes: [], state: snapshot.state }
  return removeBlocksChange(snapshot, above)
}

function sealsChange(
  context: Context,
  state: StoreState,
  height: number,
  seals: readonly Seal[],
): Change | null {
  return withSeals(context, { writes: [], state }, height, seals)
}

/** Adds the seals that are not stored yet. */
function withSeals(
  context: Context,
  change: Change,
  height: number,
  seals: readonly Seal[],
): Change {
  const known = withSnapshot(context.reader, (snapshot) => snapshot.seals(height))
  const keys = new Set(known.map((seal) => sealKey(height, seal).toString('latin1')))
  const fresh = seals.filter((seal) => !keys.has(sealKey(height, seal).toString('latin1')))
  return { writes: [...change.writes, ...sealWrites(height, fresh)], state: change.state }
}

function joined(first: Change, second: Change): Change {
  return { writes: [...first.writes, ...second.writes], state: second.state }
}

/** The tail never moves down: what was invisible once may be gone already. */
function moveTail(state: StoreState, retainBlocks: number | null): StoreState {
  if (retainBlocks === null) return state
  const head = state.blocks.at(-1)?.[1] ?? 0
  return { ...state, tail: Math.max(state.tail, head - retainBlocks + 1) }
}

function visibleBlocks(state: StoreState): number {
  return countHeights(clipHeights(state.blocks, state.tail, Number.MAX_SAFE_INTEGER))
}

function withSnapshot<T>(reader: HoldingReader, read: (snapshot: HeldSnapshot) => T): T {
  const snapshot = reader.snapshot()
  try {
    return read(snapshot)
  } finally {
    snapshot.release()
  }
}
