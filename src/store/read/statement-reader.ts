/** What Hosts signed of the rows of Views, in one snapshot. */
import { decodeRowStatement } from '../../row-votes/row-statement.ts'
import type { Environment, ReadTransaction } from '../disk/environment.ts'
import { heightKey } from '../disk/layout.ts'
import type { Snapshot } from '../store.ts'

export interface StatementReads extends Pick<Snapshot, 'rowStatements'> {
  rowStatementKeys(start: Uint8Array, end: Uint8Array): Iterable<Buffer>
}

/** Reads through the transaction that `reading` returns, or throws. */
export function createStatementReads(
  { rowStatements }: Environment['databases'],
  reading: () => ReadTransaction,
): StatementReads {
  return {
    rowStatementKeys: (start, end) => rowStatements.getKeys({ start, end, transaction: reading() }),
    rowStatements: (height) => {
      const range = { start: heightKey(height), end: heightKey(height + 1) }
      const entries = rowStatements.getRange({ ...range, transaction: reading() })
      return Array.from(entries, ({ value }) => decodeRowStatement(value))
    },
  }
}
