/**
 * Makes up for heads and seals that gossip did not bring, and fetches what Hosts signed of rows, which is not gossiped:
 * compares with each peer what both know of the accepted signers and Hosts, on connect, after a pull and every minute,
 * and fetches what differs. So Hosts that accept the same ones end with the same votes.
 */
import type { Logger } from 'pino'
import { ServiceError } from '../../errors.ts'
import type { P2p } from '../../p2p/p2p.ts'
import { createShareOfTime, type ShareOfTime } from '../../share-of-time.ts'
import { compareRowVotes, type RowVoteComparisonParts } from './row-vote-comparison.ts'
import { compareVotes, type VoteComparisonParts } from './vote-comparison.ts'
import type { OlderPages } from './vote-pages.ts'

interface VoteSyncParts extends VoteComparisonParts, RowVoteComparisonParts {
  readonly log: Logger
  readonly metrics: VoteComparisonParts['metrics'] & RowVoteComparisonParts['metrics']
  readonly writer: VoteComparisonParts['writer'] & RowVoteComparisonParts['writer']
  readonly p2p: Pick<P2p, 'request' | 'applyVerdict' | 'peers' | 'onPeer' | 'penalise'>
  /** Called when the writer cannot go on. */
  readonly onFatal: (error: unknown) => void
}

interface VoteSyncOptions {
  /** Pause between two comparisons with a peer, in milliseconds. Default a minute. */
  readonly everyMs?: number
}

interface VoteSync {
  /** Compares with every peer soon: something was pulled, or a Host accepted. */
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
/** Configured peers that are compared with at a time, and as many strangers beside them. */
const maxPeers = 4
/** How long a comparison with a stranger may take; what it brought until then stays. */
const strangerMs = 60_000

interface Voting {
  readonly parts: VoteSyncParts
  readonly closing: AbortController
  readonly running: Map<string, Exchange>
  /** Peers that have yet to be compared with, and over which older pages. */
  readonly queue: Map<string, OlderPages>
  /** Bounds the time that comparing takes. */
  readonly time: ShareOfTime
  timer: NodeJS.Timeout | undefined
}

/** A comparison with one peer. */
interface Exchange {
  readonly isConfigured: boolean
  /** Resolves when it has ended. */
  readonly ended: Promise<void>
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
  let turn = 0
  const inTurn = setInterval(() => {
    all({ first: firstPages.count + turn, count: 1 })
    turn += 1
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
      await Promise.all([...state.running.values()].map(({ ended }) => ended))
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
  const configured = new Set(
    parts.p2p.peers().flatMap(({ id, bootstrap }) => (bootstrap ? [id] : [])),
  )
  for (const [peer, older] of queue) {
    if (closing.signal.aborted) return
    const isConfigured = configured.has(peer)
    const beside = [...running.values()].filter((other) => other.isConfigured === isConfigured)
    if (running.has(peer) || beside.length >= maxPeers) continue
    queue.delete(peer)
    running.set(peer, startExchange(state, peer, isConfigured, older))
  }
}

function startExchange(
  state: Voting,
  peer: string,
  isConfigured: boolean,
  older: OlderPages,
): Exchange {
  const { parts, time, closing, running } = state
  const signal = isConfigured
    ? closing.signal
    : AbortSignal.any([closing.signal, AbortSignal.timeout(strangerMs)])
  const comparison = { parts, time, peer, signal }
  const onFailure = (error: unknown): void => {
    if (!closing.signal.aborted && error !== signal.reason) failed(parts, peer, error)
  }
  const ended = compareVotes(comparison, older)
    .catch(onFailure)
    .then(() => compareRowVotes(comparison, older))
    .catch(onFailure)
    .finally(() => {
      running.delete(peer)
      startNext(state)
    })
  return { isConfigured, ended }
}

function failed(parts: VoteSyncParts, peer: string, error: unknown): void {
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
