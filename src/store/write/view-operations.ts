/** The write operations on rows of Views. */
import { clipHeights, hasHeight } from '../../primitives/height-ranges.ts'
import type { StoreState } from '../disk/layout.ts'
import { emptySlot, type ViewSlot } from '../disk/view-layout.ts'
import type { HeldSnapshot } from '../read/snapshot.ts'
import type { StoreWriter, ViewBlockToStore } from '../store.ts'
import type { StoreChange } from './block-writes.ts'
import type { CommitQueue, WriteOperation } from './commit-queue.ts'
import {
  forgetHeights,
  putViewBlock,
  removeViewBlockWrites,
  type SlotChange,
} from './view-writes.ts'
import type { WriteContext } from './write-operations.ts'

/** Blocks that are removed from a slot in one transaction, so that others need not wait long. */
const clearedAtOnce = 64

type ViewPuts = Pick<StoreWriter, 'putViewRows' | 'clearViewFailures' | 'clearView'>

/** The writer's calls for Views, and the clearing of slots in the background. */
interface ViewWriter {
  readonly puts: ViewPuts
  /** Stops clearing, which the next program continues, and resolves when nothing more is read or written. */
  close(): Promise<void>
}

/** What an earlier program had begun to clear is cleared in the background. */
export function createViewWriter(queue: CommitQueue, context: WriteContext): ViewWriter {
  const clearings = new Map<number, Promise<void>>()
  let isClosing = false

  const clearInBatches = async (slot: number): Promise<void> => {
    await queue.run('upkeep', (state) => {
      const cleared = { ...emptySlot, isClearing: true }
      return { writes: [context.slots.set(slot, cleared)], state }
    })
    let isEmpty = false
    const operation = clearSome(context, slot, () => {
      isEmpty = true
    })
    while (!isEmpty && !isClosing) await queue.run('upkeep', operation)
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

  const puts: ViewPuts = {
    putViewRows: async (slot, blocks) => {
      const stored: number[] = []
      await queue.run('rows', putViewRows(context, slot, blocks, stored))
      return stored
    },
    clearViewFailures: (slot) => queue.run('rows', clearFailures(context, slot)),
    clearView,
  }
  return {
    puts,
    close: async () => {
      isClosing = true
      await Promise.allSettled(clearings.values())
    },
  }
}

/** Stores what a View made of blocks; `stored` gets the heights. */
function putViewRows(
  context: WriteContext,
  slot: number,
  blocks: readonly ViewBlockToStore[],
  stored: number[],
): WriteOperation {
  return async (state, flushed) => {
    const known = context.slots.of(slot)
    if (known.isClearing) return null
    const isAgain = blocks.some(({ height }) => isKept(known, height))
    const isSeen = context.reader.read((snapshot) => hasSameBlocks(snapshot.state, state))
    if (isAgain || !isSeen) await flushed()
    return context.reader.read((snapshot) => {
      const current = blocks.filter((block) => isCurrent(snapshot, state, block))
      for (const { height } of current) stored.push(height)
      return current.length === 0 ? null : putBlocks(context, snapshot, { state, slot, current })
    })
  }
}

function putBlocks(
  { slots, seed }: WriteContext,
  snapshot: HeldSnapshot,
  {
    state,
    slot,
    current,
  }: { state: StoreState; slot: number; current: readonly ViewBlockToStore[] },
): StoreChange {
  let change: SlotChange = { slot, has: slots.of(slot), writes: [] }
  let { rowSerial } = state
  for (const block of current) {
    change = putViewBlock(snapshot, change, block, { serial: rowSerial++, seed })
  }
  const writes = [...change.writes, slots.set(slot, change.has)]
  return { writes, state: { ...state, rowSerial } }
}

function isKept({ done, failed }: ViewSlot, height: number): boolean {
  return hasHeight(done, height) || hasHeight(failed, height)
}

/** Whether rows of the block are kept, in the state that the operation starts from. */
function isCurrent(
  snapshot: HeldSnapshot,
  { rowTail }: StoreState,
  { height, blockHash }: ViewBlockToStore,
): boolean {
  return height >= rowTail && snapshot.rowBlocks.header(height)?.hash === blockHash
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
    const heights = reader.read((snapshot) => snapshot.keptHeights(slot, clearedAtOnce))
    if (heights.length < clearedAtOnce) onEmpty()
    const writes = reader.read((snapshot) =>
      heights.flatMap((height) => removeViewBlockWrites(snapshot, slot, height)),
    )
    if (heights.length < clearedAtOnce) writes.push(slots.set(slot, null))
    return { writes, state }
  }
}
