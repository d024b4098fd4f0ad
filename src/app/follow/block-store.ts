/** What a follower reads and writes of the store: blocks without documents, rows of Views, and who signed what. */
import type { FollowedBlock } from '../../follow/open-frames.ts'
import { hasHeight } from '../../primitives/height-ranges.ts'
import type { Seal } from '../../primitives/seal.ts'
import { keptStatements } from '../../row-votes/kept-statements.ts'
import { mergeExcerpts, type StatementExcerpt } from '../../row-votes/statement-excerpt.ts'
import type { RowBlockToStore, Snapshot, StoreWriter } from '../../store/store.ts'
import { encodeFailure } from '../../views/rows/block-rows.ts'
import type { KnownView } from '../followed-views.ts'
import type { PendingBlock } from './pending-blocks.ts'
import { sealedRoot } from './pending-seals.ts'

/** What is stored with blocks. */
interface BlockProofs {
  seals(hash: string): readonly Seal[]
  excerpts(number: number, hash: string): readonly StatementExcerpt[]
}

export interface BlockStore {
  read<T>(use: (snapshot: Snapshot) => T): T
  /** The hash of the block that is stored at a height. */
  hashAt(number: number): string | undefined
  /** The parent of the block that is stored at a height. */
  parentAt(number: number): string | undefined
  /** Whether a View has rows or a failure at a height, or the store keeps nothing that low. */
  isDone(view: KnownView, number: number): boolean
  hasRows(view: KnownView, number: number): boolean
  /** The highest height below one at which a View has rows or a failure; null for none. */
  doneBelow(view: KnownView, number: number): number | null
  /** The highest stored height; -1 for none. */
  head(): number
  /** The lowest stored height; 0 for none. */
  tail(): number
  /** What Hosts signed of a block that is stored; nothing of others. */
  excerpts(number: number, hash: string): readonly StatementExcerpt[]
  /** Stores rows of blocks, which stand on what is stored; what is above `removeAbove` goes first. */
  put(
    view: KnownView,
    blocks: readonly PendingBlock[],
    removeAbove: number | null,
    proofs: BlockProofs,
  ): Promise<void>
  /** Stores why there are no rows of a block. */
  putFailure(view: KnownView, block: PendingBlock, message: string): Promise<void>
  /** Who sealed a block, as far as it is stored. */
  sealers(place: FollowedBlock): ReadonlySet<string>
  /** Stores what somebody signed of a block that is stored; false where it is not. */
  addStatement(excerpt: StatementExcerpt): Promise<boolean>
  /** The same for seals. */
  addSeals(place: FollowedBlock, seals: readonly Seal[]): Promise<boolean>
}

const noRoot = '0'.repeat(64)

export function createBlockStore(store: StoreWriter): BlockStore {
  const { reader } = store
  const hashAt = (number: number): string | undefined =>
    reader.read((snapshot) => snapshot.rowBlocks.header(number)?.hash)
  const excerptsAt = (number: number, hash: string): readonly StatementExcerpt[] =>
    reader.read((snapshot) =>
      snapshot.statementExcerpts(number).filter(({ blockHash }) => blockHash === hash),
    )
  return {
    read: reader.read,
    hashAt,
    parentAt: (number) => reader.read(({ rowBlocks }) => rowBlocks.header(number)?.parentHash),
    excerpts: excerptsAt,
    isDone: ({ slot }, number) =>
      reader.read(
        (snapshot) =>
          number < snapshot.rowsFrom ||
          hasHeight(snapshot.viewRanges(slot), number) ||
          hasHeight(snapshot.viewFailures(slot), number),
      ),
    hasRows: ({ slot }, number) =>
      reader.read((snapshot) => hasHeight(snapshot.viewRanges(slot), number)),
    doneBelow: ({ slot }, number) => reader.read((snapshot) => doneBelow(snapshot, slot, number)),
    head: () => reader.read((snapshot) => snapshot.rowBlocks.range()?.head ?? -1),
    tail: () => reader.read((snapshot) => snapshot.rowBlocks.range()?.tail ?? 0),
    put: async (view, blocks, removeAbove, { seals, excerpts }) => {
      if (removeAbove !== null) await store.truncateAbove(removeAbove)
      const whole = blocks.map((block) => ({
        ...withSeals(store, block, seals),
        statements: withStored(
          excerpts(block.number, block.hash),
          excerptsAt(block.number, block.hash),
        ),
      }))
      const made = blocks.flatMap(({ number: height, hash: blockHash, rows }) =>
        rows === null ? [] : [{ height, blockHash, rows }],
      )
      await store.putRowBlocks(whole, { slot: view.slot, blocks: made })
    },
    putFailure: async (view, block, message) => {
      const failure = { code: 'APP_ROWS_MISSING', message, remedy: null, attempts: 1 }
      const { number: height, hash: blockHash } = block
      const made = [{ height, blockHash, failure: encodeFailure(failure) }]
      await store.putRowBlocks([withSeals(store, block, () => [])], {
        slot: view.slot,
        blocks: made,
      })
    },
    addStatement: async (excerpt) => {
      const { blockNumber, blockHash } = excerpt
      if (hashAt(blockNumber) !== blockHash) return false
      await putStatement(store, excerpt, excerptsAt(blockNumber, blockHash))
      return true
    },
    sealers: ({ number, hash }) => {
      const seals = reader.read((snapshot) => snapshot.seals(number))
      const own = seals.filter(({ blockHash }) => blockHash === hash)
      return new Set(own.map(({ signatureIdentity }) => signatureIdentity))
    },
    addSeals: async ({ number, hash }, seals) => {
      const header = reader.read((snapshot) => snapshot.rowBlocks.header(number))
      if (header?.hash !== hash) return false
      const block = { number, hash, parent: header.parentHash }
      if (seals.length > 0) await store.putRowBlocks([withSeals(store, block, () => seals)])
      return true
    },
  }
}

type ChainBlock = FollowedBlock & { readonly parent: string }

/** A block with seals that were not stored yet, and the root that most of all sealed. */
function withSeals(
  { reader }: StoreWriter,
  { number, hash, parent }: ChainBlock,
  sealsOf: (hash: string) => readonly Seal[],
): RowBlockToStore {
  const known = reader.read((snapshot) => snapshot.seals(number))
  const seals = sealsOf(hash)
  const own = known.filter(({ blockHash }) => blockHash === hash)
  const root = sealedRoot([...own, ...seals]) ?? noRoot
  return { header: { number, hash, parentHash: parent, root, timestamp: 0 }, seals }
}

function doneBelow(snapshot: Snapshot, slot: number, number: number): number | null {
  const tops = [...snapshot.viewRanges(slot), ...snapshot.viewFailures(slot)].flatMap(
    ([from, to]) => (from < number ? [Math.min(to, number - 1)] : []),
  )
  return tops.length === 0 ? null : Math.max(...tops)
}

/** Stores a statement among those of its block; of too many of one Host some go. */
async function putStatement(
  store: StoreWriter,
  excerpt: StatementExcerpt,
  stored: readonly StatementExcerpt[],
): Promise<void> {
  const own = stored.filter((each) => each.signatureIdentity === excerpt.signatureIdentity)
  const [merged = excerpt] = withStored([excerpt], own)
  const others = own.filter((each) => !isSame(merged, each))
  const kept = new Set(keptStatements([...others, merged]))
  const outdated = others.filter((each) => !kept.has(each))
  if (kept.has(merged)) await store.putRowStatements(excerpt.blockNumber, [merged], outdated)
}

/** The same with the leaves of other Views, which would go: the store keeps one excerpt of a statement. */
function withStored(
  excerpts: readonly StatementExcerpt[],
  stored: readonly StatementExcerpt[],
): StatementExcerpt[] {
  return excerpts.map((excerpt) => {
    const known = stored.find(
      (each) => isSame(each, excerpt) && each.signatureIdentity === excerpt.signatureIdentity,
    )
    return known === undefined ? excerpt : mergeExcerpts(known, excerpt)
  })
}

type Signed = Pick<StatementExcerpt, 'root' | 'runtime'>

function isSame(one: Signed, other: Signed): boolean {
  return one.root === other.root && one.runtime === other.runtime
}
