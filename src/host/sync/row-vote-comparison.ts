/**
 * One comparison with one peer of what accepted Hosts signed of rows: digests over pages of heights, and the statements
 * of each group of heights that differs. Peers of other kinds and older Hosts do not speak of it.
 */
import { statementDigests } from '../../mesh/row-vote-responder.ts'
import type { Heights } from '../../mesh/vote-groups.ts'
import type { P2p } from '../../p2p/p2p.ts'
import { decodeDigestsAnswer, voteLimits } from '../../primitives/vote-exchange.ts'
import { encodeRowVoteRequest, type RowVoteRequest } from '../../row-votes/row-vote-exchange.ts'
import type { ShareOfTime } from '../../share-of-time.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Writer } from '../apply/writer.ts'
import type { HostMetrics } from '../metrics.ts'
import { differingGroups } from './differing-groups.ts'
import { type OlderPages, votePages } from './vote-pages.ts'

export interface RowVoteComparisonParts {
  readonly metrics: Pick<HostMetrics, 'rowVoteExchange'>
  readonly p2p: Pick<P2p, 'request' | 'penalise'>
  readonly reader: StoreReader
  readonly writer: Pick<Writer, 'receiveRowStatements'>
  /** The accepted Hosts, this one not among them. */
  readonly hosts: () => readonly string[]
}

interface RowVoteComparison {
  readonly parts: RowVoteComparisonParts
  readonly peer: string
  /** Bounds the time that comparing takes, with all peers together. */
  readonly time: ShareOfTime
  readonly signal: AbortSignal
}

/** Pages of one Host's statements of one group: of 1,000 Views a page holds six blocks. */
const maxStatementPages = 16

/**
 * Fetches what the peer has and we have not.
 *
 * @throws ServiceError as `compareVotes` does.
 */
export async function compareRowVotes(
  comparison: RowVoteComparison,
  older: OlderPages,
): Promise<void> {
  const { hosts, reader } = comparison.parts
  const accepted = hosts()
  for (let at = 0; at < accepted.length; at += voteLimits.maxIdentities) {
    const identities = accepted.slice(at, at + voteLimits.maxIdentities)
    const range = reader.read(({ rowBlocks }) => rowBlocks.range())
    if (range === null) return
    for (const page of votePages({ from: range.tail, to: range.head }, older))
      await compareStatements(comparison, page, identities)
  }
}

async function compareStatements(
  comparison: RowVoteComparison,
  heights: Heights,
  identities: readonly string[],
): Promise<void> {
  const { parts, time } = comparison
  const request = { ...heights, identities }
  const theirs = decodeDigestsAnswer(await ask(comparison, { kind: 'digests', ...request }))
  const ours = await statementDigests({ reader: parts.reader, time }, request)
  for (const group of differingGroups({ heights, identities, ours, theirs }))
    await fetchStatements(comparison, group.identity, group.heights)
}

async function fetchStatements(
  comparison: RowVoteComparison,
  identity: string,
  { from, to }: Heights,
): Promise<void> {
  const { writer, p2p, metrics } = comparison.parts
  let first = from
  for (let page = 0; page < maxStatementPages; page++) {
    const answer = await ask(comparison, { kind: 'statements', identity, from: first, to })
    const taken = await writer.receiveRowStatements(answer)
    if (taken === null)
      return p2p.penalise(comparison.peer, 'statements about rows that do not fit')
    metrics.rowVoteExchange(taken.statements)
    const { next } = taken
    if (next === null || next <= first || next > to) return
    first = next
  }
}

function ask(
  { parts, peer, signal }: RowVoteComparison,
  request: RowVoteRequest,
): Promise<Uint8Array> {
  return parts.p2p.request(peer, 'row-votes', encodeRowVoteRequest(request), signal)
}
