/** Blocks with rows of a View, made up: they grow, and give way to others. */
import { parseRowType } from '../../../src/views/rows/row-type.ts'
import { createRowPacker, type PackedRows } from '../../../src/views/rows/rows.ts'
import { namedHash } from '../../support/chain/opaque-blocks.ts'

export const madeSdl = 'type Payment { from: String @index to: String amount: Int }'
export const madeView: string = namedHash('the View of payments')
/** Another View, with the same rows under another name. */
export const otherView: string = namedHash('the View of refunds')

/** What a View is. */
export function sdlOf(view: string): string {
  return view === otherView ? madeSdl.replace('Payment', 'Refund') : madeSdl
}

export interface MadeBlock {
  readonly number: number
  readonly hash: string
  readonly parent: string
  /** Null where the View failed. */
  readonly rows: PackedRows | null
}

export interface MadeChain {
  /** Lowest first. */
  blocks(): readonly MadeBlock[]
  /** Adds blocks, each with so many rows. */
  grow(blocks: number, rows?: number): void
  /** Takes blocks off the top, and puts one more than these in their place. */
  reorganise(depth: number): void
  /** Calls the listener after each change; returns the function that ends it. */
  onChange(listener: () => void): () => void
}

/** A chain from a height on; those of one name are the same. */
export function createMadeChain({
  name = 'chain',
  from = 0,
}: {
  readonly name?: string
  readonly from?: number
} = {}): MadeChain {
  let blocks: MadeBlock[] = []
  let branch = 0
  const listeners = new Set<() => void>()
  const add = (count: number, rows: number): void => {
    for (let index = 0; index < count; index++) {
      const below = blocks.at(-1)
      const number = (below?.number ?? from - 1) + 1
      const parent = below?.hash ?? namedHash(`${name} below ${number}`)
      const hash = namedHash(`${name} ${branch} ${number}`)
      blocks = [...blocks, { number, hash, parent, rows: madeRows(`${branch}`, number, rows) }]
    }
    for (const listener of listeners) listener()
  }
  return {
    blocks: () => blocks,
    grow: (count, rows = 2) => add(count, rows),
    reorganise: (depth) => {
      branch += 1
      blocks = blocks.slice(0, blocks.length - depth)
      add(depth + 1, 2)
    },
    onChange: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** The same block with two other rows. */
export function lied(block: MadeBlock): MadeBlock {
  return { ...block, rows: madeRows('a lie', block.number, 2) }
}

/** Rows whose values follow from where they are. */
export function madeRows(branch: string, number: number, count: number): PackedRows {
  const packer = createRowPacker(parseRowType(madeSdl))
  for (let row = 0; row < count; row++)
    packer.add({ from: `0x${number}`, to: `${branch}`, amount: number * 1_000 + row }, row)
  return packer.finish()
}
