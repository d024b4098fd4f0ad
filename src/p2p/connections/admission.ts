/**
 * Connection admission: a pure decision over the connections that are open. Configured peers always
 * get in. Strangers share what is left by address, so that no few addresses can have it all.
 */
import type { P2pLimits } from '../limits/limits.ts'

/** A connection and what is known of its peer. */
export interface PeerConnection {
  readonly peer: string
  /** See `addressGroup`. */
  readonly group: string
  readonly isConfigured: boolean
  /** True once a message of it was accepted. */
  readonly isVerified: boolean
  /** From 0 down to the ban threshold. */
  readonly score: number
  /** When the connection was made, on any clock. */
  readonly sinceMs: number
}

/** Why a stranger gets no connection: its address has its share, or there is none left for it. */
type RejectionReason = 'address' | 'full'

/** `leaving` make room for the connection that is admitted. */
type Admission<G extends PeerConnection> =
  | { readonly refused: RejectionReason }
  | { readonly refused: null; readonly leaving: readonly G[] }

type AdmissionLimits = Pick<
  P2pLimits,
  'maxConnections' | 'reservedConnections' | 'connectionsPerAddress' | 'connectionsPerPeer'
>

/** Decides about one more connection beside these. */
export function admit<G extends PeerConnection>(
  newcomer: PeerConnection,
  connections: readonly G[],
  limits: AdmissionLimits,
): Admission<G> {
  const replaced = replacedBy(newcomer, connections, limits)
  const others = connections.filter((connection) => !replaced.includes(connection))
  const strangers = others.filter(({ isConfigured }) => !isConfigured)
  const isFull = others.length >= limits.maxConnections
  if (newcomer.isConfigured) {
    return { refused: null, leaving: [...replaced, ...(isFull ? leastUseful(strangers) : [])] }
  }
  const neighbours = strangers.filter(({ group }) => group === newcomer.group).length
  if (neighbours >= limits.connectionsPerAddress) return { refused: 'address' }
  const places = limits.maxConnections - limits.reservedConnections
  if (!isFull && strangers.length < places) return { refused: null, leaving: replaced }
  const crowd = largestCrowd(strangers)
  if (crowd.length <= neighbours + 1) return { refused: 'full' }
  return { refused: null, leaving: [...replaced, ...leastUseful(crowd)] }
}

/** The oldest connections of the newcomer's own, where it has as many as it may: they may be dead. */
function replacedBy<G extends PeerConnection>(
  newcomer: PeerConnection,
  connections: readonly G[],
  { connectionsPerPeer }: AdmissionLimits,
): G[] {
  const own = connections.filter(({ peer }) => peer === newcomer.peer)
  const tooMany = Math.max(0, own.length + 1 - connectionsPerPeer)
  return own.toSorted((a, b) => a.sinceMs - b.sinceMs).slice(0, tooMany)
}

function largestCrowd<G extends PeerConnection>(strangers: readonly G[]): readonly G[] {
  const crowds = Map.groupBy(strangers, ({ group }) => group)
  return [...crowds.values()].reduce(
    (largest, crowd) => (crowd.length > largest.length ? crowd : largest),
    [],
  )
}

/** All connections of the stranger of whom nothing was accepted, else with the lowest score, else the newest. */
function leastUseful<G extends PeerConnection>(strangers: readonly G[]): readonly G[] {
  const [worst] = strangers.toSorted(
    (a, b) =>
      Number(a.isVerified) - Number(b.isVerified) || a.score - b.score || b.sinceMs - a.sinceMs,
  )
  return strangers.filter(({ peer }) => peer === worst?.peer)
}
