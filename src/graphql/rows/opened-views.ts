/**
 * What a request has read of its blocks. Rows that are kept to sort or group them refer to their
 * blocks, so what was read of the oldest blocks is released, and read again where it is needed.
 */
import type { QueryBudget } from '../budget/query-budget.ts'
import type { BlockView, OpenedViews } from './block-view.ts'

/** Memory of what one request has read and not released. */
const maxBytes = 4 * 1024 * 1024

/** No blocks yet. */
export function createOpenedViews(budget: QueryBudget): OpenedViews {
  const reservation = budget.openReservation()
  let opened: BlockView[] = []
  let total = 0
  return {
    note(view, bytes) {
      if (view.memo.bytes === 0) opened.push(view)
      view.memo.bytes += bytes
      reservation.add(bytes)
      total += bytes
      if (total <= maxBytes) return
      const kept = opened.slice(opened.length >> 1)
      for (const oldest of opened.slice(0, opened.length >> 1)) {
        total -= oldest.memo.bytes
        reservation.add(-oldest.memo.bytes)
        letGo(oldest)
      }
      opened = kept
    },
  }
}

function letGo({ memo }: BlockView): void {
  memo.bytes = 0
  memo.stored = undefined
  memo.seals = undefined
  memo.votes = undefined
  memo.cids = undefined
  memo.rows = undefined
  memo.chunks.Block = null
  memo.chunks.Transaction = null
  memo.chunks.AccessListEntry = null
  memo.chunks.Log = null
}
