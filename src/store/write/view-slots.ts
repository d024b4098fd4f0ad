/**
 * The slots of Views as the writer knows them: after every operation so far, in flight or not. It may run ahead of
 * the file because after a failed write every further one fails.
 */
import {
  type HeightRanges,
  intersectHeights,
  removeHeights,
} from '../../primitives/height-ranges.ts'
import type { Database } from '../disk/environment.ts'
import {
  decodeSlot,
  emptySlot,
  encodeSlot,
  slotKey,
  slotOfKey,
  type ViewSlot,
} from '../disk/view-layout.ts'
import type { Write } from './block-writes.ts'

export interface ViewSlots {
  of(slot: number): ViewSlot
  /** Changes a slot, or removes it where it is null; returns the write. */
  set(slot: number, changed: ViewSlot | null): Write
  /** Forgets heights in every slot; returns the writes, and what each of them had there. */
  forget(heights: HeightRanges): {
    readonly writes: Write[]
    readonly had: readonly { readonly slot: number; readonly heights: HeightRanges }[]
  }
  /** Slots that are being removed. */
  clearing(): number[]
}

/** The slots of a store that is being opened. */
export function loadSlots(database: Database): ViewSlots {
  const slots = new Map<number, ViewSlot>()
  for (const { key, value } of database.getRange({})) slots.set(slotOfKey(key), decodeSlot(value))

  const set: ViewSlots['set'] = (slot, changed) => {
    if (changed === null) slots.delete(slot)
    else slots.set(slot, changed)
    const value = changed === null ? null : encodeSlot(changed)
    return { database: 'viewSlots', key: slotKey(slot), value }
  }
  return {
    of: (slot) => slots.get(slot) ?? emptySlot,
    set,
    forget: (heights) => {
      const had = [...slots].flatMap(([slot, { done, failed }]) => {
        const there = [...intersectHeights(done, heights), ...intersectHeights(failed, heights)]
        return there.length === 0 ? [] : [{ slot, heights: there }]
      })
      const writes = had.map(({ slot }) => set(slot, without(slots.get(slot), heights)))
      return { writes, had }
    },
    clearing: () => [...slots].flatMap(([slot, { isClearing }]) => (isClearing ? [slot] : [])),
  }
}

function without(slot: ViewSlot = emptySlot, heights: HeightRanges): ViewSlot {
  let { done, failed } = slot
  for (const [from, to] of heights) {
    done = removeHeights(done, from, to)
    failed = removeHeights(failed, from, to)
  }
  return { ...slot, done, failed }
}
