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

/** What connections have in common before and after their handshake. */
type AnyConnection = Pick<Connection, 'remoteAddr' | 'status' | 'abort'> & {
  addEventListener(type: 'close', listener: () => void): void
}

/** A connection, from its first byte to its end. */
interface Visit {
  readonly group: string
  readonly sinceMs: number
  /** Null until the handshake tells. */
  peer: string | null
  close(reason: string): void
}

export function createDoorman(limits: P2pLimits, parts: DoormanParts): Doorman {
  const visits = new Map<object, Visit>()
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

  const enter = (connection: AnyConnection): Visit => {
    const visit: Visit = {
      group: addressGroup(connection.remoteAddr),
      sinceMs: performance.now(),
      peer: null,
      close: (reason) => {
        visits.delete(connection)
        refuse(reason)
        connection.abort(new Error(`no place for this connection: ${reason}`))
      },
    }
    if (connection.status === 'open') visits.set(connection, visit)
    connection.addEventListener('close', () => visits.delete(connection))
    return visit
  }

  /** The handshakes that are under way, the oldest first. */
  const handshakes = (): Visit[] => [...visits.values()].filter(({ peer }) => peer === null)

  /** Those that give way to one more from `group`. */
  const makeRoom = (group: string): void => {
    const neighbours = handshakes().filter((visit) => visit.group === group)
    if (neighbours.length >= limits.handshakesPerAddress) neighbours[0]?.close('handshakes')
    const all = handshakes()
    if (all.length < limits.handshakesTotal) return
    const crowds = [...Map.groupBy(all, (visit) => visit.group).values()]
    crowds.toSorted((a, b) => b.length - a.length)[0]?.[0]?.close('handshakes')
  }

  const knock = async (connection: MultiaddrConnection): Promise<boolean> => {
    const group = addressGroup(connection.remoteAddr)
    if (!rates.take({ key: group, isConfigured: false }, 1)) return refuse('rate')
    makeRoom(group)
    enter(connection)
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
    const guests = [...visits.values()].flatMap((other) =>
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
        const visit = visits.get(connection)
        return visit === undefined || decide(visit, id.toString())
      },
    },
    opened: (connection) => {
      if (connection.direction === 'inbound') return
      const peer = connection.remotePeer.toString()
      if (decide(enter(connection), peer)) connection.abort(new Error('no place'))
    },
  }
}
