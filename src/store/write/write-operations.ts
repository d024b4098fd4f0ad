/** The write operations: what each call of the writer writes, given the state it starts from. */
import {
  clipHeights,
  countHeights,
  type HeightRanges,
  hasHeight,
  subtractHeights,
  uniteHeights,
} from '../../primitives/height-ranges.ts'
import type { Seal } from '../../primitives/seal.ts'
import type { RowStatement } from '../../row-votes/row-statement.ts'
import type { StatementExcerpt } from '../../row-votes/statement-excerpt.ts'
import type { FingerprintSeed } from '../disk/fingerprint.ts'
import {
  heightKey,
  identityKey,
  type StoreIdentity,
  type StoreState,
  sealEntryKey,
} from '../disk/layout.ts'
import { statementPieces } from '../disk/statement-layout.ts'
import type { HoldingReader } from '../read/reader.ts'
import type { HeldSnapshot } from '../read/snapshot.ts'
import type { BlockToStore, SealedBlockToStore, ViewsDone } from '../store.ts'
import {
  blockEntries,
  putBlockChange,
  removeSealWrites,
  type StoreChange,
  sealWrites,
  type Write,
} from './block-writes.ts'
import type { WriteOperation } from './commit-queue.ts'
import { type ViewNeeds, withEmptyViews } from './empty-views.ts'
import {
  dueSpan,
  mergeSpanChange,
  pruneableGroup,
  removeBlocksChange,
  removeGroupChange,
} from './span-writes.ts'
import type { ViewSlots } from './view-slots.ts'
import { forgetHeights } from './view-writes.ts'

/** What write operations need. */
export interface WriteContext {
  readonly reader: HoldingReader
  readonly seed: FingerprintSeed
  readonly slots: ViewSlots
  readonly needs: ViewNeeds
  /** Heights below the head that stay visible; null keeps all. */
  readonly retainBlocks: number | null
  /** The same for rows of Views, where documents below the tail were pruned; null lets rows go with them. */
  readonly retainRows: number | null
  /** What the rows of one View may take in the file. */
  readonly maxViewBytes: number
}

/** Stores a block, and seals with it; `onDone` gets the slots that are done with it, if any. */
export function putBlock(
  context: WriteContext,
  block: BlockToStore,
  seals: readonly Seal[] = [],
  onDone: OnViewsDone = () => undefined,
): WriteOperation {
  const { number } = block.header
  return async (state, flushed) => {
    if (number < state.tail) return null
    let freed: StoreChange | null = { writes: [], state }
    if (hasHeight(state.blocks, number)) {
      await flushed()
      freed = context.reader.read((snapshot) => freeHeight(context, snapshot, block))
    }
    const put =
      freed === null
        ? withSeals(context, { writes: [], state }, number, seals)
        : putAfter(context, freed, { ...block, seals }, onDone)
    return { ...put, state: moveTail(context, put.state) }
  }
}

/** Gets which Views are done with a block as it is put. */
type OnViewsDone = (done: ViewsDone) => void

/** Whether all that is stored is lower than a block above the tail; all that was pruned is below the tail. */
function isAboveAll({ blocks }: StoreState, height: number): boolean {
  return height > (blocks.at(-1)?.[1] ?? -1)
}

/** Stores seals of a height, and removes others. */
export function putSeals(
  context: WriteContext,
  height: number,
  seals: readonly Seal[],
  outdated: readonly Seal[],
): WriteOperation {
  return async (state, flushed) => {
    if (height < state.tail) return null
    if (outdated.length === 0) return withSeals(context, { writes: [], state }, height, seals)
    await flushed()
    const writes = context.reader.read((snapshot) => removeSealWrites(snapshot, height, outdated))
    return withSeals(context, { writes, state }, height, seals)
  }
}

/** Stores statements about rows at a height, and removes others; `onStored` is called unless the height is too low. */
export function putRowStatements(
  height: number,
  statements: readonly (RowStatement | StatementExcerpt)[],
  outdated: readonly (RowStatement | StatementExcerpt)[],
  onStored: () => void,
): WriteOperation {
  return (state) => {
    if (height < state.rowTail) return null
    onStored()
    const removed = outdated.flatMap(statementPieces).map(({ key }) => ({ key, value: null }))
    const gone = removed.map((piece): Write => ({ database: 'rowStatements', ...piece }))
    return { writes: [...gone, ...statementWrites(statements)], state }
  }
}

export function statementWrites(
  statements: readonly (RowStatement | StatementExcerpt)[],
): readonly Write[] {
  return statements
    .flatMap(statementPieces)
    .map((piece): Write => ({ database: 'rowStatements', ...piece }))
}

/** Stores or removes a record. */
export function putRecord(name: string, value: Uint8Array | null): WriteOperation {
  const write: Write = { database: 'records', key: Buffer.from(name), value }
  return (state) => ({ writes: [write], state })
}

/** Writes what the store is. */
export function putIdentity(identity: StoreIdentity): WriteOperation {
  const value = Buffer.from(JSON.stringify(identity))
  return (state) => ({ writes: [{ database: 'meta', key: identityKey, value }], state })
}

/** Puts blocks in the place of those from one height to another; `onDone` as for `putBlock`, for each of them. */
export function replaceBlocks(
  context: WriteContext,
  from: number,
  to: number,
  blocks: readonly SealedBlockToStore[],
  onDone: OnViewsDone = () => undefined,
): WriteOperation {
  return async (_state, flushed) => {
    await flushed()
    let change = context.reader.read((snapshot) => removeRange(context, snapshot, from, to))
    for (const block of blocks) {
      if (block.header.number < change.state.tail) continue
      change = putAfter(context, change, block, onDone)
    }
    // Rows of blocks without documents stay where others of them go.
    return blocks.length === 0 ? change : { ...change, state: moveTail(context, change.state) }
  }
}

/** Merges the index tables of a span that is due; `onMerged` is called with its number. */
export function mergeDueSpan(
  context: WriteContext,
  onMerged: (span: number) => void,
): WriteOperation {
  return async (state, flushed) => {
    const span = dueSpan(state)
    if (span === undefined) return null
    await flushed()
    onMerged(span)
    return context.reader.read((snapshot) => mergeSpanChange(snapshot, span))
  }
}

/** Removes the lowest group of blocks below the tail; `onRemoved` is called with the number of blocks. */
export function pruneGroup(
  context: WriteContext,
  onRemoved: (blocks: number) => void,
): WriteOperation {
  return async (_state, flushed) => {
    await flushed()
    return context.reader.read((snapshot) => {
      const [low, end] = [heightKey(0), heightKey(snapshot.state.rowTail)]
      const [lowestSeal] = snapshot.sealKeys(low, end)
      const [lowestStatement] = snapshot.rowStatementKeys(low, end)
      const signed = [lowestSeal, lowestStatement].flatMap((key) => key?.readUIntBE(0, 6) ?? [])
      const group = pruneableGroup(snapshot.state, Math.min(...signed))
      if (group === undefined) return null
      const change = removeGroupChange(snapshot, group)
      onRemoved(countHeights(snapshot.state.blocks) - countHeights(change.state.blocks))
      const removed = subtractHeights(knownHeights(snapshot.state), knownHeights(change.state))
      return withoutRows(context, snapshot, change, removed)
    })
  }
}

/** Number of blocks that readers see. */
export function visibleBlocks(state: StoreState): number {
  return countHeights(clipHeights(state.blocks, state.tail, Number.MAX_SAFE_INTEGER))
}

/** Removes the block at a height; null where it is the same one. */
function freeHeight(
  context: WriteContext,
  snapshot: HeldSnapshot,
  block: BlockToStore,
): StoreChange | null {
  const { number, hash, root } = block.header
  const there = snapshot.storedHeader(number)?.header
  if (there?.hash === hash && there.root === root) return null
  const removed: HeightRanges = [[number, number]]
  return withoutRows(context, snapshot, removeBlocksChange(snapshot, removed), removed)
}

function removeRange(
  context: WriteContext,
  snapshot: HeldSnapshot,
  from: number,
  to: number,
): StoreChange {
  const removed = clipHeights(knownHeights(snapshot.state), from, to)
  if (removed.length === 0) return { writes: [], state: snapshot.state }
  return withoutRows(context, snapshot, removeBlocksChange(snapshot, removed), removed)
}

/** Heights with a block, or with what is kept of one. */
function knownHeights({ blocks, pruned }: StoreState): HeightRanges {
  return uniteHeights([...pruned, ...blocks])
}

/** Removes the rows of removed blocks as well. */
export function withoutRows(
  { slots }: WriteContext,
  snapshot: HeldSnapshot,
  { writes, state }: StoreChange,
  removed: HeightRanges,
): StoreChange {
  const forgotten = slots
    .at(removed)
    .flatMap(({ slot, heights }) => forgetHeights(snapshot, slots, slot, heights))
  return { writes: [...writes, ...forgotten], state }
}

/** Puts a block where none is, with its seals, and marks it for Views that have nothing in it. */
function putAfter(
  context: WriteContext,
  before: StoreChange,
  block: SealedBlockToStore,
  onDone: OnViewsDone,
): StoreChange {
  const { number } = block.header
  const entries = blockEntries(block, context.seed)
  const { writes, state } = putBlockChange(before.state, block, entries)
  const put = { writes: [...before.writes, ...writes], state }
  const sealed = withSeals(context, put, number, block.seals)
  if (!isAboveAll(before.state, number)) return sealed
  return withEmptyViews(context, sealed, number, entries, (slots) => {
    onDone({ height: number, epoch: sealed.state.epoch, slots })
  })
}

/** Adds the seals that are not stored yet. */
export function withSeals(
  context: WriteContext,
  change: StoreChange,
  height: number,
  seals: readonly Seal[],
): StoreChange {
  if (seals.length === 0) return change
  const nameOf = (seal: Seal): string => sealEntryKey(height, seal).toString('latin1')
  const stored = context.reader.read((snapshot) => snapshot.seals(height))
  const known = new Set(stored.map(nameOf))
  const fresh = seals.filter((seal) => !known.has(nameOf(seal)))
  return { writes: [...change.writes, ...sealWrites(height, fresh)], state: change.state }
}

/** No tail ever moves down: what lies below it may have been removed already. */
function moveTail({ retainBlocks, retainRows }: WriteContext, state: StoreState): StoreState {
  const head = state.blocks.at(-1)?.[1] ?? 0
  const lowestOf = (retained: number): number => Math.max(0, head - retained + 1)
  const tail = Math.max(state.tail, retainBlocks === null ? 0 : lowestOf(retainBlocks))
  const lowestRow = retainRows === null ? tail : Math.min(tail, lowestOf(retainRows))
  const rowTail = Math.max(state.rowTail, lowestRow)
  return tail > state.tail || rowTail > state.rowTail ? { ...state, tail, rowTail } : state
}
