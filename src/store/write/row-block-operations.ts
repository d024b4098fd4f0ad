/** The write operations on blocks of which no documents are kept, only header, seals and rows of Views. */
import { invariant } from '../../errors.ts'
import {
  addHeights,
  type HeightRanges,
  hasHeight,
  uniteHeights,
} from '../../primitives/height-ranges.ts'
import { encodeHeader, hashBytes, heightKey, type StoreState } from '../disk/layout.ts'
import type { HeldSnapshot } from '../read/snapshot.ts'
import type { BlockHeader, RowBlockHeader, RowBlockToStore } from '../store.ts'
import type { StoreChange, Write } from './block-writes.ts'
import type { WriteOperation } from './commit-queue.ts'
import { removeBlocksChange } from './span-writes.ts'
import { statementWrites, type WriteContext, withoutRows, withSeals } from './write-operations.ts'

/** Stores blocks with their seals and what was signed of their rows, each in the place of what its height had. */
export function putRowBlocks(
  context: WriteContext,
  blocks: readonly RowBlockToStore[],
): WriteOperation {
  return async (state, flushed) => {
    invariant(state.blocks.length === 0, 'a store of blocks without documents has no other ones')
    const kept = blocks.filter(({ header }) => header.number >= state.rowTail)
    if (kept.length === 0) return null
    const isSomeKnown = kept.some(({ header }) => hasHeight(state.pruned, header.number))
    if (isSomeKnown) await flushed()
    let change = isSomeKnown
      ? context.reader.read((snapshot) => removeReplaced(context, snapshot, kept))
      : { writes: [], state }
    for (const { header, seals, statements = [] } of kept) {
      const { writes, state: next } = putHeader(context, change, header)
      const signed = statementWrites(statements)
      change = { writes: [...writes, ...signed], state: next }
      change = withSeals(context, change, header.number, seals)
    }
    return change
  }
}

/** Hides what is below a height, so that it can be removed. */
export function raiseRowTail(height: number): WriteOperation {
  return (state) => {
    invariant(state.blocks.length === 0, 'rows of blocks with documents go by their number')
    const rowTail = Math.max(state.rowTail, Math.min(height, state.tail))
    return rowTail === state.rowTail ? null : { writes: [], state: { ...state, rowTail } }
  }
}

/** Removes the blocks that have another hash than those in their places. */
function removeReplaced(
  context: WriteContext,
  snapshot: HeldSnapshot,
  blocks: readonly RowBlockToStore[],
): StoreChange {
  const replaced = blocks.flatMap(({ header: { number, hash } }): HeightRanges => {
    const there = snapshot.storedHeader(number)?.header
    return there === undefined || there.hash === hash ? [] : [[number, number]]
  })
  if (replaced.length === 0) return { writes: [], state: snapshot.state }
  const removed = uniteHeights(replaced)
  return withoutRows(context, snapshot, removeBlocksChange(snapshot, removed), removed)
}

function putHeader(
  { reader }: WriteContext,
  { writes, state }: StoreChange,
  header: RowBlockHeader,
): StoreChange {
  const { number, hash } = header
  if (!hasHeight(state.pruned, number)) {
    const put = headerWrite(header, state.serial)
    const known: Write = { database: 'hashes', key: hashBytes(hash), value: heightKey(number) }
    return { writes: [...writes, put, known], state: withBlock(state, number) }
  }
  const stored = reader.read((snapshot) => snapshot.storedHeader(number))
  invariant(stored?.header.hash === hash, 'a block with another hash was removed')
  const changed = learned(stored.header, header)
  if (changed === null) return { writes, state }
  // Readers keep headers until the next epoch.
  const epoch = state.epoch + 1
  return { writes: [...writes, headerWrite(changed, stored.serial)], state: { ...state, epoch } }
}

function withBlock(state: StoreState, number: number): StoreState {
  return {
    ...state,
    serial: state.serial + 1,
    pruned: addHeights(state.pruned, number),
    tail: Math.max(state.tail, number + 1),
  }
}

const noSections = { Block: 0, Transaction: 0, AccessListEntry: 0, Log: 0 }

function headerWrite(header: RowBlockHeader, serial: number): Write {
  const whole: BlockHeader = { ...header, count: 0, sections: noSections, bodyBytes: 0 }
  const value = encodeHeader({ header: whole, serial, headBytes: 0 })
  return { database: 'headers', key: heightKey(header.number), value }
}

const isUnknown = (hex: string): boolean => /^(?:0x)?0{64}$/.test(hex)

/** A header with what the other one knows better; null where that is nothing. */
function learned(known: RowBlockHeader, other: RowBlockHeader): RowBlockHeader | null {
  const root = isUnknown(other.root) ? known.root : other.root
  const parentHash = isUnknown(other.parentHash) ? known.parentHash : other.parentHash
  const timestamp = other.timestamp || known.timestamp
  const isSame =
    root === known.root && parentHash === known.parentHash && timestamp === known.timestamp
  return isSame ? null : { ...known, root, parentHash, timestamp }
}
