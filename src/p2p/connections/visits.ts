/** The connections that are here, from the first byte of each to its end. */
import type { Connection } from '@libp2p/interface'
import type { P2pLimits } from '../limits/limits.ts'
import { addressGroup } from '../peers/address-group.ts'

/** What connections have in common before and after their handshake. */
export type AnyConnection = Pick<Connection, 'remoteAddr' | 'status' | 'abort'> & {
  addEventListener(type: 'close', listener: () => void): void
}

export interface Visit {
  /** See `addressGroup`. */
  readonly group: string
  /** On a clock that never jumps, in milliseconds. */
  readonly sinceMs: number
  /** Null until the handshake tells. */
  peer: string | null
  close(reason: string): void
}

export interface Visits {
  /** Lists a connection until it closes. */
  enter(connection: AnyConnection): Visit
  of(connection: AnyConnection): Visit | undefined
  all(): readonly Visit[]
  /** Closes the handshakes that give way to one more from `group`. */
  makeRoom(group: string): void
}

/** `onClosed` is told why a connection was closed for another one. */
export function createVisits(
  limits: Pick<P2pLimits, 'handshakesPerAddress' | 'handshakesTotal'>,
  onClosed: (reason: string) => void,
): Visits {
  const visits = new Map<AnyConnection, Visit>()

  /** The handshakes that are under way, the oldest first. */
  const handshakes = (): Visit[] => [...visits.values()].filter(({ peer }) => peer === null)

  return {
    of: (connection) => visits.get(connection),
    all: () => [...visits.values()],
    enter: (connection) => {
      const visit: Visit = {
        group: addressGroup(connection.remoteAddr),
        sinceMs: performance.now(),
        peer: null,
        close: (reason) => {
          visits.delete(connection)
          onClosed(reason)
          connection.abort(new Error(`no place for this connection: ${reason}`))
        },
      }
      if (connection.status === 'open') visits.set(connection, visit)
      connection.addEventListener('close', () => visits.delete(connection))
      return visit
    },
    makeRoom: (group) => {
      const neighbours = handshakes().filter((visit) => visit.group === group)
      if (neighbours.length >= limits.handshakesPerAddress) neighbours[0]?.close('handshakes')
      const all = handshakes()
      if (all.length < limits.handshakesTotal) return
      const crowds = [...Map.groupBy(all, (visit) => visit.group).values()]
      crowds.toSorted((a, b) => b.length - a.length)[0]?.[0]?.close('handshakes')
    },
  }
}
