/** What Hosts signed of the rows of Views, in one snapshot. */
import { ServiceError } from '../../errors.ts'
import { decodeRowStatement, type RowStatement } from '../../row-votes/row-statement.ts'
import { countRowVotes } from '../../row-votes/row-votes.ts'
import { decodeStatementExcerpt, type StatementExcerpt } from '../../row-votes/statement-excerpt.ts'
import type { Environment, ReadTransaction } from '../disk/environment.ts'
import { heightKey } from '../disk/layout.ts'
import {
  isExcerpt,
  keyOfStatement,
  splitStatementKey,
  statementKey,
} from '../disk/statement-layout.ts'
import type { RowVoters, Snapshot } from '../store.ts'

export interface StatementReads
  extends Pick<
    Snapshot,
    | 'rowStatements'
    | 'statementExcerpts'
    | 'rowStatementPlaces'
    | 'rowStatementMessage'
    | 'rowVotes'
  > {
  /** Keys of all pieces. */
  rowStatementKeys(start: Uint8Array, end: Uint8Array): Iterable<Buffer>
}

interface StatementParts {
  /** Hash of a block that rows can belong to. */
  readonly hashAt: (height: number) => string | undefined
  readonly voters: RowVoters | null
  /** Called for a statement that cannot be decoded. */
  readonly onDamaged: (error: ServiceError, height: number) => void
  /** Returns the transaction of the snapshot, or throws. */
  readonly reading: () => ReadTransaction
}

export function createStatementReads(
  { rowStatements }: Environment['databases'],
  { hashAt, voters, onDamaged, reading }: StatementParts,
): StatementReads {
  const keys: StatementReads['rowStatementKeys'] = (start, end) =>
    rowStatements.getKeys({ start, end, transaction: reading() })

  /** Messages by the keys of their statements, put together from their pieces. */
  const messages = (start: Uint8Array, end: Uint8Array): Map<string, Buffer> => {
    const pieces = new Map<string, Buffer[]>()
    for (const { key, value } of rowStatements.getRange({ start, end, transaction: reading() })) {
      const name = keyOfStatement(key).toString('hex')
      pieces.set(name, [...(pieces.get(name) ?? []), value])
    }
    return new Map([...pieces].map(([name, values]) => [name, Buffer.concat(values)]))
  }

  const stored = (height: number): (RowStatement | StatementExcerpt)[] => {
    const found = [...messages(heightKey(height), heightKey(height + 1)).values()]
    return found.flatMap((message) => decode(message, (error) => onDamaged(error, height)))
  }

  return {
    rowStatementKeys: keys,
    rowStatements: (height) => stored(height).filter((each) => each.proofs === undefined),
    statementExcerpts: (height) => stored(height).filter((each) => each.proofs !== undefined),
    rowVotes: (view, height) => {
      const hash = hashAt(height)
      if (voters === null || hash === undefined) return undefined
      const counted = stored(height)
        .filter(({ blockHash, runtime }) => blockHash === hash && runtime === voters.runtime)
        .map((statement) => ({
          ...statement,
          leaves: statement.leaves.filter((leaf) => leaf.view === view),
        }))
      return countRowVotes(counted, voters.hosts)[0]
    },
    rowStatementPlaces: (from, to) => places(from, to),
    rowStatementMessage: (place) => {
      const key = statementKey(place)
      const found = messages(key, Buffer.concat([key, Buffer.alloc(3, 0xff)]))
      const message = found.get(key.toString('hex'))
      return message && !isExcerpt(message) ? message : undefined
    },
  }

  function* places(from: number, to: number): ReturnType<Snapshot['rowStatementPlaces']> {
    for (const key of keys(heightKey(from), heightKey(to + 1)))
      if (keyOfStatement(key) === key) yield splitStatementKey(key)
  }
}

function decode(
  message: Buffer,
  onDamaged: (error: ServiceError) => void,
): (RowStatement | StatementExcerpt)[] {
  try {
    return [isExcerpt(message) ? decodeStatementExcerpt(message) : decodeRowStatement(message)]
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    onDamaged(error)
    return []
  }
}
