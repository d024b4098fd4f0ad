/** Views that have nothing in a new block: they are done with it in the transaction that stores its documents. */

import { emptyRowsRoot, type PackedRows } from '../../views/rows.ts'
import { type FingerprintSeed, fingerprint } from '../disk/fingerprint.ts'
import { findInEntries } from '../index/index-table.ts'
import { hasNeeded, mapNeeded, type NeededTerm, type NeededTerms } from '../needed-terms.ts'
import type { HoldingReader } from '../read/reader.ts'
import type { BlockHeader } from '../store.ts'
import type { StoreChange, Write } from './block-writes.ts'
import { mayOverflow, putWithinLimit } from './view-limit.ts'
import type { ViewSlots } from './view-slots.ts'

/** What blocks have to hold for Views to have rows of them, as far as it is known. */
export interface ViewNeeds {
  /** Null forgets it. */
  set(slot: number, needs: NeededTerms | null): void
  /** Slots whose Views have no rows of a block, by the entries of its index. */
  unmetBy(entries: Buffer): number[]
}

/** The rows of a block that has none. */
export const noRows: Pick<PackedRows, 'count' | 'bytes' | 'terms' | 'root'> = {
  count: 0,
  bytes: new Uint8Array(),
  terms: [],
  root: emptyRowsRoot,
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
  readonly reader: HoldingReader
  readonly seed: FingerprintSeed
  readonly slots: ViewSlots
  readonly needs: ViewNeeds
  readonly maxViewBytes: number
}

/**
 * Marks a block that is put above all others as done for the Views that have nothing in it, whose slots `onDone` gets. A
 * View whose rows take all that they may is left out: what goes then has to be looked for.
 */
export function withEmptyViews(
  { reader, seed, slots, needs, maxViewBytes: maxBytes }: EmptyViewsContext,
  { writes, state }: StoreChange,
  { number: height, hash: blockHash }: BlockHeader,
  entries: Buffer,
  onDone: (slots: readonly number[]) => void,
): StoreChange {
  const blocks = [{ height, blockHash, rows: noRows }]
  const done = needs.unmetBy(entries).filter((slot) => {
    const has = slots.of(slot)
    return !has.isClearing && !mayOverflow(has, blocks, maxBytes)
  })
  if (done.length === 0) return { writes, state }
  onDone(done)
  const marks = reader.read((snapshot) =>
    done.flatMap((slot, index): Write[] => {
      const options = { serial: state.rowSerial + index, seed, maxBytes }
      const change = putWithinLimit(snapshot, slots.of(slot), { slot, blocks }, options)
      return [...change.writes, slots.set(slot, change.has)]
    }),
  )
  return {
    writes: [...writes, ...marks],
    state: { ...state, rowSerial: state.rowSerial + done.length },
  }
}
