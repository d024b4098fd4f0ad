/**
 * The connection gater: schedules handshakes, and admits or refuses a connection once its peer is known.
 * libp2p's own bounds count before that and know no configured peers, so they are switched off.
 */
import type { Connection, ConnectionGater, MultiaddrConnection } from '@libp2p/interface'
import type { P2pLimits } from '../limits/limits.ts'
import type { P2pMetrics } from '../limits/metrics.ts'
import { createRates } from '../limits/rates.ts'
import { asRemote, ofEach } from '../limits/remote.ts'
import { addressGroup } from '../peers/address-group.ts'
import type { PeerBook } from '../peers/peer-book.ts'
import { admit, type PeerConnection } from './admission.ts'
import { createConnectionTable, type TrackedConnection } from './connection-table.ts'
import { createHandshakeScheduler } from './handshake-scheduler.ts'

interface GaterParts {
  readonly book: Pick<PeerBook, 'isBanned' | 'isAddressBanned' | 'record'>
  readonly metrics: Pick<P2pMetrics, 'refusedConnections'>
  isConfigured(peer: string): boolean
}

export interface Gater {
  /** What libp2p asks at each step of a connection. */
  readonly connectionGater: ConnectionGater
  /** A connection is complete; call it for those that we dialled, too. */
  opened(connection: Connection): void
}

export function createGater(limits: P2pLimits, parts: GaterParts): Gater {
  const rates = createRates(ofEach(limits.connectionsPerSecond), {
    maxRemotes: limits.maxRemembered,
  })
  const scheduler = createHandshakeScheduler(limits.handshakesPerSecond, limits.maxRemembered)

  const refuse = (reason: string): true => {
    parts.metrics.refusedConnections.inc({ reason })
    return true
  }
  const table = createConnectionTable(limits, refuse)

  const admitInbound = async (connection: MultiaddrConnection): Promise<boolean> => {
    const group = addressGroup(connection.remoteAddr)
    if (!rates.take(asRemote(group), 1)) return refuse('rate')
    table.makeRoom(group)
    table.add(connection)
    const left = new AbortController()
    connection.addEventListener('close', () => left.abort())
    // What arrives before the handshake may begin stays with the sender.
    connection.pause()
    const mayBegin = await scheduler.schedule(group, left.signal)
    if (mayBegin) connection.resume()
    return !mayBegin
  }

  const describe = (
    tracked: TrackedConnection,
    peer: string,
  ): PeerConnection & { readonly tracked: TrackedConnection } => {
    const { verified: isVerified, score } = parts.book.record(peer)
    const { group, sinceMs } = tracked
    return {
      tracked,
      peer,
      group,
      sinceMs,
      isConfigured: parts.isConfigured(peer),
      isVerified,
      score,
    }
  }

  /** Whether a peer whose identity is proven now has to go. */
  const decide = (tracked: TrackedConnection, peer: string): boolean => {
    const newcomer = describe(tracked, peer)
    const isOutlawed = !newcomer.isConfigured && parts.book.isAddressBanned(tracked.group)
    if (parts.book.isBanned(peer) || isOutlawed) return refuse('banned')
    const connections = table
      .all()
      .flatMap((other) => (other.peer === null ? [] : [describe(other, other.peer)]))
    const admission = admit(newcomer, connections, limits)
    if (admission.refused !== null) return refuse(admission.refused)
    tracked.peer = peer
    for (const { tracked: leaving } of admission.leaving) leaving.close('evicted')
    return false
  }

  return {
    connectionGater: {
      denyDialPeer: (id) => parts.book.isBanned(id.toString()),
      denyInboundConnection: admitInbound,
      denyInboundEncryptedConnection: (id, connection) => {
        const tracked = table.get(connection)
        return tracked === undefined || decide(tracked, id.toString())
      },
    },
    opened: (connection) => {
      if (connection.direction === 'inbound') return
      const peer = connection.remotePeer.toString()
      if (decide(table.add(connection), peer)) connection.abort(new Error('no place'))
    },
  }
}
