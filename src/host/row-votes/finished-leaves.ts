/** What this Host can sign of a stored block: the Views that are done with it. */
import { runtimeVersion } from '../../lens/program/run-limits.ts'
import { type HeightRanges, hasHeight } from '../../primitives/height-ranges.ts'
import type { RowStatement } from '../../row-votes/row-statement.ts'
import { maxLeaves, sortLeaves, type ViewLeaf } from '../../row-votes/view-leaf.ts'
import type { Snapshot } from '../../store/store.ts'
import { readViewRecord } from '../views/engine/view-record.ts'
import { type HostedView, isHosted, type KeptView } from '../views/hosted-view.ts'

/** A View whose rows are stored. */
export type SignedView = Pick<HostedView, 'id' | 'slot'>

/** Those whose rows are stored; rows of others are made for each query, and nobody signs them. */
export function materializedOf(views: readonly KeptView[]): readonly SignedView[] {
  return views.filter(isHosted).filter(({ rowType }) => rowType.materialized)
}

/** A View as it stands in one snapshot. */
export interface StandingView extends SignedView {
  readonly done: HeightRanges
  readonly failed: HeightRanges
  /** Whether nothing is computed of it any more. */
  readonly isStopped: boolean
}

/** What is to be signed of a block. */
export interface UnsignedBlock {
  readonly blockNumber: number
  readonly blockHash: string
  /** In their order; those that this Host signed before are among them. */
  readonly leaves: readonly ViewLeaf[]
  /** Statements of this Host whose leaves are all among these. */
  readonly outdated: readonly RowStatement[]
  /** Whether no View is left that could be done with it soon. */
  readonly isComplete: boolean
}

/** How a View stands; one whose rows another version of the runtime made is not done with anything. */
export function readStandingView(snapshot: Snapshot, view: SignedView): StandingView {
  const record = readViewRecord(snapshot, view)
  if (record?.runtime !== runtimeVersion) return { ...view, done: [], failed: [], isStopped: false }
  const [done, failed] = [snapshot.viewRanges(view.slot), snapshot.viewFailures(view.slot)]
  return { ...view, done, failed, isStopped: record.quarantine !== null }
}

/**
 * What a Host has not signed yet of a block; null for nothing. Where the documents of a block changed under one hash, as
 * those do that a lying Generator brought first, the rows are others than it signed. It signs these as well, and so counts
 * for neither: what it signed before cannot be taken back.
 */
export function findUnsigned(
  snapshot: Snapshot,
  views: readonly StandingView[],
  height: number,
  identity: string,
): UnsignedBlock | null {
  const blockHash = snapshot.rowBlocks.header(height)?.hash
  if (blockHash === undefined) return null
  const own = snapshot
    .rowStatements(height)
    .filter((each) => each.signatureIdentity === identity && each.blockHash === blockHash)
    .filter((each) => each.runtime === runtimeVersion)
  const signed = own.flatMap((statement) => statement.leaves)
  const current = views.flatMap(({ id, slot, done }): ViewLeaf[] => {
    if (!hasHeight(done, height)) return []
    const { root: rowsRoot = null, count = 0 } = snapshot.viewRows(slot, height) ?? {}
    return rowsRoot === null ? [] : [{ view: id, rowsRoot, count }]
  })
  // As it stands now; of a View that is not done with the block, or not served any more, as it was signed.
  const leaves = new Map(signed.map((leaf) => [leaf.view, leaf]))
  for (const leaf of current)
    if (leaves.has(leaf.view) || leaves.size < maxLeaves) leaves.set(leaf.view, leaf)
  const signedKeys = new Set(signed.map(keyOf))
  if ([...leaves.values()].every((leaf) => signedKeys.has(keyOf(leaf)))) return null
  const isComplete = views.every(
    ({ done, failed, isStopped }) =>
      isStopped || hasHeight(done, height) || hasHeight(failed, height),
  )
  const outdated = own.filter((each) =>
    each.leaves.every((leaf) => keyOf(leaf) === keyOf(leaves.get(leaf.view))),
  )
  const sorted = sortLeaves([...leaves.values()])
  return { blockNumber: height, blockHash, leaves: sorted, outdated, isComplete }
}

function keyOf(leaf: ViewLeaf | undefined): string {
  return `${leaf?.view} ${leaf?.rowsRoot} ${leaf?.count}`
}
