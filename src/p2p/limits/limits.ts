/**
 * Every bound the room keeps, in one table, so that a test can lower one and an operator can read
 * what a hostile peer may cost at most. Where three numbers stand, the first is for each configured
 * peer, the others are for the strangers of an address and for all strangers (see `Shares`); where
 * they are so much a second, four seconds' worth may come at once.
 */
import type { Shares } from './remote.ts'

/** The room's bounds; a test or a program may lower or raise single ones. */
export interface P2pLimits {
  /** Connections in both directions together. Only configured peers get one above it. Default 100. */
  readonly maxConnections: number
  /** Connections of these that strangers leave alone, so that a configured peer finds a place. Default 20. */
  readonly reservedConnections: number
  /** Connections of strangers from one address: a quarter of those for strangers. Default 20. */
  readonly connectionsPerAddress: number
  /** Connections with one peer: each side has dialled once. A further one replaces the oldest. Default 2. */
  readonly connectionsPerPeer: number
  /** New inbound connections a second from one address; four seconds' worth may come at once. Default 5. */
  readonly connectionsPerSecond: number
  /**
   * Handshakes a second, scheduled fairly by address: each costs the main thread 2 to 10 ms. Two
   * seconds' worth may come at once. Default 20.
   */
  readonly handshakesPerSecond: number
  /** Inbound connections from one address whose handshake is not over; the oldest gives way. Default 4. */
  readonly handshakesPerAddress: number
  /** The same over all addresses; the oldest of the address with the most gives way. Default 64. */
  readonly handshakesTotal: number
  /**
   * Bytes a second that are read from connections, with a price on small frames (see `frame-price.ts`);
   * above it we read more slowly. A second's worth may come at once. Twice what gossip may have; at this
   * rate garbage makes the process grow by less than 50 MB. Default unlimited, 4 MiB, 8 MiB.
   */
  readonly receivedBytes: Shares
  /**
   * Gossip bytes a second; what comes above it is dropped. Twice a block of the largest size a second
   * is more than any chain has, and a stranger sends each once. Default 16 MiB, 2 MiB, 4 MiB.
   */
  readonly gossipBytes: Shares
  /**
   * Gossip frames, messages and wanted messages a second; what comes above it is dropped. gossipsub
   * remembers the ID of each for a minute. Default 512, 64, 256.
   */
  readonly gossipMessages: Shares
  /** Largest gossip message in bytes. gossipsub itself silently loses anything near 4 MiB. Default 1 MiB. */
  readonly maxGossipBytes: number
  /** Bytes of gossip frames that have arrived in part; further ones are dropped. Default 8 MiB, 4 MiB, 16 MiB. */
  readonly partialBytes: Shares
  /** Gossip messages that wait for their verdict; further ones are dropped. Default 64, 16, 64. */
  readonly pendingMessages: Shares
  /** Their bytes. Default 8 MiB, 2 MiB, 8 MiB. */
  readonly pendingBytes: Shares
  /** Messages of strangers that the program validates at a time; the others of them wait. Default 8. */
  readonly strangersValidated: number
  /** Bytes queued towards a peer that does not read its gossip before it is cut off. Default 8 MiB. */
  readonly maxGossipBacklogBytes: number
  /** The same towards all strangers together; who reads least is cut off. Default 32 MiB. */
  readonly strangersBacklogBytes: number
  /** Largest sealed block a pull may deliver, in bytes. Default 16 MiB. */
  readonly maxBlockBytes: number
  /** Largest frame of the range protocol, in bytes. Default 64 KiB. */
  readonly maxFrameBytes: number
  /** Bytes a pull may have under way before the reader grants more. Default 1 MiB. */
  readonly windowBytes: number
  /** Range streams one peer may hold open here; more are a fault. Default 8. */
  readonly streamsPerPeer: number
  /** Range streams that are served; above it a peer gets `busy`. Default 8, 8, 64. */
  readonly rangeStreams: Shares
  /** Bytes of ranges sent a second; a Host that catches up is mostly a stranger. Default unlimited, 32 MiB, 64 MiB. */
  readonly rangeBytes: Shares
  /** Channels that are served; above it a peer gets `busy`. Default 8, 8, 64. */
  readonly channelStreams: Shares
  /** Bytes of channels sent a second. Default unlimited, 32 MiB, 64 MiB. */
  readonly channelBytes: Shares
  /** Requests other than ranges that are being handled; above it they are refused. Default 4, 4, 16. */
  readonly requestStreams: Shares
  /** Requests of all protocols a second; above it they wait. Default 50, 50, 200. */
  readonly requests: Shares
  /** How long they wait before they are refused. Default 5 s. */
  readonly requestWaitMs: number
  /**
   * Requests of all protocols a second that one peer may make; more are a fault. We make four
   * fifths of it to each peer at most. Four seconds' worth may come at once. Default 50.
   */
  readonly requestsPerSecond: number
  /** Range streams we open to one peer at a time; less than `streamsPerPeer` of the other side. Default 4. */
  readonly pullsPerPeer: number
  /** How long a peer may take for one frame, or for the credit for one. Default 30 s. */
  readonly stallMs: number
  /** How long a peer that we ask may take for a stream or a frame, and for each MiB of a block. Default 10 s. */
  readonly pullStallMs: number
  /** How long connecting to one address may take. Default 5 s. */
  readonly dialTimeoutMs: number
  /** Waiting time before the first new attempt at a bootstrap peer; it doubles up to `redialMaxMs`. Default 500 ms. */
  readonly redialMinMs: number
  /** Longest waiting time between two attempts at a bootstrap peer. Default 30 s. */
  readonly redialMaxMs: number
  /** After how long a bootstrap peer that cannot be reached is reported as a failure. Default 60 s. */
  readonly lastingMs: number
  /** How often each connected peer is asked for its heights. Default 30 s. */
  readonly statusIntervalMs: number
  /** Score at which a peer is disconnected and banned. Default -100. */
  readonly banScore: number
  /** Sum of the scores of an address's strangers at which the address is banned: three bans. Default -300. */
  readonly addressBanScore: number
  /** How long a ban lasts. Default 10 min. */
  readonly banMs: number
  /** Peers and addresses that each table remembers. Default 1,024. */
  readonly maxRemembered: number
}

const kib = 1024
const mib = 1024 * kib
const unlimited = Number.POSITIVE_INFINITY

/** The bounds that hold where a program says nothing. */
export const defaultLimits: P2pLimits = {
  maxConnections: 100,
  reservedConnections: 20,
  connectionsPerAddress: 20,
  connectionsPerPeer: 2,
  connectionsPerSecond: 5,
  handshakesPerSecond: 20,
  handshakesPerAddress: 4,
  handshakesTotal: 64,
  receivedBytes: { configured: unlimited, address: 4 * mib, strangers: 8 * mib },
  gossipBytes: { configured: 16 * mib, address: 2 * mib, strangers: 4 * mib },
  gossipMessages: { configured: 512, address: 64, strangers: 256 },
  maxGossipBytes: mib,
  partialBytes: { configured: 8 * mib, address: 4 * mib, strangers: 16 * mib },
  pendingMessages: { configured: 64, address: 16, strangers: 64 },
  pendingBytes: { configured: 8 * mib, address: 2 * mib, strangers: 8 * mib },
  strangersValidated: 8,
  maxGossipBacklogBytes: 8 * mib,
  strangersBacklogBytes: 32 * mib,
  maxBlockBytes: 16 * mib,
  maxFrameBytes: 64 * kib,
  windowBytes: mib,
  streamsPerPeer: 8,
  rangeStreams: { configured: 8, address: 8, strangers: 64 },
  rangeBytes: { configured: unlimited, address: 32 * mib, strangers: 64 * mib },
  channelStreams: { configured: 8, address: 8, strangers: 64 },
  channelBytes: { configured: unlimited, address: 32 * mib, strangers: 64 * mib },
  requestStreams: { configured: 4, address: 4, strangers: 16 },
  requests: { configured: 50, address: 50, strangers: 200 },
  requestWaitMs: 5_000,
  requestsPerSecond: 50,
  pullsPerPeer: 4,
  stallMs: 30_000,
  pullStallMs: 10_000,
  dialTimeoutMs: 5_000,
  redialMinMs: 500,
  redialMaxMs: 30_000,
  lastingMs: 60_000,
  statusIntervalMs: 30_000,
  banScore: -100,
  addressBanScore: -300,
  banMs: 600_000,
  maxRemembered: 1024,
}
