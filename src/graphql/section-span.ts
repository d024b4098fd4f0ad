/**
 * Where the rows of one section lie that belong to rows of another: all links stay within a block
 * and keep the order, so a span maps to a span.
 */
import type { Section } from '../primitives/collections.ts'
import type { StoredBlock } from '../store/store.ts'
import { type BlockView, storedBlock } from './block-view.ts'
import type { Span } from './span-set.ts'

/** The rows of section `to` that belong to a span of section `from`; `whole` where that is not narrower. */
export function spanIn(block: BlockView, from: Section, span: Span, to: Section): Span | 'whole' {
  if (from === to) return span
  if (from === 'Block' || to === 'Block') return 'whole'
  const stored = storedBlock(block)
  const transactions = transactionsOf(stored, from, span)
  return to === 'Transaction' ? transactions : childrenOf(stored, transactions, to)
}

const empty: Span = [0, 0]

function transactionsOf(
  stored: StoredBlock,
  from: 'Transaction' | 'Log' | 'AccessListEntry',
  [start, end]: Span,
): Span {
  if (start >= end) return empty
  if (from === 'Transaction') return [start, end]
  const owner = from === 'Log' ? stored.transactionOfLog : stored.transactionOfEntry
  return [owner(start), owner(end - 1) + 1]
}

function childrenOf(stored: StoredBlock, [start, end]: Span, to: 'Log' | 'AccessListEntry'): Span {
  if (start >= end) return empty
  const children = to === 'Log' ? stored.logsOf : stored.entriesOf
  return [children(start)[0], children(end - 1)[1]]
}
