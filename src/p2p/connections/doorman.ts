/**
 * Stands between the network and the node: lets handshakes begin in turn, and decides once they tell
 * who it is. libp2p's own bounds count before anybody is known and know no configured peers, so they
 * are switched off.
 */
import type { Connection, ConnectionGater, MultiaddrConnection } from '@libp2p/interface'
import type { P2pLimits } from '../limits/limits.ts'
import type { P2pMetrics } from '../limits/metrics.ts'
import { createRates } from '../limits/rates.ts'
import { addressGroup } from '../peers/address-group.ts'
import type { PeerBook } from '../peers/peer-book.ts'
import { admit, type Guest } from './admission.ts'
import { createTurns } from './turns.ts'
import { createVisits, type Visit } from './visits.ts'

export interface DoormanParts {
  readonly book: Pick<PeerBook, 'isBanned' | 'isAddressBanned' | 'record'>
  readonly metrics: Pick<P2pMetrics, 'refusedConnections'>
  isConfigured(peer: string): boolean
}

export interface Doorman {
  /** What libp2p asks at each step of a connection. */
  readonly gater: ConnectionGater
  /** A connection is complete; call it for those that we dialled, too. */
  opened(connection: Connection): void
}

export function createDoorman(limits: P2pLimits, parts: DoormanParts): Doorman {
  const perSecond = limits.connectionsPerSecond
  const rates = createRates(
    { configured: perSecond, address: perSecond, strangers: Number.POSITIVE_INFINITY },
    { maxParties: limits.maxRemembered },
  )
  const turns = createTurns(limits.handshakesPerSecond, limits.maxRemembered)

  const refuse = (reason: string): true => {
    parts.metrics.refusedConnections.inc({ reason })
    return true
  }
  const visits = createVisits(limits, refuse)

  const knock = async (connection: MultiaddrConnection): Promise<boolean> => {
    const group = addressGroup(connection.remoteAddr)
    if (!rates.take({ key: group, isConfigured: false }, 1)) return refuse('rate')
    visits.makeRoom(group)
    visits.enter(connection)
    const left = new AbortController()
    connection.addEventListener('close', () => left.abort())
    // What arrives before its turn stays with the sender.
    connection.pause()
    const isTurn = await turns.take(group, left.signal)
    if (isTurn) connection.resume()
    return !isTurn
  }

  const asGuest = (visit: Visit, peer: string): Guest & { readonly visit: Visit } => {
    const { verified: isVerified, score } = parts.book.record(peer)
    const { group, sinceMs } = visit
    return {
      visit,
      peer,
      group,
      sinceMs,
      isConfigured: parts.isConfigured(peer),
      isVerified,
      score,
    }
  }

  /** Whether a peer whose identity is proven now has to go. */
  const decide = (visit: Visit, peer: string): boolean => {
    const newcomer = asGuest(visit, peer)
    const isOutlawed = !newcomer.isConfigured && parts.book.isAddressBanned(visit.group)
    if (parts.book.isBanned(peer) || isOutlawed) return refuse('banned')
    const guests = visits
      .all()
      .flatMap((other) =>
        other === visit || other.peer === null ? [] : [asGuest(other, other.peer)],
      )
    const admission = admit(newcomer, guests, limits)
    if (admission.refused !== null) return refuse(admission.refused)
    visit.peer = peer
    for (const { visit: leaving } of admission.leaving) leaving.close('evicted')
    return false
  }

  return {
    gater: {
      denyDialPeer: (id) => parts.book.isBanned(id.toString()),
      denyInboundConnection: knock,
      denyInboundEncryptedConnection: (id, connection) => {
        const visit = visits.of(connection)
        return visit === undefined || decide(visit, id.toString())
      },
    },
    opened: (connection) => {
      if (connection.direction === 'inbound') return
      const peer = connection.remotePeer.toString()
      if (decide(visits.enter(connection), peer)) connection.abort(new Error('no place'))
    },
  }
}
