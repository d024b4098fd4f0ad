/**
 * What is known about each peer: its score, its bans and what it says it can serve. Everything that
 * a peer does well or badly, by gossip or by pull, ends up here, and here it is decided to cut it off.
 */
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Logger } from 'pino'
import { type Fault, mishaps } from '../limits/fault.ts'
import type { P2pLimits } from '../limits/limits.ts'
import type { P2pMetrics } from '../limits/metrics.ts'
import { createAnnouncements, type Range } from './announcements.ts'
import type { KnownAddresses } from './known-addresses.ts'
import { createScoreTable } from './score.ts'
import type { PeerVerdict } from './verdict.ts'

/** `connected` comes when the peer's protocols are known, `announced` when its heights change. */
export interface PeerEvent {
  readonly type: 'connected' | 'announced' | 'disconnected'
  readonly peer: string
  readonly announced: Range | null
}

/** What the book says about one peer. */
export interface PeerRecord {
  /** What it says it can serve, or a block that came from it since; null until it said so. */
  readonly announced: Range | null
  /** What it said last itself. */
  readonly lastAnnouncement: Range | null
  /** True once a block of it was accepted; only then its heights count. */
  readonly verified: boolean
  /** From 0 down to the ban threshold. */
  readonly score: number
}

interface PeerBookParts {
  readonly log: Logger
  readonly metrics: Pick<P2pMetrics, 'faults' | 'bans'>
  readonly knownAddresses: KnownAddresses
  /** Ends all connections to a peer. */
  disconnect(peer: string, reason: string): void
}

export interface PeerBook {
  record(peer: string): PeerRecord
  /** A fault of a stranger counts against its address too, unless it may be a mishap. */
  fault(peer: string, fault: Fault, detail: string): void
  verdict(peer: string, verdict: PeerVerdict): void
  /** The peer's own word on its heights. */
  status(peer: string, status: Range | null): void
  /** A connection opened. */
  arrived(peer: string, address: Multiaddr): void
  /** The peer serves our network. Also called for each further connection; only the first counts. */
  connected(peer: string): void
  disconnected(peer: string): void
  /** Connected peers that serve blocks of our network. */
  serving(): readonly string[]
  /** True for a banned peer. */
  isBanned(peer: string): boolean
  /** True while strangers from an address are not let in; see `addressGroup` for the key. */
  isAddressBanned(key: string): boolean
  bans(): number
  addressBans(): number
  /** Highest height announced by connected, verified peers. */
  highestAnnounced(): number | null
  onPeer(listener: (event: PeerEvent) => void): () => void
}

export function createPeerBook(limits: P2pLimits, parts: PeerBookParts): PeerBook {
  const { log, metrics, knownAddresses } = parts
  const scores = createScoreTable(limits)
  const announcements = createAnnouncements(limits.maxRemembered)
  const listeners = createListeners(log)
  const serving = new Set<string>()

  const emit = (type: PeerEvent['type'], peer: string): void =>
    listeners.emit({ type, peer, announced: announcements.of(peer) })

  const cutOff = (peer: string): void => {
    announcements.distrust(peer)
    parts.disconnect(peer, 'banned')
  }

  const addresses = createAddressScores(limits, { log, knownAddresses, cutOff })

  const fault = (peer: string, kind: Fault, detail: string): void => {
    if (scores.isBanned(peer)) return
    const { score, banned } = scores.fault(peer, kind)
    metrics.faults.inc({ fault: kind })
    log.warn({ peer, fault: kind, detail, score }, 'peer fault')
    if (banned) {
      metrics.bans.inc()
      log.warn({ peer, reason: kind, banMs: limits.banMs }, 'peer disconnected and banned')
      cutOff(peer)
    }
    addresses.fault(peer, kind)
  }

  const accepted = (peer: string, height: number | undefined): void => {
    scores.honest(peer)
    announcements.verify(peer)
    if (height !== undefined && announcements.raise(peer, height)) emit('announced', peer)
  }

  return {
    record: (peer) => ({
      announced: announcements.of(peer),
      lastAnnouncement: announcements.lastAnnouncement(peer),
      verified: announcements.isVerified(peer),
      score: scores.score(peer),
    }),
    fault,
    verdict: (peer, verdict) => {
      if (verdict.action === 'accept') accepted(peer, verdict.height)
      else if (verdict.action === 'reject') fault(peer, 'rejected message', verdict.reason)
      else log.debug({ peer, reason: verdict.reason }, 'message ignored')
    },
    status: (peer, status) => {
      if (announcements.announce(peer, status)) emit('announced', peer)
    },
    arrived: (peer, address) => {
      knownAddresses.connected(peer, address)
      announcements.connected(peer)
    },
    connected: (peer) => {
      if (serving.has(peer) || !knownAddresses.isConnected(peer)) return
      serving.add(peer)
      log.info({ peer }, 'peer connected')
      emit('connected', peer)
    },
    disconnected: (peer) => {
      knownAddresses.disconnected(peer)
      announcements.disconnected(peer)
      if (!serving.delete(peer)) return
      log.info({ peer }, 'peer disconnected')
      emit('disconnected', peer)
    },
    serving: () => [...serving],
    isBanned: scores.isBanned,
    isAddressBanned: addresses.isBanned,
    bans: scores.bans,
    addressBans: addresses.bans,
    highestAnnounced: announcements.highest,
    onPeer: listeners.add,
  }
}

interface AddressScores {
  /** Counts a fault of a stranger against its address. */
  fault(peer: string, kind: Fault): void
  isBanned(key: string): boolean
  bans(): number
}

/** What the strangers of each address did, together. */
function createAddressScores(
  limits: P2pLimits,
  parts: Pick<PeerBookParts, 'log' | 'knownAddresses'> & { cutOff(peer: string): void },
): AddressScores {
  const { log, knownAddresses, cutOff } = parts
  const scores = createScoreTable({ ...limits, banScore: limits.addressBanScore })
  return {
    isBanned: scores.isBanned,
    bans: scores.bans,
    fault: (peer, kind) => {
      const { isConfigured, key } = knownAddresses.remoteOf(peer)
      if (isConfigured || mishaps.has(kind) || scores.isBanned(key)) return
      if (!scores.fault(key, kind).banned) return
      log.warn({ address: key, banMs: limits.banMs }, 'strangers from an address are banned')
      for (const stranger of knownAddresses.strangersAt(key)) cutOff(stranger)
    },
  }
}

/** Listeners to peers, none of which can keep others from hearing. */
function createListeners(log: Logger): {
  add(listener: (event: PeerEvent) => void): () => void
  emit(event: PeerEvent): void
} {
  const listeners = new Set<(event: PeerEvent) => void>()
  return {
    add: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    emit: (event) => {
      for (const listener of listeners) {
        try {
          listener(event)
        } catch (error) {
          const { type, peer } = event
          log.error({ err: error, peer, type }, 'a listener to peers failed')
        }
      }
    },
  }
}
