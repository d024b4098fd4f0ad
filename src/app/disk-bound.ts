/** Keeps the store within its bytes: the lowest blocks go, a part at a time. */
import type { Logger } from 'pino'
import type { Snapshot, StoreWriter } from '../store/store.ts'

interface DiskBoundParts {
  readonly store: Pick<StoreWriter, 'pruneRowsBelow' | 'putRecord' | 'reader'>
  readonly log: Logger
  readonly onFatal: (error: unknown) => void
}

/** The lowest height that was stored before any went; undefined while none did. */
export function firstStored(snapshot: Pick<Snapshot, 'record'>): number | undefined {
  const bytes = snapshot.record(recordName)
  return bytes === undefined ? undefined : Number(bytes.toString())
}

const recordName = 'app/first'

/** Part of the heights that go at a time. */
const prunedPart = 1 / 8

/** Returns the function to call after blocks were stored; it does nothing while the bound is kept. */
export function createDiskBound(
  { maxBytes }: { readonly maxBytes: number },
  { store, log, onFatal }: DiskBoundParts,
): () => void {
  let isPruning = false
  const prune = async (): Promise<void> => {
    for (;;) {
      const bytes = store.reader.usedBytes()
      const range = store.reader.read((snapshot) => snapshot.rowBlocks.range())
      if (bytes <= maxBytes || range === null || range.tail === range.head) return
      const { tail, head } = range
      const below = tail + Math.ceil((head - tail + 1) * prunedPart)
      log.info({ bytes, maxBytes, below }, 'removes the lowest blocks')
      if (store.reader.read(firstStored) === undefined)
        await store.putRecord(recordName, Buffer.from(`${tail}`))
      await store.pruneRowsBelow(below)
    }
  }
  return () => {
    if (isPruning) return
    isPruning = true
    prune()
      .catch(onFatal)
      .finally(() => {
        isPruning = false
      })
  }
}
