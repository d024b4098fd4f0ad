/** Blocks of a View as they wait for votes, with made-up hashes. */
import type { PendingBlock } from '../../../src/app/follow/pending-blocks.ts'
import type { PackedRows } from '../../../src/views/rows/rows.ts'
import { namedHash } from '../../support/chain/opaque-blocks.ts'

interface BlockOptions {
  /** Blocks of different branches have different hashes. */
  readonly branch?: string
  /** By default the block below on the same branch. */
  readonly parent?: string
  /** Null for a block at which the View failed. */
  readonly rows?: PackedRows | null
  readonly sinceMs?: number
}

export function pendingBlock(number: number, options: BlockOptions = {}): PendingBlock {
  const { branch = 'a', sinceMs = 0 } = options
  const rows = options.rows === undefined ? rowsNamed(`${number}`) : options.rows
  const parent = options.parent ?? namedHash(`${branch} ${number - 1}`)
  return { number, hash: namedHash(`${branch} ${number}`), parent, rows, sinceMs }
}

/** One row whose root follows from a name. */
function rowsNamed(name: string): PackedRows {
  return {
    count: 1,
    bytes: new Uint8Array(100),
    terms: [],
    root: namedHash(`rows ${name}`).slice(2),
    mismatches: 0,
  }
}
