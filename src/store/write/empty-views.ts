/** Views that have nothing in a new block: they are done with it in the transaction that stores its documents. */
import { addHeights } from '../../primitives/height-ranges.ts'
import { type FingerprintSeed, fingerprint } from '../disk/fingerprint.ts'
import { lowestKept, type ViewSlot } from '../disk/view-layout.ts'
import { findInEntries } from '../index/index-table.ts'
import { hasNeeded, mapNeeded, type NeededTerm, type NeededTerms } from '../needed-terms.ts'
import type { StoreChange } from './block-writes.ts'
import { slotBytes } from './view-limit.ts'
import type { ViewSlots } from './view-slots.ts'

/** What blocks have to hold for Views to have rows of them, as far as it is known. */
export interface ViewNeeds {
  /** Null forgets it. */
  set(slot: number, needs: NeededTerms | null): void
  /** Slots whose Views have no rows of a block, by the entries of its index. */
  unmetBy(entries: Buffer): number[]
}

/** Nothing is known yet. */
export function createViewNeeds(seed: FingerprintSeed): ViewNeeds {
  const bySlot = new Map<number, NeededTerms<number>>()
  const toFingerprint = ({ kind, value }: NeededTerm): number => fingerprint(seed, kind, value)
  return {
    set: (slot, needs) => {
      if (needs === null) bySlot.delete(slot)
      else bySlot.set(slot, mapNeeded(needs, toFingerprint))
    },
    unmetBy: (entries) => {
      const looked = new Map<number, boolean>()
      const holds = (wanted: number): boolean => {
        const known = looked.get(wanted)
        if (known !== undefined) return known
        const isThere = findInEntries(entries, wanted).length > 0
        looked.set(wanted, isThere)
        return isThere
      }
      return [...bySlot].flatMap(([slot, needs]) => (hasNeeded(needs, holds) ? [] : [slot]))
    },
  }
}

interface EmptyViewsContext {
  readonly slots: ViewSlots
  readonly needs: ViewNeeds
  readonly maxViewBytes: number
}

/**
 * Marks a block that is put above all others as done for the Views that have nothing in it, whose slots `onDone` gets if
 * there are any. A View whose rows take more than they may is left out: what goes then has to be looked for.
 */
export function withEmptyViews(
  { slots, needs, maxViewBytes }: EmptyViewsContext,
  { writes, state }: StoreChange,
  height: number,
  entries: Buffer,
  onDone: (slots: readonly number[]) => void,
): StoreChange {
  const marked = needs.unmetBy(entries).flatMap((slot) => {
    const has = slots.of(slot)
    const isFull = slotBytes(has) > maxViewBytes
    return has.isClearing || isFull ? [] : [{ slot, has: withDone(has, height) }]
  })
  const marks = marked.map(({ slot, has }) => slots.set(slot, has))
  if (marked.length > 0) onDone(marked.map(({ slot }) => slot))
  return { writes: [...writes, ...marks], state }
}

/** A slot with a height where it had nothing yet, and has no row. */
function withDone(has: ViewSlot, height: number): ViewSlot {
  const limited = lowestKept(has) === 0 ? null : has.limited
  return { ...has, limited, done: addHeights(has.done, height) }
}
