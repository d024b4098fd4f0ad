/**
 * The slots of Views as the writer knows them: after every operation so far, in flight or not. It may run ahead of
 * the file because after a failed write every further one fails.
 */
import { type HeightRanges, intersectHeights } from '../../primitives/height-ranges.ts'
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

/** A slot and the writes that led to it. */
export interface SlotChange {
  readonly slot: number
  /** What the slot has after the writes. */
  readonly has: ViewSlot
  readonly writes: readonly Write[]
}

export interface ViewSlots {
  of(slot: number): ViewSlot
  /** Changes a slot, or removes it where it is null; returns the write. */
  set(slot: number, changed: ViewSlot | null): Write
  /** Slots that have done something of these heights, or failed there, and where. */
  at(heights: HeightRanges): readonly { readonly slot: number; readonly heights: HeightRanges }[]
  all(): readonly (readonly [slot: number, has: ViewSlot])[]
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
    at: (heights) =>
      [...slots].flatMap(([slot, { done, failed }]) => {
        const there = [...intersectHeights(done, heights), ...intersectHeights(failed, heights)]
        return there.length === 0 ? [] : [{ slot, heights: there }]
      }),
    all: () => [...slots],
    clearing: () => [...slots].flatMap(([slot, { isClearing }]) => (isClearing ? [slot] : [])),
  }
}
