/** Rows that are numbers, in blocks that no store has: what is selected among them is checked against a plain sort. */
import type { QueryBudget } from '../../../src/graphql/budget/query-budget.ts'
import type { Attribute, Entity } from '../../../src/graphql/catalog/entity.ts'
import type { OrderKey } from '../../../src/graphql/filter/order.ts'
import {
  type BlockView,
  openBlockView,
  type Session,
} from '../../../src/graphql/rows/block-view.ts'
import { type Row, rowAt } from '../../../src/graphql/rows/row.ts'
import type { Scan } from '../../../src/graphql/scan/piece.ts'
import type { Chunk } from '../../../src/primitives/body/chunk.ts'
import {
  allHeights,
  eachHeight,
  type HeightRanges,
  rangeOfHeights,
  toHeightRanges,
} from '../../../src/primitives/height-ranges.ts'
import type { SeenBlocks } from '../../../src/store/store.ts'
import { createTestBudget } from './graphql-room.ts'

/** How many rows each block has, by height. */
export type RowCounts = ReadonlyMap<number, number>

const field = (name: string, rest: Pick<Attribute, 'read'> & Partial<Attribute>): Attribute => ({
  ...{ name, kind: 'int', list: false, description: '' },
  ...rest,
})

/** What a row that was read keeps of its block. */
const opened = {} as Chunk

/** `_blockNumber`, the position in its block, a number that three neighbours share, and one that jumps about. */
export const fields: Readonly<Record<'height' | 'position' | 'third' | 'value', Attribute>> = {
  height: field('_blockNumber', {
    ...{ course: 'height', ofBlock: true },
    read: ({ block }) => block.height,
  }),
  position: field('position', { course: 'exact-place', read: ({ position }) => position }),
  third: field('third', { course: 'place', read: ({ position }) => Math.floor(position / 3) }),
  value: field('value', {
    read: (row) => {
      row.chunk = opened
      return (7 * row.block.height + 3 * row.position) % 5
    },
  }),
}

/** An order by a field. */
export function orderKey(name: keyof typeof fields, descending: boolean): OrderKey {
  const { kind, course, ofBlock = false, read } = fields[name]
  return {
    path: name,
    kind,
    descending,
    ofBlock,
    read,
    ...(course === undefined ? {} : { course }),
  }
}

/** The blocks of a store that has nothing but headers. */
function seenBlocks(counts: RowCounts): SeenBlocks {
  const ranges = toHeightRanges([...counts.keys()])
  return {
    range: () => rangeOfHeights(ranges),
    gaps: () => [],
    *heights(from, to, descending) {
      for (const height of eachHeight(ranges, descending))
        if (height >= from && height <= to) yield height
    },
    header: (number) =>
      counts.has(number) ? ({ number, sections: { Log: counts.get(number) } } as never) : undefined,
    heightOf: () => undefined,
  }
}

/** A scan over all of them, and each row in chain order. */
export function numberedScan(
  counts: RowCounts,
  {
    window = allHeights,
    budget = createTestBudget(),
  }: { readonly window?: HeightRanges; readonly budget?: QueryBudget } = {},
): { readonly scan: Scan; readonly rows: readonly Row[]; blockAt(height: number): BlockView } {
  const seen = seenBlocks(counts)
  const session = { snapshot: { ...seen, rowBlocks: seen }, budget, missing: null, attested: null }
  const entity: Entity = {
    ...{ name: 'Number', typeName: 'Number', description: '', section: 'Log', links: new Map() },
    attributes: new Map(Object.values(fields).map((one) => [one.name, one])),
    rowsIn: ({ header }) => header.sections.Log,
  }
  const blockAt = (height: number): BlockView =>
    openBlockView(session as unknown as Session, seen, height) as BlockView
  const heights = [...counts.keys()].sort((a, b) => a - b)
  const rows = heights.flatMap((height) => {
    const block = blockAt(height)
    return Array.from({ length: counts.get(height) ?? 0 }, (_, position) => rowAt(block, position))
  })
  return { scan: { session: session as unknown as Session, entity, window }, rows, blockAt }
}
