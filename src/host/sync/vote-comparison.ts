/**
 * One comparison with one peer: the heads of the accepted signers, digests of their seals over pages of
 * heights, and the seals of each group of heights that differs.
 */
import type { Heights } from '../../mesh/vote-groups.ts'
import { groupDigests } from '../../mesh/vote-responder.ts'
import type { P2p } from '../../p2p/p2p.ts'
import {
  decodeDigestsAnswer,
  decodeHeadsAnswer,
  encodeVoteRequest,
  type SealPlace,
  type VoteRequest,
  voteLimits,
} from '../../primitives/vote-exchange.ts'
import type { ShareOfTime } from '../../share-of-time.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Writer } from '../apply/writer.ts'
import type { HostMetrics } from '../metrics.ts'
import { differingGroups } from './differing-groups.ts'
import { headVerdict } from './intake.ts'
import { type OlderPages, votePages } from './vote-pages.ts'

export interface VoteComparisonParts {
  readonly metrics: Pick<HostMetrics, 'voteExchange'>
  readonly p2p: Pick<P2p, 'request' | 'applyVerdict' | 'penalise'>
  readonly reader: StoreReader
  readonly writer: Pick<Writer, 'receiveHead' | 'receiveSeals'>
  /** The accepted signers; those that were heard where everybody is accepted. */
  readonly signers: () => readonly string[]
  /** Whether heads of any signer are wanted. */
  readonly isAnyone: boolean
  /** Heights over which votes are compared, both included; null while there are none. */
  readonly window: () => Heights | null
}

interface VoteComparison {
  readonly parts: VoteComparisonParts
  readonly peer: string
  /** Bounds the time that comparing takes, with all peers together. */
  readonly time: ShareOfTime
  readonly signal: AbortSignal
}

/** Pages of one signer's seals of one group: nine hashes a height, and no end for who would go on for ever. */
const maxSealPages = 4

/**
 * Fetches what the peer has and we have not.
 *
 * @throws ServiceError `P2P_ASK_FAILED` where the peer does not answer, `PRIMITIVES_MESSAGE_MALFORMED` where it
 * answers what cannot be read; anything that the writer rejects with.
 */
export async function compareVotes(comparison: VoteComparison, older: OlderPages): Promise<void> {
  const { parts } = comparison
  const signers = parts.signers()
  if (parts.isAnyone) await fetchHeads(comparison, [])
  for (let at = 0; at < signers.length; at += voteLimits.maxIdentities) {
    const identities = signers.slice(at, at + voteLimits.maxIdentities)
    if (!parts.isAnyone) await fetchHeads(comparison, identities)
    const range = parts.window()
    if (range === null) continue
    for (const page of votePages(range, older)) await compareSeals(comparison, page, identities)
  }
}

async function compareSeals(
  comparison: VoteComparison,
  page: Heights,
  identities: readonly string[],
): Promise<void> {
  const request = { kind: 'digests', ...page, identities } as const
  const theirs = decodeDigestsAnswer(await ask(comparison, request))
  const { parts, time } = comparison
  const ours = await groupDigests({ reader: parts.reader, time }, page, identities)
  for (const { identity, heights } of differingGroups({ heights: page, identities, ours, theirs }))
    await fetchSeals(comparison, identity, heights)
}

function ask({ parts, peer, signal }: VoteComparison, request: VoteRequest): Promise<Uint8Array> {
  return parts.p2p.request(peer, 'votes', encodeVoteRequest(request), signal)
}

/** Of all signers where none is named. */
async function fetchHeads(
  comparison: VoteComparison,
  identities: readonly string[],
): Promise<void> {
  const { writer, p2p } = comparison.parts
  const heads = decodeHeadsAnswer(await ask(comparison, { kind: 'heads', identities }))
  const most = identities.length === 0 ? heads.length : identities.length
  for (const bytes of heads.slice(0, most)) {
    const verdict = headVerdict(await writer.receiveHead(bytes))
    if (verdict.action !== 'ignore') p2p.applyVerdict(comparison.peer, verdict)
    if (verdict.action === 'reject') return
  }
}

async function fetchSeals(
  comparison: VoteComparison,
  identity: string,
  heights: Heights,
): Promise<void> {
  const { writer, p2p, metrics } = comparison.parts
  let after: SealPlace | null = null
  for (let page = 0; page < maxSealPages; page++) {
    const request: VoteRequest = { kind: 'seals', identity, ...heights, after }
    const taken = await writer.receiveSeals(await ask(comparison, request))
    if (taken === null) return p2p.penalise(comparison.peer, 'seals that do not fit')
    metrics.voteExchange(taken.seals)
    if (!taken.isMore || taken.last === null) return
    after = taken.last
  }
}
