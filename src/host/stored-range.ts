/** Which heights a Host has stored, as votes, `/health` and gauges read them. */
import type { GapReport } from '../service/contract.ts'
import type { StoreReader } from '../store/store.ts'

/** Heights of the lowest and the highest stored block. */
export interface StoredRange {
  readonly tail: number
  readonly head: number
  /** Missing heights between `tail` and `head`, ascending; the lowest ones where there are many. */
  readonly gaps: readonly GapReport[]
}

/** Gaps that are listed. */
const maxGaps = 100

/** What the store holds now; null before the first block. */
export function storedRange(reader: StoreReader): StoredRange | null {
  return reader.read((snapshot) => {
    const range = snapshot.range()
    return range === null ? null : { ...range, gaps: snapshot.gaps(maxGaps) }
  })
}

/** The highest stored height; -1 before the first block. */
export function storedHead(reader: StoreReader): number {
  return reader.read((snapshot) => snapshot.range()?.head ?? -1)
}
