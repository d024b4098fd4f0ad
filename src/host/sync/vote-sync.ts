/**
 * Makes up for heads and seals that gossip did not bring: compares with each peer what both know of the
 * accepted signers, on connect, after a pull and every minute, and fetches what differs. So Hosts with the same
 * signers end with the same votes.
 */
import type { Logger } from 'pino'
import { ServiceError } from '../../errors.ts'
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
import { groupDigests } from '../../store/vote-answers.ts'
import type { Writer } from '../apply/writer.ts'
import { headVerdict } from '../intake.ts'
import type { HostMetrics } from '../metrics.ts'

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
  readonly window: () => { readonly from: number; readonly to: number } | null
  /** Called when the writer cannot go on. */
  readonly onFatal: (error: unknown) => void
}

export interface VoteSync {
  /** Compares with every peer soon: something was pulled. */
  wake(): void
  /** Compares with every peer now: a signer was accepted. */
  start(): void
  /** Ends what is under way and waits for it. */
  close(): Promise<void>
}

const intervalMs = 60_000
/** Pause between a reason to compare and the comparison, which further reasons join. */
const wakeMs = 1_000
/** Heights of one comparison: as many digests as one answer may hold for the most signers. */
const pageHeights = 16 * groupHeights
/** Pages that are compared at once with a peer that has just connected; further ones follow one a minute. */
const firstPages = 16
/** Pages of one signer's seals of one group: nine hashes a height, and no end for who would go on for ever. */
const maxSealPages = 4
/** Peers that are compared with at a time. */
const maxPeers = 4

interface Voting {
  readonly parts: VoteSyncParts
  readonly closing: AbortController
  readonly running: Map<string, Promise<void>>
  /** Peers that have yet to be compared with, and how many pages. */
  readonly queue: Map<string, number>
  /** The next of the older pages, the newest being compared every time. */
  older: number
  timer: NodeJS.Timeout | undefined
}

/** Begins with the peers that are connected. */
export function openVoteSync(parts: VoteSyncParts): VoteSync {
  const closing = new AbortController()
  const state: Voting = {
    parts,
    closing,
    running: new Map(),
    queue: new Map(),
    older: 1,
    timer: undefined,
  }
  const compared = new Set<string>()
  const all = (pages: number): void => {
    for (const { id } of parts.p2p.peers()) enqueue(state, id, pages)
  }
  const stopListening = parts.p2p.onPeer(({ type, peer }) => {
    if (type === 'disconnected') compared.delete(peer)
    // Its heights come after the connection; until then there are only heads to ask for.
    if (type === 'connected') enqueue(state, peer, 1)
    if (type !== 'announced' || compared.has(peer)) return
    compared.add(peer)
    enqueue(state, peer, firstPages)
  })
  const everyMinute = setInterval(() => {
    state.older += 1
    all(2)
  }, intervalMs).unref()
  all(firstPages)
  return {
    start: () => all(1),
    wake: () => {
      state.timer ??= setTimeout(() => {
        state.timer = undefined
        all(1)
      }, wakeMs).unref()
    },
    close: async () => {
      stopListening()
      clearInterval(everyMinute)
      clearTimeout(state.timer)
      closing.abort(new Error('the Host is closing'))
      await Promise.all(state.running.values())
    },
  }
}

function enqueue(state: Voting, peer: string, pages: number): void {
  state.queue.set(peer, Math.max(pages, state.queue.get(peer) ?? 0))
  startNext(state)
}

function startNext(state: Voting): void {
  const { parts, closing, queue, running } = state
  for (const [peer, pages] of queue) {
    if (closing.signal.aborted || running.size >= maxPeers) return
    if (running.has(peer)) continue
    queue.delete(peer)
    const exchange = compareWith(state, peer, pages)
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

async function compareWith(state: Voting, peer: string, pages: number): Promise<void> {
  const { parts } = state
  const identities = parts.signers().slice(0, voteLimits.maxIdentities)
  if (identities.length === 0 && !parts.isAnyone) return
  await fetchHeads(state, peer, identities)
  const range = commonRange(parts, peer)
  if (range === null || identities.length === 0) return
  for (const page of pagesOf(range, pages, state.older)) {
    const theirs = decodeDigestsAnswer(
      await ask(state, peer, { kind: 'digests', ...page, identities }),
    )
    for (const { identity, group } of differing(parts, theirs, page, identities))
      await fetchSeals(state, peer, identity, clip(page, group))
  }
}

interface Heights {
  readonly from: number
  readonly to: number
}

function ask({ parts, closing }: Voting, peer: string, request: VoteRequest): Promise<Uint8Array> {
  return parts.p2p.ask(peer, 'votes', encodeVoteRequest(request), closing.signal)
}

async function fetchHeads(
  state: Voting,
  peer: string,
  identities: readonly string[],
): Promise<void> {
  const { writer, p2p, isAnyone } = state.parts
  const request = { kind: 'heads', identities: isAnyone ? [] : identities } as const
  const heads = decodeHeadsAnswer(await ask(state, peer, request))
  for (const bytes of isAnyone ? heads : heads.slice(0, identities.length)) {
    const verdict = headVerdict(await writer.receiveHead(bytes))
    if (verdict.action !== 'ignore') p2p.judge(peer, verdict)
    if (verdict.action === 'reject') return
  }
}

/** The heights that both keep. */
function commonRange({ p2p, window }: VoteSyncParts, peer: string): Heights | null {
  const own = window()
  const announced = p2p.peers().find(({ id }) => id === peer)?.announced ?? null
  if (own === null || announced === null) return null
  const from = Math.max(own.from, announced.tail)
  const to = Math.min(own.to, announced.head)
  return from <= to ? { from, to } : null
}

/** The newest page, and as many older ones as are asked for, from where the last comparison ended. */
function pagesOf({ from, to }: Heights, count: number, older: number): Heights[] {
  const end = (groupOf(to) + 1) * groupHeights - 1
  const total = Math.ceil((end - from + 1) / pageHeights)
  const first = count === 2 ? older : 1
  const indexes = Array.from({ length: Math.min(count, total) }, (_, index) =>
    index === 0 ? 0 : 1 + ((first + index - 2) % (total - 1)),
  )
  return indexes.map((index) => {
    const last = end - index * pageHeights
    return { from: Math.max(from, last - pageHeights + 1), to: Math.min(to, last) }
  })
}

/** The groups in which a peer has other seals of a signer than we have, or any that we lack. */
function differing(
  { reader }: VoteSyncParts,
  theirs: readonly GroupDigest[],
  { from, to }: Heights,
  identities: readonly string[],
): GroupDigest[] {
  const key = ({ identity, group, digest }: GroupDigest): string => `${identity} ${group} ${digest}`
  const wanted = new Set(identities)
  const ours = new Set(reader.read((snapshot) => groupDigests(snapshot, from, to, wanted)).map(key))
  return theirs.filter(
    (digest) =>
      wanted.has(digest.identity) &&
      digest.group >= groupOf(from) &&
      digest.group <= groupOf(to) &&
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
