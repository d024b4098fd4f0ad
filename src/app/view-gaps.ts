/** What the Views of an application lack: blocks that no Host had, and those whose rows went for the bytes of the store. */
import { type MissingBlocks, nothingMissing, type ViewGaps } from '../graphql/rows/missing-rows.ts'
import { subtractHeights, uniteHeights } from '../primitives/height-ranges.ts'
import type { Snapshot } from '../store/store.ts'
import { firstStored } from './disk-bound.ts'

export const appGaps: ViewGaps = {
  help: 'app.state() says which blocks are stored, and how the View and its Hosts stand.',
  missingOf,
  quarantineOf: () => null,
}

/** A View begins at the first height of which it has something; from there on it should have what any View has, and more. */
function missingOf(snapshot: Snapshot, slot: number): MissingBlocks {
  const range = snapshot.rowBlocks.range()
  if (range === null) return nothingMissing
  const { rowsFrom } = snapshot
  const failed = snapshot.viewFailures(slot)
  const known = uniteHeights([...snapshot.viewRanges(slot), ...failed])
  const [[first] = [range.tail]] = known
  return {
    notDone: subtractHeights([[first, range.head]], known),
    failed,
    lost: rowsFrom > 0 ? [[firstStored(snapshot) ?? 0, rowsFrom - 1]] : [],
  }
}
