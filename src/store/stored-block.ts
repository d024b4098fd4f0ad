/** A stored block whose chunks are read, unpacked and cached as they are asked for. */
import type { Section } from '../primitives/collections.ts'
import type { BlockCache, ReadPiece } from './block-cache.ts'
import type { StoredHeader } from './layout.ts'
import type { StoredBlock } from './store.ts'

/** Opens a block's body header; chunks follow when they are needed. */
export function openStoredBlock(
  stored: StoredHeader,
  cache: BlockCache,
  readPiece: ReadPiece,
): StoredBlock {
  const opened = cache.open(stored, readPiece)
  const { body } = opened
  return {
    header: stored.header,
    counts: body.counts,
    totalDifficulty: body.totalDifficulty,
    values: (section, position) => {
      const chunk = body.chunkOf(section, position)
      return cache.chunk(stored, opened, section, chunk, readPiece).values(position)
    },
    chunkCount: (section) => body.chunkCount(section),
    chunkOf: (section, position) => body.chunkOf(section, position),
    chunkRange: (section: Section, chunk) => {
      const place = opened.places[section][chunk]
      return place === undefined ? [0, 0] : [place.first, place.first + place.length]
    },
    logsOf: (transaction) => body.logsOf(transaction),
    entriesOf: (transaction) => body.entriesOf(transaction),
    transactionOfLog: (position) => body.transactionOfLog(position),
    transactionOfEntry: (position) => body.transactionOfEntry(position),
  }
}
