/** Writes waiting blocks to the store, in the place of others where there are any, and reports what was written. */
import { createPendingWrites, type PendingWrites, type Removal } from '../../mesh/pending-writes.ts'
import { type VerifiedBody, verifyBody } from '../../primitives/body/body.ts'
import { indexTerms } from '../../primitives/index-terms.ts'
import type { SealedBlockToStore, StoreWriter, ViewsDone } from '../../store/store.ts'
import type { Stored, TakenIn } from './outcome.ts'
import type { SealBook } from './seal-book.ts'
import type { WaitingBlock, WaitingBlocks } from './waiting-blocks.ts'

interface ChainWriterParts {
  readonly store: Pick<StoreWriter, 'putSealedBlock' | 'replaceBlocks'>
  readonly book: Pick<SealBook, 'takePending'>
  readonly waiting: Pick<WaitingBlocks, 'remove'>
  readonly onStored: (stored: Stored) => void
  /** The first write that failed; none succeeds after it. */
  readonly onFailure: (error: unknown) => void
}

export interface ChainWriter {
  readonly pending: PendingWrites<WaitingBlock>
  /** Stores blocks that follow one another, in one transaction with the removal of others, if any. */
  write(
    blocks: readonly WaitingBlock[],
    removal: (Removal & { readonly depth: number }) | null,
  ): void
  /** Resolves when everything so far is on the disk. */
  drain(): Promise<void>
}

/** Nothing is being written. */
export function createChainWriter(
  options: { readonly network: string; readonly maxRawBytes: number },
  parts: ChainWriterParts,
): ChainWriter {
  const { store, book } = parts
  const pending = createPendingWrites<WaitingBlock>()

  const storable = (block: WaitingBlock): SealedBlockToStore => {
    const { body, documents } = block
    if (body === null) throw new Error('a block without its bytes is not stored')
    const verified = documents ?? verifyBody(options.network, body, options)
    return { ...toStore(verified, body), seals: book.takePending(block.number) }
  }

  return {
    pending,
    write: (blocks, removal) => {
      const toPut = blocks.map(storable)
      for (const block of blocks) parts.waiting.remove(block)
      const written =
        removal === null
          ? putAll(store, toPut)
          : store.replaceBlocks(removal.from, removal.to, toPut)
      const report: Omit<Stored, 'viewsDone'> = {
        bottom: blocks[0]?.number ?? removal?.from ?? 0,
        top: blocks.at(-1)?.number ?? (removal?.from ?? 1) - 1,
        removed: removal?.depth ?? 0,
        taken: countTaken(toPut),
      }
      pending
        .add(blocks, removal, written)
        .then(async () => parts.onStored({ ...report, viewsDone: await written }))
        .catch(parts.onFailure)
    },
    drain: pending.drain,
  }
}

/** Returns which Views are done with them by that. */
async function putAll(
  store: Pick<StoreWriter, 'putSealedBlock'>,
  blocks: readonly SealedBlockToStore[],
): Promise<readonly ViewsDone[]> {
  return (await Promise.all(blocks.map(store.putSealedBlock))).flat()
}

function toStore(
  { number, hash, parentHash, root, count, timestamp, body: opened, cids }: VerifiedBody,
  body: Uint8Array,
): Omit<SealedBlockToStore, 'seals'> {
  const sections = opened.counts
  const header = {
    number,
    hash,
    parentHash,
    root,
    count,
    timestamp,
    sections,
    bodyBytes: body.length,
  }
  return { header, body, terms: indexTerms(opened, cids) }
}

function countTaken(blocks: readonly SealedBlockToStore[]): TakenIn {
  const sum = (of: (block: SealedBlockToStore) => number): number =>
    blocks.reduce((total, block) => total + of(block), 0)
  return {
    blocks: blocks.length,
    transactions: sum(({ header }) => header.sections.Transaction),
    logs: sum(({ header }) => header.sections.Log),
    accessListEntries: sum(({ header }) => header.sections.AccessListEntry),
    seals: sum(({ seals }) => seals.length),
  }
}
