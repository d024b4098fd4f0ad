/**
 * Takes in what other Hosts signed of the rows of Views, a page as a peer sends it. Kept is what accepted Hosts say of
 * blocks that are stored; what others signed is passed over before its signature costs anything. What is kept of a Host
 * depends on its statements alone, by `keptStatements`, so that Hosts which have seen the same ones agree.
 */
import type { Logger } from 'pino'
import { isStatementSigned } from '../../mesh/signed-claims.ts'
import { createInTurn } from '../../primitives/in-turn.ts'
import { keptStatements } from '../../row-votes/kept-statements.ts'
import { decodeRowStatement, type RowStatement } from '../../row-votes/row-statement.ts'
import { decodeStatementsAnswer, type StatementsAnswer } from '../../row-votes/row-vote-exchange.ts'
import type { Snapshot, StoreWriter } from '../../store/store.ts'
import type { StatementsTaken } from './outcome.ts'
import { logUnforeseen } from './unforeseen.ts'

export interface StatementAdmission {
  /** Says whose statements are taken in from now on: other Hosts, never this one. */
  setAccepted(identities: readonly string[]): void
  /**
   * Takes a page of statements in, after those before it; null for one that no honest peer gives. Rejects when the store
   * failed.
   */
  receive(bytes: Uint8Array): Promise<StatementsTaken | null>
}

interface AdmissionParts {
  readonly store: Pick<StoreWriter, 'putRowStatements' | 'reader'>
  readonly log: Logger
}

/** What becomes of the statements of one Host about one block. */
interface Change {
  readonly height: number
  /** Those that are new, before and after it was decided which are kept. */
  readonly fresh: readonly RowStatement[]
  readonly added: readonly RowStatement[]
  readonly outdated: readonly RowStatement[]
}

/** Takes nothing in before somebody is accepted. */
export function createStatementAdmission(
  { network }: { readonly network: string },
  { store, log }: AdmissionParts,
): StatementAdmission {
  const inTurn = createInTurn()
  let accepted: ReadonlySet<string> = new Set()

  const check = (
    bytes: Uint8Array,
  ): { changes: Change[]; next: StatementsAnswer['next'] } | null => {
    try {
      const page = decodeStatementsAnswer(bytes)
      const statements = page.statements.map(decodeRowStatement)
      if (statements.some((statement) => statement.network !== network)) return null
      const heard = statements.filter(({ signatureIdentity }) => accepted.has(signatureIdentity))
      const changes = store.reader.read((snapshot) => changesBy(snapshot, heard))
      const isSound = changes.every(({ fresh }) => fresh.every(isStatementSigned))
      return isSound ? { changes, next: page.next } : null
    } catch (error) {
      logUnforeseen(log, error)
      return null
    }
  }

  return {
    setAccepted: (identities) => {
      accepted = new Set(identities)
    },
    receive: (bytes) =>
      inTurn(async () => {
        const checked = check(bytes)
        if (checked === null) return null
        const { changes, next } = checked
        const writes = changes.map(async ({ height, added, outdated }) => {
          return (await store.putRowStatements(height, added, outdated)) ? added.length : 0
        })
        const counts = await Promise.all(writes)
        return { statements: counts.reduce((sum, count) => sum + count, 0), next }
      }),
  }
}

/** What statements change among those that are stored. */
function changesBy(snapshot: Snapshot, statements: readonly RowStatement[]): Change[] {
  const stored = statements.filter(({ blockNumber, blockHash }) => {
    return snapshot.rowBlocks.header(blockNumber)?.hash === blockHash
  })
  const groups = Map.groupBy(stored, ({ blockNumber, signatureIdentity }) => {
    return `${blockNumber} ${signatureIdentity}`
  })
  return [...groups.values()].flatMap((own) => changeBy(snapshot, own) ?? [])
}

/** What statements of one Host about one block change; null for nothing. */
function changeBy(snapshot: Snapshot, own: readonly RowStatement[]): Change | null {
  const [first] = own
  if (first === undefined) return null
  const { blockNumber: height, blockHash, signatureIdentity } = first
  const isOwn = (other: Pick<RowStatement, 'blockHash' | 'signatureIdentity'>): boolean =>
    other.blockHash === blockHash && other.signatureIdentity === signatureIdentity
  const places = [...snapshot.rowStatementPlaces(height, height)].filter(isOwn)
  const unknown = own.filter(
    ({ runtime, root }) =>
      !places.some((place) => place.runtime === runtime && place.root === root),
  )
  if (unknown.length === 0) return null
  const known = snapshot.rowStatements(height).filter(isOwn)
  const fresh = unknown.filter((statement) =>
    keptStatements([...known, statement]).includes(statement),
  )
  const kept = new Set(keptStatements([...known, ...fresh]))
  const added = fresh.filter((statement) => kept.has(statement))
  const outdated = known.filter((statement) => !kept.has(statement))
  return fresh.length === 0 ? null : { height, fresh, added, outdated }
}
