/**
 * Opens the streams on which gossipsub sends. It would open them one after the other, and wait ten
 * seconds for each peer that does not answer, while others wait to hear that we are subscribed; here
 * they are opened all at a time, and gossipsub gets those that are ready. When such a stream ends, one
 * is opened on another connection of the peer, or on the same after a while.
 */
import type { GossipSubComponents } from '@libp2p/gossipsub'
import type { Connection, Stream } from '@libp2p/interface'
import { gossipStreams } from './unread.ts'

type Registrar = GossipSubComponents['registrar']
type Topology = Parameters<Registrar['register']>[1]

interface OutboundParts {
  /** How long opening a stream may take, in milliseconds; twice that long it is not tried again. */
  readonly timeoutMs: number
  /** The open connections. */
  connections(): readonly Connection[]
}

export interface Outbound {
  /** The registrar, but with peers introduced to gossipsub once a stream to them is open. */
  register(inner: Registrar): Registrar
  /** A peer gossips to us: it gets a stream, unless it has one. */
  open(connection: Connection): void
  /** Opens streams to such peers as have lost theirs; call it now and then. */
  renew(): void
  /** The connection for gossipsub, which cannot open a stream on it. */
  silent(connection: Connection): Connection
}

export function createOutbound({ timeoutMs, connections }: OutboundParts): Outbound {
  const protocols: string[] = []
  /** When to try next, on each connection of a peer that gossips. */
  const dueAt = new WeakMap<Connection, number>()
  /** Peers to whom a stream is being opened. */
  const opening = new Set<string>()
  let topology: Topology | undefined

  const others = (connection: Connection): Connection[] =>
    connections().filter(
      (other) => other.remotePeer.equals(connection.remotePeer) && other !== connection,
    )

  const openOnOthers = (connection: Connection): void => {
    for (const other of others(connection)) open(other)
  }

  const introduce = (connection: Connection, stream: Stream): void => {
    stream.addEventListener('close', () => openOnOthers(connection))
    topology?.onConnect?.(
      connection.remotePeer,
      withStream(connection, async () => stream),
    )
  }

  const open = (connection: Connection): void => {
    const peer = connection.remotePeer.toString()
    const hasOne = [connection, ...others(connection)].some(
      (each) => gossipStreams(each).length > 0,
    )
    const due = dueAt.get(connection) ?? 0
    dueAt.set(connection, due)
    const isLater = performance.now() < due
    if (hasOne || isLater || opening.has(peer) || connection.status !== 'open') return
    dueAt.set(connection, performance.now() + 2 * timeoutMs)
    opening.add(peer)
    connection
      .newStream(protocols, { signal: AbortSignal.timeout(timeoutMs) })
      .finally(() => opening.delete(peer))
      .then(
        (stream) => introduce(connection, stream),
        () => openOnOthers(connection),
      )
  }

  return {
    open,
    renew: () => {
      for (const connection of connections()) if (dueAt.has(connection)) open(connection)
    },
    silent: (connection) =>
      withStream(connection, () => Promise.reject(new Error('its stream is opened elsewhere'))),
    register: (inner) =>
      Object.create(inner, {
        register: {
          value: (protocol: string, original: Topology) => {
            protocols.push(protocol)
            topology = original
            return inner.register(protocol, {
              ...original,
              onConnect: (_, connection) => open(connection),
            })
          },
        },
      }),
  }
}

function withStream(connection: Connection, newStream: () => Promise<Stream>): Connection {
  return Object.create(connection, { newStream: { value: newStream } })
}
