/**
 * Every bound the room keeps, in one table, so that a test can lower one and an operator can read
 * what a hostile peer may cost at most.
 */

/** The room's bounds; a test or a program may lower or raise single ones. */
export interface P2pLimits {
  /** Connections in both directions together; above it new ones are refused. Default 100. */
  readonly maxConnections: number
  /** New inbound connections a second from one IP address. Default 20. */
  readonly connectionsPerSecond: number
  /** Inbound connections from one IP address at a time. Default 50. */
  readonly connectionsPerAddress: number
  /** Largest gossip message in bytes. gossipsub itself loses anything near 4 MiB without a word. Default 1 MiB. */
  readonly maxGossipBytes: number
  /** Gossip bytes a second one peer may send on average; four seconds' worth may come at once. Default 16 MiB. */
  readonly gossipBytesPerSecond: number
  /** Gossip messages of one peer that may wait for their verdict; further ones are dropped. Default 64. */
  readonly pendingPerPeer: number
  /** The same over all peers, in bytes. Default 32 MiB. */
  readonly pendingBytes: number
  /** Bytes queued towards a peer that does not read its gossip before it is cut off. Default 8 MiB. */
  readonly maxGossipBacklogBytes: number
  /** Largest sealed block a pull may deliver, in bytes. Default 16 MiB. */
  readonly maxBlockBytes: number
  /** Largest frame of the range protocol, in bytes. Default 64 KiB. */
  readonly maxFrameBytes: number
  /** Bytes a pull may have under way before the reader grants more. Default 1 MiB. */
  readonly windowBytes: number
  /** Range streams one peer may hold open here. Default 8. */
  readonly streamsPerPeer: number
  /** Range streams all peers together may hold open here. Default 64. */
  readonly streamsTotal: number
  /** Range streams we open to one peer at a time; less than `streamsPerPeer` of the other side. Default 4. */
  readonly pullsPerPeer: number
  /** Range requests a second one peer may make on average; four seconds' worth may come at once. Default 20. */
  readonly requestsPerSecond: number
  /** How long one frame, or the credit for one, may take. Default 30 s. */
  readonly stallMs: number
  /** How long connecting to one address may take. Default 5 s. */
  readonly dialTimeoutMs: number
  /** Waiting time before the first new attempt at a bootstrap peer; it doubles up to `redialMaxMs`. Default 500 ms. */
  readonly redialMinMs: number
  /** Longest waiting time between two attempts at a bootstrap peer. Default 30 s. */
  readonly redialMaxMs: number
  /** How often each connected peer is asked for its heights. Default 30 s. */
  readonly statusIntervalMs: number
  /** Score at which a peer is disconnected and banned. Default -100. */
  readonly banScore: number
  /** How long a ban lasts. Default 10 min. */
  readonly banMs: number
  /** Peers the score table, the bans and the list of verified peers remember. Default 1,024 each. */
  readonly maxRemembered: number
}

const kib = 1024
const mib = 1024 * kib

/** The bounds that hold where a program says nothing. */
export const defaultLimits: P2pLimits = {
  maxConnections: 100,
  connectionsPerSecond: 20,
  connectionsPerAddress: 50,
  maxGossipBytes: mib,
  gossipBytesPerSecond: 16 * mib,
  pendingPerPeer: 64,
  pendingBytes: 32 * mib,
  maxGossipBacklogBytes: 8 * mib,
  maxBlockBytes: 16 * mib,
  maxFrameBytes: 64 * kib,
  windowBytes: mib,
  streamsPerPeer: 8,
  streamsTotal: 64,
  pullsPerPeer: 4,
  requestsPerSecond: 20,
  stallMs: 30_000,
  dialTimeoutMs: 5_000,
  redialMinMs: 500,
  redialMaxMs: 30_000,
  statusIntervalMs: 30_000,
  banScore: -100,
  banMs: 600_000,
  maxRemembered: 1024,
}
