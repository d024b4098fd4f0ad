/**
 * Notices peers that do not read their gossip, which gossipsub leaves alone. Cut off, such a
 * peer can connect again and catch up; else it would never get gossip again, or hold our memory.
 */
import type { Connection, Stream } from '@libp2p/interface'
import type { Fault } from '../limits/fault.ts'
import type { P2pLimits } from '../limits/limits.ts'
import type { Remote } from '../limits/remote.ts'

export interface UnreadParts {
  remoteOf(peer: string): Remote
  onFault(peer: string, fault: Fault, detail: string): void
  /** Ends all connections to a peer. */
  disconnect(peer: string, reason: string): void
  /** The open connections. */
  connections(): readonly Connection[]
}

/**
 * The function that checks; call it regularly, and when something was published. A stream that
 * gossipsub abandons says so when it closes; of strangers those with the most unread bytes go until
 * the sum is below the limit.
 */
export function createUnreadWatch(
  limits: Pick<P2pLimits, 'strangersBacklogBytes'>,
  parts: UnreadParts,
): () => void {
  const watched = new WeakSet<Stream>()

  const cutOff = (peer: string): void => {
    parts.onFault(peer, 'unread gossip', 'too many bytes are queued for it')
    parts.disconnect(peer, 'unread gossip')
  }

  const watch = (peer: string, stream: Stream): void => {
    if (watched.has(stream)) return
    watched.add(stream)
    stream.addEventListener('close', (event) => {
      if (event.error?.name === 'StreamBufferError') cutOff(peer)
    })
  }

  return () => {
    const unread: { readonly peer: string; readonly bytes: number }[] = []
    for (const connection of parts.connections()) {
      const peer = connection.remotePeer.toString()
      for (const stream of gossipStreams(connection)) {
        watch(peer, stream)
        if (!parts.remoteOf(peer).isConfigured)
          unread.push({ peer, bytes: stream.writeBufferLength })
      }
    }
    let total = unread.reduce((sum, { bytes }) => sum + bytes, 0)
    for (const { peer, bytes } of unread.toSorted((a, b) => b.bytes - a.bytes)) {
      if (total <= limits.strangersBacklogBytes) return
      total -= bytes
      cutOff(peer)
    }
  }
}

/** The streams on which we send gossip to the peer; one, as a rule. */
export function gossipStreams({ streams }: Connection): Stream[] {
  return streams.filter(
    ({ direction, protocol }) => direction === 'outbound' && protocol.startsWith('/meshsub/'),
  )
}
