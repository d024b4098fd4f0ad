/** What each call of the writer becomes: a transaction put together from the state it finds. */
import type { Seal } from '../primitives/seal.ts'
import {
  type Change,
  putBlockChange,
  removeSealWrites,
  sealWrites,
  type Write,
} from './block-writes.ts'
import type { Compose } from './commit-queue.ts'
import type { FingerprintSeed } from './fingerprint.ts'
import { clipHeights, countHeights, hasHeight } from './height-ranges.ts'
import { heightKey, identityKey, type StoreIdentity, type StoreState, sealKey } from './layout.ts'
import type { HoldingReader } from './reader.ts'
import type { HeldSnapshot } from './snapshot.ts'
import {
  dueSpan,
  mergeSpanChange,
  pruneableGroup,
  removeBlocksChange,
  removeGroupChange,
} from './span-writes.ts'
import type { BlockToStore, SealedBlockToStore } from './store.ts'

/** What putting a transaction together needs. */
export interface WriteContext {
  readonly reader: HoldingReader
  readonly seed: FingerprintSeed
  /** Heights below the head that stay visible; null keeps all. */
  readonly retainBlocks: number | null
}

/** Stores a block, and seals with it. */
export function putBlock(
  context: WriteContext,
  block: BlockToStore,
  seals: readonly Seal[] = [],
): Compose {
  const { number } = block.header
  return async (state, settled) => {
    if (number < state.tail) return null
    let freed: Change | null = { writes: [], state }
    if (hasHeight(state.blocks, number)) {
      await settled()
      freed = context.reader.read((snapshot) => freeHeight(snapshot, block))
    }
    const put = freed === null ? { writes: [], state } : putAfter(context, freed, block)
    return withSeals(context, { ...put, state: moveTail(context, put.state) }, number, seals)
  }
}

/** Stores seals of a height, and removes others. */
export function putSeals(
  context: WriteContext,
  height: number,
  seals: readonly Seal[],
  outdated: readonly Seal[],
): Compose {
  return async (state, settled) => {
    if (height < state.tail) return null
    if (outdated.length === 0) return withSeals(context, { writes: [], state }, height, seals)
    await settled()
    const writes = context.reader.read((snapshot) => removeSealWrites(snapshot, height, outdated))
    return withSeals(context, { writes, state }, height, seals)
  }
}

/** Keeps or forgets a record. */
export function putRecord(name: string, value: Uint8Array | null): Compose {
  const write: Write = { database: 'records', key: Buffer.from(name), value }
  return (state) => ({ writes: [write], state })
}

/** Writes what the store is. */
export function putIdentity(identity: StoreIdentity): Compose {
  const value = Buffer.from(JSON.stringify(identity))
  return (state) => ({ writes: [{ database: 'meta', key: identityKey, value }], state })
}

/** Puts blocks in the place of those from one height to another. */
export function replaceBlocks(
  context: WriteContext,
  from: number,
  to: number,
  blocks: readonly SealedBlockToStore[],
): Compose {
  return async (_state, settled) => {
    await settled()
    let change = context.reader.read((snapshot) => removeRange(snapshot, from, to))
    for (const block of blocks) {
      const { number } = block.header
      if (number < change.state.tail) continue
      change = withSeals(context, putAfter(context, change, block), number, block.seals)
    }
    return { ...change, state: moveTail(context, change.state) }
  }
}

/** Merges the index tables of a span that is due; `onMerged` hears which. */
export function mergeDueSpan(context: WriteContext, onMerged: (span: number) => void): Compose {
  return async (state, settled) => {
    const span = dueSpan(state)
    if (span === undefined) return null
    await settled()
    onMerged(span)
    return context.reader.read((snapshot) => mergeSpanChange(snapshot, span))
  }
}

/** Removes the lowest group of blocks below the tail; `onRemoved` hears of how many blocks. */
export function pruneGroup(context: WriteContext, onRemoved: (blocks: number) => void): Compose {
  return async (_state, settled) => {
    await settled()
    return context.reader.read((snapshot) => {
      const [lowestSeal] = snapshot.sealKeys(heightKey(0), heightKey(snapshot.state.tail))
      const group = pruneableGroup(snapshot.state, lowestSeal?.readUIntBE(0, 6))
      if (group === undefined) return null
      const change = removeGroupChange(snapshot, group)
      onRemoved(countHeights(snapshot.state.blocks) - countHeights(change.state.blocks))
      return change
    })
  }
}

/** Number of blocks that readers see. */
export function visibleBlocks(state: StoreState): number {
  return countHeights(clipHeights(state.blocks, state.tail, Number.MAX_SAFE_INTEGER))
}

/** Removes the block at a height; null where it is the same one. */
function freeHeight(snapshot: HeldSnapshot, block: BlockToStore): Change | null {
  const { number, hash, root } = block.header
  const there = snapshot.storedHeader(number)?.header
  if (there?.hash === hash && there.root === root) return null
  return removeBlocksChange(snapshot, [[number, number]])
}

function removeRange(snapshot: HeldSnapshot, from: number, to: number): Change {
  const removed = clipHeights(snapshot.state.blocks, from, to)
  if (removed.length === 0) return { writes: [], state: snapshot.state }
  return removeBlocksChange(snapshot, removed)
}

function putAfter(context: WriteContext, before: Change, block: BlockToStore): Change {
  const put = putBlockChange(before.state, block, context.seed)
  return { writes: [...before.writes, ...put.writes], state: put.state }
}

/** Adds the seals that are not stored yet. */
function withSeals(
  context: WriteContext,
  change: Change,
  height: number,
  seals: readonly Seal[],
): Change {
  if (seals.length === 0) return change
  const nameOf = (seal: Seal): string => sealKey(height, seal).toString('latin1')
  const stored = context.reader.read((snapshot) => snapshot.seals(height))
  const known = new Set(stored.map(nameOf))
  const fresh = seals.filter((seal) => !known.has(nameOf(seal)))
  return { writes: [...change.writes, ...sealWrites(height, fresh)], state: change.state }
}

/** The tail never moves down: what was invisible once may be gone already. */
function moveTail(context: WriteContext, state: StoreState): StoreState {
  const head = state.blocks.at(-1)?.[1] ?? 0
  const tail = context.retainBlocks === null ? 0 : head - context.retainBlocks + 1
  return tail > state.tail ? { ...state, tail } : state
}
