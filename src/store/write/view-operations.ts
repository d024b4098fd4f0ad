/** The write operations on rows of Views. */
import { clipHeights, hasHeight } from '../../primitives/height-ranges.ts'
import { emptyRowsRoot, type PackedRows } from '../../views/rows/rows.ts'
import type { StoreState } from '../disk/layout.ts'
import { emptySlot, type ViewSlot } from '../disk/view-layout.ts'
import type { HeldSnapshot } from '../read/snapshot.ts'
import type {
  EmptyViewBlock,
  RowBlockHeader,
  RowBlockToStore,
  StoreWriter,
  ViewBlockToStore,
} from '../store.ts'
import type { StoreChange, Write } from './block-writes.ts'
import type { CommitQueue, WriteOperation } from './commit-queue.ts'
import { putRowBlocks } from './row-block-operations.ts'
import { liftLimits, mayOverflow, putWithinLimit } from './view-limit.ts'
import { createViewMerging } from './view-merging.ts'
import { forgetHeights, removeViewBlockWrites } from './view-writes.ts'
import type { WriteContext } from './write-operations.ts'

/** Blocks that are removed from a slot in one transaction, so that others need not wait long. */
const clearedAtOnce = 64
/** Pages of merged index tables that are. */
const clearedPages = 4_096

type ViewPuts = Pick<
  StoreWriter,
  | 'putRowBlocks'
  | 'putViewRows'
  | 'putEmptyViewBlocks'
  | 'setViewNeeds'
  | 'clearViewFailures'
  | 'clearView'
>

/** The writer's calls for Views, and the clearing of slots and the merging of their indexes in the background. */
interface ViewWriter {
  readonly puts: ViewPuts
  /** To be called after blocks were put or removed. */
  merge(): void
  /** Resolves when nothing is left to be merged. */
  merged(): Promise<void>
  /** Stops what goes on in the background, which the next program continues, and resolves when nothing more is read or written. */
  close(): Promise<void>
}

/** What an earlier program had begun to clear is cleared in the background. */
export function createViewWriter(queue: CommitQueue, context: WriteContext): ViewWriter {
  const clearings = new Map<number, Promise<void>>()
  const merging = createViewMerging(queue, context)
  let isClosing = false

  const clearInBatches = async (slot: number): Promise<void> => {
    await queue.run('compaction', (state) => {
      context.needs.set(slot, null)
      const cleared = { ...emptySlot, isClearing: true }
      return { writes: [context.slots.set(slot, cleared)], state }
    })
    let isEmpty = false
    const operation = clearSome(context, slot, () => {
      isEmpty = true
    })
    while (!isEmpty && !isClosing) await queue.run('compaction', operation)
  }
  const clearView = (slot: number): Promise<void> => {
    const known = clearings.get(slot)
    if (known !== undefined) return known
    const cleared = clearInBatches(slot).finally(() => clearings.delete(slot))
    clearings.set(slot, cleared)
    // Where nobody waits for it, the next write throws the failure.
    cleared.catch(() => undefined)
    return cleared
  }
  for (const slot of context.slots.clearing()) void clearView(slot)
  const lifted = queue.run('compaction', (state) => {
    return { writes: liftLimits(context.slots, context.maxViewBytes), state }
  })
  // The next write throws the failure.
  lifted.catch(() => undefined)

  const puts: ViewPuts = {
    putRowBlocks: async (blocks, made) => {
      if (made === undefined) return await queue.run('rows', putRowBlocks(context, blocks))
      const bySlot = new Map([[made.slot, made.blocks]])
      await queue.run('rows', putBlocksAndRows(context, blocks, bySlot))
      merging.start(bySlot)
    },
    putViewRows: async (slot, blocks) => {
      const stored = new Set<number>()
      const bySlot = new Map([[slot, blocks]])
      await queue.run('rows', putSlots(context, bySlot, stored))
      merging.start(bySlot)
      return [...stored]
    },
    putEmptyViewBlocks: async (blocks) => {
      const stored = new Set<number>()
      const bySlot = emptyBySlot(blocks)
      await queue.run('rows', putSlots(context, bySlot, stored))
      merging.start(bySlot)
      return [...stored]
    },
    setViewNeeds: (slot, needs) =>
      queue.run('rows', () => {
        context.needs.set(slot, needs)
        return null
      }),
    clearViewFailures: (slot) => queue.run('rows', clearFailures(context, slot)),
    clearView,
  }
  return {
    puts,
    merge: () => merging.start(),
    merged: merging.finished,
    close: async () => {
      isClosing = true
      merging.stop()
      await Promise.allSettled([...clearings.values(), merging.finished()])
    },
  }
}

const noRows: Pick<PackedRows, 'count' | 'bytes' | 'terms' | 'root'> = {
  count: 0,
  bytes: new Uint8Array(),
  terms: [],
  root: emptyRowsRoot,
}

function emptyBySlot(blocks: readonly EmptyViewBlock[]): Map<number, ViewBlockToStore[]> {
  const bySlot = new Map<number, ViewBlockToStore[]>()
  for (const { slots, ...place } of blocks) {
    const block = { ...place, rows: noRows }
    for (const slot of slots) {
      const known = bySlot.get(slot)
      if (known === undefined) bySlot.set(slot, [block])
      else known.push(block)
    }
  }
  return bySlot
}

/** Stores blocks, and what Views made of them. */
function putBlocksAndRows(
  context: WriteContext,
  blocks: readonly RowBlockToStore[],
  bySlot: ReadonlyMap<number, readonly ViewBlockToStore[]>,
): WriteOperation {
  return async (state, flushed) => {
    const put = (await putRowBlocks(context, blocks)(state, flushed)) ?? { writes: [], state }
    const headers = new Map(blocks.map(({ header }) => [header.number, header]))
    const rows = await putSlots(context, bySlot, new Set(), headers)(put.state, flushed)
    return rows === null ? put : { ...rows, writes: [...put.writes, ...rows.writes] }
  }
}

/**
 * Stores what Views made of blocks; `stored` gets the heights. `headers` are those of the blocks where they are put in the
 * same transaction.
 */
function putSlots(
  context: WriteContext,
  bySlot: ReadonlyMap<number, readonly ViewBlockToStore[]>,
  stored: Set<number>,
  headers?: ReadonlyMap<number, RowBlockHeader>,
): WriteOperation {
  return async (state, flushed) => {
    const { reader, slots } = context
    const puts = [...bySlot].filter(([slot]) => !slots.of(slot).isClearing)
    const mustSeeOwn = puts.some(([slot, blocks]) => {
      const known = slots.of(slot)
      const isAgain = blocks.some(({ height }) => isKept(known, height))
      return isAgain || mayOverflow(known, blocks, context.maxViewBytes)
    })
    const put = (snapshot: HeldSnapshot): StoreChange | null => {
      const isCurrent = createCurrentCheck((height) => {
        return headers === undefined ? snapshot.rowBlocks.header(height) : headers.get(height)
      }, state)
      const writes: Write[] = []
      let { rowSerial } = state
      for (const [slot, blocks] of puts) {
        const current = blocks.filter(isCurrent)
        if (current.length === 0) continue
        for (const { height } of current) stored.add(height)
        writes.push(...putBlocks(context, snapshot, { slot, current, rowSerial }))
        rowSerial += current.length
      }
      return writes.length === 0 ? null : { writes, state: { ...state, rowSerial } }
    }
    const isSeen = ({ state: seen }: HeldSnapshot): boolean =>
      headers !== undefined || hasSameBlocks(seen, state)
    const made = mustSeeOwn
      ? undefined
      : reader.read((snapshot) => (isSeen(snapshot) ? put(snapshot) : undefined))
    if (made !== undefined) return made
    await flushed()
    return reader.read(put)
  }
}

interface SlotBlocks {
  readonly slot: number
  readonly current: readonly ViewBlockToStore[]
  /** The number of the first of them. */
  readonly rowSerial: number
}

function putBlocks(
  { slots, seed, maxViewBytes }: WriteContext,
  snapshot: HeldSnapshot,
  { slot, current, rowSerial: serial }: SlotBlocks,
): Write[] {
  const options = { serial, seed, maxBytes: maxViewBytes }
  const change = putWithinLimit(snapshot, slots.of(slot), { slot, blocks: current }, options)
  return [...change.writes, slots.set(slot, change.has)]
}

function isKept({ done, failed }: ViewSlot, height: number): boolean {
  return hasHeight(done, height) || hasHeight(failed, height)
}

/** Whether rows of blocks are kept, in the state that the operation starts from. Looks at each height once. */
function createCurrentCheck(
  headerAt: (height: number) => RowBlockHeader | undefined,
  { rowTail }: StoreState,
): (block: ViewBlockToStore) => boolean {
  const headers = new Map<number, RowBlockHeader | undefined>()
  return ({ height, blockHash, documentsRoot }) => {
    if (height < rowTail) return false
    if (!headers.has(height)) headers.set(height, headerAt(height))
    const header = headers.get(height)
    const isRead = documentsRoot === undefined || header?.root === documentsRoot
    return header?.hash === blockHash && isRead
  }
}

/** Each block that is put takes a serial number, and each one that is removed above the tail an epoch. */
function hasSameBlocks(seen: StoreState, state: StoreState): boolean {
  return seen.serial === state.serial && seen.epoch === state.epoch
}

function clearFailures({ reader, slots }: WriteContext, slot: number): WriteOperation {
  return async (state, flushed) => {
    const failed = clipHeights(slots.of(slot).failed, state.tail, Number.MAX_SAFE_INTEGER)
    if (failed.length === 0) return null
    await flushed()
    return {
      writes: reader.read((snapshot) => forgetHeights(snapshot, slots, slot, failed)),
      state,
    }
  }
}

/** Removes some of what is left of a slot, and at last the slot itself. */
function clearSome(
  { reader, slots }: WriteContext,
  slot: number,
  onEmpty: () => void,
): WriteOperation {
  return async (state, flushed) => {
    await flushed()
    return reader.read((snapshot) => {
      const heights = snapshot.keptHeights(slot, clearedAtOnce)
      if (heights.length > 0) {
        const writes = heights.flatMap((height) => removeViewBlockWrites(snapshot, slot, height))
        return { writes, state }
      }
      const keys = snapshot.viewTableKeys(slot, clearedPages)
      const writes = keys.map((key): Write => ({ database: 'viewIndex', key, value: null }))
      if (keys.length === clearedPages) return { writes, state }
      onEmpty()
      return { writes: [...writes, slots.set(slot, null)], state }
    })
  }
}
