/**
 * The chain as this Generator has it: what is stored, and what is on its way to the disk. Blocks are
 * added at the end and cut off from the end; each gets its documents transaction and, queued right
 * behind it, the transaction with its seal.
 */
import type { Seal } from '../../primitives/seal.ts'
import type { BlockHeader, BlockToStore, Snapshot, StoreWriter } from '../../store/store.ts'
import type { HeadSigner } from '../head/signer.ts'
import { createCommits } from './commits.ts'
import type { IngestMetrics } from './ingest-metrics.ts'

export interface OwnChainOptions {
  /** This Generator's public key, as in its seals. */
  readonly identity: string
  /** Blocks on their way to the disk at most. */
  readonly maxCommits: number
}

export interface OwnChainParts {
  readonly store: StoreWriter
  readonly heads: Pick<HeadSigner, 'sealed' | 'leave' | 'stand'>
  readonly seal: (header: BlockHeader, known: readonly Seal[]) => Seal
  readonly metrics: IngestMetrics
  /** A block and its seal are on the disk, and the head that is due with it was handed out. */
  readonly onSealed: (header: BlockHeader) => void
  /** The first write that failed; none succeeds after it. */
  readonly onFailure: (error: unknown) => void
}

/** Lowest and highest height. */
export interface StoredRange {
  readonly tail: number
  readonly head: number
}

export interface OwnChain {
  /** The last block, null in an empty store. */
  tip(): { readonly number: number; readonly hash: string } | null
  hashAt(height: number): string | undefined
  /** What is stored, every height of it; null in an empty store. */
  range(): StoredRange | null
  /**
   * Stores and seals a block that follows the tip and that the node answered at that time; resolves when
   * further ones may follow.
   */
  add(block: BlockToStore, answeredMs: number): Promise<void>
  /** Seals stored blocks that have no seal of this identity; answers how many. */
  sealRest(): Promise<number>
  /** Removes the blocks above this height. */
  cutAbove(height: number): Promise<void>
  /** Stores and seals a block in the place of the one at its height and of all above it. */
  beginAgain(block: BlockToStore): Promise<void>
  /** Resolves when everything is on the disk. */
  drain(): Promise<void>
}

/** Blocks between two looks for spans to remove from the file. */
const blocksPerPrune = 64

/** Continues from what is stored. */
export function openOwnChain(options: OwnChainOptions, parts: OwnChainParts): OwnChain {
  const { store, heads, seal, metrics } = parts
  const commits = createCommits(options.maxCommits, parts.onFailure)
  const underWay = new Map<number, string>()
  let tip = store.reader.read(storedTip)
  let sincePrune = 0

  const sealsOf = ({ hash }: BlockHeader): readonly Seal[] =>
    store.reader.read((snapshot) => snapshot.sealsOf(hash))

  const tellSealed = (header: BlockHeader): void => {
    metrics.sealed(header)
    parts.onSealed(header)
  }

  const writeSeal = async (header: BlockHeader, known: readonly Seal[]): Promise<void> => {
    await store.putSeals(header.number, [seal(header, known)])
    if (underWay.get(header.number) === header.hash) underWay.delete(header.number)
  }

  const write = async (block: BlockToStore, answeredMs: number): Promise<void> => {
    const stop = metrics.stageSeconds.startTimer({ stage: 'commit' })
    const { header } = block
    const { number, hash } = header
    await Promise.all([store.putBlock(block), writeSeal(header, sealsOf(header))])
    void heads.sealed({ number, hash }, answeredMs).then(() => tellSealed(header))
    stop()
    if (++sincePrune < blocksPerPrune) return
    sincePrune = 0
    await store.prune()
  }

  return {
    tip: () => tip,
    hashAt: (height) =>
      underWay.get(height) ?? store.reader.read((snapshot) => snapshot.header(height)?.hash),
    range: () => store.reader.read((snapshot) => snapshot.range()),
    async add(block, answeredMs) {
      const { number, hash } = block.header
      tip = { number, hash }
      underWay.set(number, hash)
      await commits.add(write(block, answeredMs))
    },
    async sealRest() {
      for (let count = 0; ; count++) {
        const header = store.reader.read((snapshot) => firstUnsealed(snapshot, options.identity))
        if (header === undefined) return count
        await writeSeal(header, [])
        tellSealed(header)
      }
    },
    async cutAbove(height) {
      await commits.drain()
      heads.leave()
      await store.removeAbove(height)
      tip = store.reader.read(storedTip)
      heads.stand()
    },
    async beginAgain(block) {
      await commits.drain()
      heads.leave()
      const { header } = block
      const seals = [seal(header, sealsOf(header))]
      await store.replaceBlocks(header.number, Number.MAX_SAFE_INTEGER, [{ ...block, seals }])
      tip = store.reader.read(storedTip)
      heads.stand()
      tellSealed(header)
    },
    drain: () => commits.drain(),
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
