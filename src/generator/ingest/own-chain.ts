/**
 * The chain of this Generator: the stored blocks and the writes in flight. Blocks are appended and
 * truncated at the end; each gets a transaction for its documents and, queued right behind it, one for
 * its seal.
 */
import { createPendingWrites } from '../../mesh/pending-writes.ts'
import type { Seal } from '../../primitives/seal.ts'
import type { BlockHeader, BlockToStore, Snapshot, StoreWriter } from '../../store/store.ts'
import type { HeadSigner } from '../head/signer.ts'
import type { IngestMetrics } from './ingest-metrics.ts'

export interface OwnChainOptions {
  /** This Generator's public key, as in its seals. */
  readonly identity: string
  /** Most blocks whose writes are in flight. */
  readonly maxWrites: number
}

export interface OwnChainParts {
  readonly store: StoreWriter
  readonly heads: Pick<HeadSigner, 'sealed' | 'suspend' | 'resume'>
  readonly seal: (header: BlockHeader, known: readonly Seal[]) => Seal
  readonly metrics: IngestMetrics
  /** A block and its seal are on the disk, and the head that is due with it was emitted. */
  readonly onSealed: (header: BlockHeader) => void
  /** The first write that failed; none succeeds after it. */
  readonly onFailure: (error: unknown) => void
}

/** Lowest and highest height. */
export interface OwnRange {
  readonly tail: number
  readonly head: number
}

export interface OwnChain {
  /** The last block, null in an empty store. */
  tip(): { readonly number: number; readonly hash: string } | null
  hashAt(height: number): string | undefined
  /** The stored heights; null in an empty store. */
  range(): OwnRange | null
  /**
   * Stores and seals a block that follows the tip and that the node returned at that time; resolves when
   * further ones may be added.
   */
  add(block: BlockToStore, returnedMs: number): Promise<void>
  /** Seals stored blocks that have no seal of this identity; returns how many. */
  sealRest(): Promise<number>
  /** Removes the blocks above this height. */
  truncateAbove(height: number): Promise<void>
  /** Replaces the block at this height and all above it by this one, and seals it. */
  beginAgain(block: BlockToStore): Promise<void>
  /** Resolves when no write is in flight. */
  drain(): Promise<void>
}

/** Blocks between two pruning runs. */
const blocksPerPrune = 64

/** Continues from the stored blocks. */
export function openOwnChain(options: OwnChainOptions, parts: OwnChainParts): OwnChain {
  const { store, heads, seal, metrics } = parts
  const pending = createPendingWrites<BlockHeader>()
  let tip = store.reader.read(storedTip)
  let sincePrune = 0

  const sealsOf = ({ hash }: BlockHeader): readonly Seal[] =>
    store.reader.read((snapshot) => snapshot.sealsOf(hash))

  const reportSealed = (header: BlockHeader): void => {
    metrics.sealed(header)
    parts.onSealed(header)
  }

  const writeSeal = async (header: BlockHeader, known: readonly Seal[]): Promise<void> => {
    await store.putSeals(header.number, [seal(header, known)])
  }

  const write = async (block: BlockToStore, returnedMs: number): Promise<void> => {
    const stop = metrics.stageSeconds.startTimer({ stage: 'commit' })
    const { header } = block
    const { number, hash } = header
    await Promise.all([store.putBlock(block), writeSeal(header, sealsOf(header))])
    void heads.sealed({ number, hash }, returnedMs).then(() => reportSealed(header))
    stop()
    if (++sincePrune < blocksPerPrune) return
    sincePrune = 0
    await store.prune()
  }

  return {
    tip: () => tip,
    hashAt: (height) =>
      pending.at(height)?.hash ?? store.reader.read((snapshot) => snapshot.header(height)?.hash),
    range: () => store.reader.read((snapshot) => snapshot.range()),
    async add(block, returnedMs) {
      const { number, hash } = block.header
      tip = { number, hash }
      pending.add([block.header], null, write(block, returnedMs)).catch(parts.onFailure)
      await pending.below(options.maxWrites)
    },
    async sealRest() {
      for (let count = 0; ; count++) {
        const header = store.reader.read((snapshot) => firstUnsealed(snapshot, options.identity))
        if (header === undefined) return count
        await writeSeal(header, [])
        reportSealed(header)
      }
    },
    async truncateAbove(height) {
      await pending.drain()
      heads.suspend()
      await store.truncateAbove(height)
      tip = store.reader.read(storedTip)
      heads.resume()
    },
    async beginAgain(block) {
      await pending.drain()
      heads.suspend()
      const { header } = block
      const seals = [seal(header, sealsOf(header))]
      await store.replaceBlocks(header.number, Number.MAX_SAFE_INTEGER, [{ ...block, seals }])
      tip = store.reader.read(storedTip)
      heads.resume()
      reportSealed(header)
    },
    drain: pending.drain,
  }
}

function storedTip(snapshot: Snapshot): { number: number; hash: string } | null {
  const range = snapshot.range()
  const header = range === null ? undefined : snapshot.header(range.head)
  return header === undefined ? null : { number: header.number, hash: header.hash }
}

function firstUnsealed(snapshot: Snapshot, identity: string): BlockHeader | undefined {
  const height = snapshot.firstUnsealed(identity)
  return height === undefined ? undefined : snapshot.header(height)
}
