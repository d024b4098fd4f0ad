/**
 * How the replicas of a Host reach others: by peers of their own, or through each other. Replicas that know only each
 * other get nothing from anybody, however many they are.
 */
import type { ReportingReplica } from '../observe/reporting-replicas.ts'

interface PeerReach {
  /** Replicas without a peer of use, of their own or of a replica that they are connected with. */
  readonly isolated: readonly ReportingReplica[]
  /** Replicas that have none of their own. */
  readonly indirect: readonly ReportingReplica[]
}

interface KnownPeers {
  /** Peer IDs of all replicas. */
  readonly siblings: ReadonlySet<string>
  /** Peer IDs of which no block is of use. */
  readonly useless: ReadonlySet<string>
}

export function peerReach(
  reporting: readonly ReportingReplica[],
  { siblings, useless }: KnownPeers,
): PeerReach {
  const isElsewhere = (id: string): boolean => !useless.has(id) && !siblings.has(id)
  const direct = reporting.filter(({ view }) => view.peers.some(isElsewhere))
  const reached = new Set(direct)
  const isReached = (id: string): boolean => [...reached].some(({ view }) => view.peerID === id)
  for (const _ of reporting) {
    for (const replica of reporting) if (replica.view.peers.some(isReached)) reached.add(replica)
  }
  return {
    isolated: reporting.filter((replica) => !reached.has(replica)),
    indirect: reporting.filter((replica) => reached.has(replica) && !direct.includes(replica)),
  }
}
