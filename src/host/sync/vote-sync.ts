/**
 * Makes up for heads and seals that gossip did not bring: compares with each peer what both know of the
 * accepted signers, on connect, after a pull and every minute, and fetches what differs. So Hosts with the same
 * signers end with the same votes.
 */
import type { Logger } from 'pino'
import { ServiceError } from '../../errors.ts'
import { createShareOfTime, type ShareOfTime } from '../../mesh/share-of-time.ts'
import { groupDigests, type Heights } from '../../mesh/vote-answers.ts'
import type { P2p } from '../../p2p/p2p.ts'
import {
  decodeDigestsAnswer,
  decodeHeadsAnswer,
  encodeVoteRequest,
  type GroupDigest,
  groupHeights,
  groupOf,
  type SealPlace,
  type VoteRequest,
  voteLimits,
} from '../../primitives/vote-exchange.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Writer } from '../apply/writer.ts'
import { headVerdict } from '../intake.ts'
import type { HostMetrics } from '../metrics.ts'
import { type OlderPages, votePages } from './vote-pages.ts'

export interface VoteSyncParts {
  readonly log: Logger
  readonly metrics: Pick<HostMetrics, 'voteExchange'>
  readonly p2p: Pick<P2p, 'ask' | 'judge' | 'peers' | 'onPeer' | 'penalise'>
  readonly reader: StoreReader
  readonly writer: Pick<Writer, 'receiveHead' | 'receiveSeals'>
  /** The accepted signers; those that were heard where everybody is accepted. */
  readonly signers: () => readonly string[]
  /** Whether heads of any signer are wanted. */
  readonly isAnyone: boolean
  /** Heights over which votes are compared, both included; null while there are none. */
  readonly window: () => Heights | null
  /** Called when the writer cannot go on. */
  readonly onFatal: (error: unknown) => void
}

export interface VoteSyncOptions {
  /** Pause between two comparisons with a peer, in milliseconds. Default a minute. */
  readonly everyMs?: number
}

export interface VoteSync {
  /** Compares with every peer soon: something was pulled. */
  wake(): void
  /** Compares with every peer now: a signer was accepted. */
  start(): void
  /** Ends what is under way and waits for it. */
  close(): Promise<void>
}

/** Pause between a reason to compare and the comparison, which further reasons join. */
const wakeMs = 1_000
/** Older pages that are compared where much may be new; further ones follow one a minute. */
const firstPages: OlderPages = { first: 0, count: 15 }
const newestOnly: OlderPages = { first: 0, count: 0 }
/** Pages of one signer's seals of one group: nine hashes a height, and no end for who would go on for ever. */
const maxSealPages = 4
/** Peers that are compared with at a time. */
const maxPeers = 4

interface Voting {
  readonly parts: VoteSyncParts
  readonly closing: AbortController
  readonly running: Map<string, Promise<void>>
  /** Peers that have yet to be compared with, and over which older pages. */
  readonly queue: Map<string, OlderPages>
  /** Bounds the time that comparing takes. */
  readonly time: ShareOfTime
  timer: NodeJS.Timeout | undefined
}

/** Begins with the peers that are connected. */
export function openVoteSync(
  { everyMs = 60_000 }: VoteSyncOptions,
  parts: VoteSyncParts,
): VoteSync {
  const closing = new AbortController()
  const state: Voting = {
    parts,
    closing,
    running: new Map(),
    queue: new Map(),
    time: createShareOfTime(),
    timer: undefined,
  }
  const all = (older: OlderPages): void => {
    for (const { id } of parts.p2p.peers()) enqueue(state, id, older)
  }
  const stopListening = parts.p2p.onPeer(({ type, peer }) => {
    if (type === 'connected') enqueue(state, peer, firstPages)
  })
  let turns = 0
  const inTurn = setInterval(() => {
    all({ first: firstPages.count + turns, count: 1 })
    turns += 1
  }, everyMs).unref()
  all(firstPages)
  return {
    start: () => all(newestOnly),
    wake: () => {
      state.timer ??= setTimeout(() => {
        state.timer = undefined
        all(firstPages)
      }, wakeMs).unref()
    },
    close: async () => {
      stopListening()
      clearInterval(inTurn)
      clearTimeout(state.timer)
      closing.abort(new Error('the Host is closing'))
      await Promise.all(state.running.values())
    },
  }
}

function enqueue(state: Voting, peer: string, older: OlderPages): void {
  const before = state.queue.get(peer)
  state.queue.set(peer, before !== undefined && before.count > older.count ? before : older)
  startNext(state)
}

function startNext(state: Voting): void {
  const { parts, closing, queue, running } = state
  for (const [peer, older] of queue) {
    if (closing.signal.aborted || running.size >= maxPeers) return
    if (running.has(peer)) continue
    queue.delete(peer)
    const exchange = compareWith(state, peer, older)
      .catch((error: unknown) => failed(parts, peer, error, closing.signal))
      .finally(() => {
        running.delete(peer)
        startNext(state)
      })
    running.set(peer, exchange)
  }
}

function failed(parts: VoteSyncParts, peer: string, error: unknown, signal: AbortSignal): void {
  if (signal.aborted) return
  const isPeers = error instanceof ServiceError && peerErrors.has(error.code)
  if (!isPeers) {
    parts.onFatal(error)
    return
  }
  parts.log.debug({ err: error, peer }, 'votes could not be compared with a peer')
  if (error.code === 'PRIMITIVES_MESSAGE_MALFORMED')
    parts.p2p.penalise(peer, 'an answer about votes that cannot be read')
}

/** Failures of a peer, which is asked again a minute later. */
const peerErrors: ReadonlySet<string> = new Set(['P2P_ASK_FAILED', 'PRIMITIVES_MESSAGE_MALFORMED'])

async function compareWith(state: Voting, peer: string, older: OlderPages): Promise<void> {
  const { parts } = state
  const signers = parts.signers()
  if (parts.isAnyone) await fetchHeads(state, peer, [])
  for (let at = 0; at < signers.length; at += voteLimits.maxIdentities) {
    const identities = signers.slice(at, at + voteLimits.maxIdentities)
    if (!parts.isAnyone) await fetchHeads(state, peer, identities)
    const range = parts.window()
    if (range === null) continue
    for (const page of votePages(range, older)) await compareSeals(state, peer, page, identities)
  }
}

async function compareSeals(
  state: Voting,
  peer: string,
  page: Heights,
  identities: readonly string[],
): Promise<void> {
  const request = { kind: 'digests', ...page, identities } as const
  const theirs = decodeDigestsAnswer(await ask(state, peer, request))
  for (const { identity, group } of await differing(state, theirs, page, identities))
    await fetchSeals(state, peer, identity, clip(page, group))
}

function ask({ parts, closing }: Voting, peer: string, request: VoteRequest): Promise<Uint8Array> {
  return parts.p2p.ask(peer, 'votes', encodeVoteRequest(request), closing.signal)
}

/** Of all signers where none is named. */
async function fetchHeads(
  state: Voting,
  peer: string,
  identities: readonly string[],
): Promise<void> {
  const { writer, p2p } = state.parts
  const heads = decodeHeadsAnswer(await ask(state, peer, { kind: 'heads', identities }))
  const most = identities.length === 0 ? heads.length : identities.length
  for (const bytes of heads.slice(0, most)) {
    const verdict = headVerdict(await writer.receiveHead(bytes))
    if (verdict.action !== 'ignore') p2p.judge(peer, verdict)
    if (verdict.action === 'reject') return
  }
}

/** The groups in which a peer has other seals of a signer than we have, or any that we lack. */
async function differing(
  { parts: { reader }, time }: Voting,
  theirs: readonly GroupDigest[],
  heights: Heights,
  identities: readonly string[],
): Promise<GroupDigest[]> {
  const key = ({ identity, group, digest }: GroupDigest): string => `${identity} ${group} ${digest}`
  const wanted = new Set(identities)
  const ours = new Set((await groupDigests({ reader, time }, heights, identities)).map(key))
  return theirs.filter(
    (digest) =>
      wanted.has(digest.identity) &&
      digest.group >= groupOf(heights.from) &&
      digest.group <= groupOf(heights.to) &&
      !ours.has(key(digest)),
  )
}

function clip({ from, to }: Heights, group: number): Heights {
  const first = group * groupHeights
  return { from: Math.max(from, first), to: Math.min(to, first + groupHeights - 1) }
}

async function fetchSeals(
  state: Voting,
  peer: string,
  identity: string,
  heights: Heights,
): Promise<void> {
  const { writer, p2p, metrics } = state.parts
  let after: SealPlace | null = null
  for (let page = 0; page < maxSealPages; page++) {
    const request: VoteRequest = { kind: 'seals', identity, ...heights, after }
    const taken = await writer.receiveSeals(await ask(state, peer, request))
    if (taken === null) return p2p.penalise(peer, 'seals that do not fit')
    metrics.voteExchange(taken.seals)
    if (!taken.isMore || taken.last === null) return
    after = taken.last
  }
}
