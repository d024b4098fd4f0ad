/** The table of connections, each from its first byte to its end. */
import type { Connection } from '@libp2p/interface'
import type { P2pLimits } from '../limits/limits.ts'
import { addressGroup } from '../peers/address-group.ts'

/** What connections have in common before and after their handshake. */
type AnyConnection = Pick<Connection, 'remoteAddr' | 'status' | 'abort'> & {
  addEventListener(type: 'close', listener: () => void): void
}

export interface TrackedConnection {
  /** See `addressGroup`. */
  readonly group: string
  /** On a clock that never jumps, in milliseconds. */
  readonly sinceMs: number
  /** Null until the handshake proves it. */
  peer: string | null
  close(reason: string): void
}

interface ConnectionTable {
  /** Lists a connection until it closes. */
  add(connection: AnyConnection): TrackedConnection
  get(connection: AnyConnection): TrackedConnection | undefined
  all(): readonly TrackedConnection[]
  /** Closes the handshakes that give way to one more from `group`. */
  makeRoom(group: string): void
}

/** `onClosed` is called with the reason why a connection was closed for another one. */
export function createConnectionTable(
  limits: Pick<P2pLimits, 'handshakesPerAddress' | 'handshakesTotal'>,
  onClosed: (reason: string) => void,
): ConnectionTable {
  const table = new Map<AnyConnection, TrackedConnection>()

  /** The handshakes that are under way, the oldest first. */
  const handshakes = (): TrackedConnection[] =>
    [...table.values()].filter(({ peer }) => peer === null)

  return {
    get: (connection) => table.get(connection),
    all: () => [...table.values()],
    add: (connection) => {
      const tracked: TrackedConnection = {
        group: addressGroup(connection.remoteAddr),
        sinceMs: performance.now(),
        peer: null,
        close: (reason) => {
          table.delete(connection)
          onClosed(reason)
          connection.abort(new Error(`no place for this connection: ${reason}`))
        },
      }
      if (connection.status === 'open') table.set(connection, tracked)
      connection.addEventListener('close', () => table.delete(connection))
      return tracked
    },
    makeRoom: (group) => {
      const neighbours = handshakes().filter((tracked) => tracked.group === group)
      if (neighbours.length >= limits.handshakesPerAddress) neighbours[0]?.close('handshakes')
      const all = handshakes()
      if (all.length < limits.handshakesTotal) return
      const crowds = [...Map.groupBy(all, (tracked) => tracked.group).values()]
      crowds.toSorted((a, b) => b.length - a.length)[0]?.[0]?.close('handshakes')
    },
  }
}
