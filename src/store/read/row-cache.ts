/** What readers keep of rows of Views: slots as they were last parsed, pages of indexes, and unpacked chunks of rows. */
import { LRUCache } from 'lru-cache'
import type { Chunk } from '../../primitives/body/chunk.ts'
import type { RowDirectory } from '../../views/rows/rows.ts'
import { decodeSlot, type ViewBlock, type ViewSlot } from '../disk/view-layout.ts'
import { createDoneBlocksCache, type DoneBlocksCache } from './done-blocks.ts'

export interface RowCache {
  /** A slot parsed, or as it was parsed before where its bytes are the same. */
  slot(slot: number, bytes: Buffer): ViewSlot
  /** What is known of a View's block, by its serial number. */
  block(serial: number, read: () => ViewBlock): ViewBlock
  /** A page of the index of rows by their serial number; undefined is not kept. */
  indexPage(serial: number, page: number, read: () => Buffer | undefined): Buffer | undefined
  /** What is known of blocks by slot and height. */
  readonly doneBlocks: DoneBlocksCache
  /** The directory of rows by their serial number. */
  directory(serial: number, read: () => RowDirectory): RowDirectory
  /** A chunk of rows by their serial number. */
  chunk(serial: number, index: number, read: () => Chunk): Chunk
}

const keptSlots = 256
/** Memory that a cached chunk takes beside its bytes, roughly. */
const overheadBytes = 1024
/** Memory of what is known of a block, roughly. */
const blockBytes = 512
/** Memory of a chunk's place in a directory, roughly. */
const placeBytes = 120
const partsPerBlock = 2 ** 16

interface ParsedSlot {
  readonly bytes: Buffer
  readonly parsed: ViewSlot
}

/** A cache of at most `maxBytes`. */
export function createRowCache(maxBytes: number): RowCache {
  const slots = new LRUCache<number, ParsedSlot>({ max: keptSlots })
  /** Slots of Views that have rows of nothing are mostly the same. */
  let last: ParsedSlot | undefined
  const maxBlocks = Math.ceil(maxBytes / (32 * blockBytes))
  const blocks = new LRUCache<number, ViewBlock>({ max: maxBlocks })
  const directories = new LRUCache<number, RowDirectory>({ maxSize: Math.ceil(maxBytes / 8) })
  const pages = new LRUCache<number, Buffer>({ maxSize: Math.ceil(maxBytes / 8) })
  const chunks = new LRUCache<number, Chunk>({ maxSize: maxBytes })
  return {
    doneBlocks: createDoneBlocksCache(maxBlocks),
    slot: (slot, bytes) => {
      const known = slots.get(slot)
      if (known?.bytes.equals(bytes)) return known.parsed
      if (!last?.bytes.equals(bytes))
        last = { bytes: Buffer.from(bytes), parsed: decodeSlot(bytes) }
      slots.set(slot, last)
      return last.parsed
    },
    block: (serial, read) => {
      const known = blocks.get(serial)
      if (known !== undefined) return known
      const block = read()
      blocks.set(serial, block)
      return block
    },
    indexPage: (serial, page, read) => {
      const key = serial * partsPerBlock + page
      const known = pages.get(key)
      if (known !== undefined) return known
      const bytes = read()
      if (bytes !== undefined) pages.set(key, bytes, { size: bytes.length + overheadBytes })
      return bytes
    },
    directory: (serial, read) => {
      const known = directories.get(serial)
      if (known !== undefined) return known
      const directory = read()
      const size = overheadBytes + directory.chunks.length * placeBytes
      directories.set(serial, directory, { size })
      return directory
    },
    chunk: (serial, index, read) => {
      const key = serial * partsPerBlock + index
      const known = chunks.get(key)
      if (known !== undefined) return known
      const chunk = read()
      chunks.set(key, chunk, { size: chunk.rawBytes + overheadBytes })
      return chunk
    },
  }
}
