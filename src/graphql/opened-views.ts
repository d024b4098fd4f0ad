/**
 * What a request has read of its blocks. Rows that are kept to sort or group them lead to their
 * blocks, so that what was read of the oldest is let go of, to be read again where it is wanted.
 */
import type { BlockView } from './block-view.ts'
import type { Work } from './work.ts'

/** Memory of what one request has read and not let go of. */
const maxBytes = 4 * 1024 * 1024

/** The blocks of a request that hold something. */
export interface OpenedViews {
  /** Notes that a block holds so many bytes more, or fewer where it is negative. */
  note(view: BlockView, bytes: number): void
}

/** No blocks yet. */
export function createOpenedViews(work: Work): OpenedViews {
  const keeping = work.keeping()
  let opened: BlockView[] = []
  let total = 0
  return {
    note(view, bytes) {
      if (view.memo.bytes === 0) opened.push(view)
      view.memo.bytes += bytes
      keeping.add(bytes)
      total += bytes
      if (total <= maxBytes) return
      const kept = opened.slice(opened.length >> 1)
      for (const oldest of opened.slice(0, opened.length >> 1)) {
        total -= oldest.memo.bytes
        keeping.add(-oldest.memo.bytes)
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
  memo.windows.Block = null
  memo.windows.Transaction = null
  memo.windows.AccessListEntry = null
  memo.windows.Log = null
}
