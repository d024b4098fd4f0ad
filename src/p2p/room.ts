/** The parts of the room, put together in the order in which they depend on each other. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Stream } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { createDoorman, type Doorman } from './connections/doorman.ts'
import { createReceivedMeter } from './connections/received-meter.ts'
import { createGossip, type Gossip } from './gossip/gossip.ts'
import type { P2pLimits } from './limits/limits.ts'
import { createP2pMetrics, type P2pMetrics } from './limits/metrics.ts'
import { createRates } from './limits/rates.ts'
import {
  createNode,
  createPeerSweep,
  openStream,
  type P2pNode,
  streamsPerConnection,
  streamWindowBytes,
} from './node.ts'
import { type Bootstrap, createBootstrap } from './peers/bootstrap.ts'
import { createOtherNetworks, type OtherNetworks, rangeProtocol } from './peers/networks.ts'
import type { OwnAddresses } from './peers/own-addresses.ts'
import { createPeerBook, type PeerBook } from './peers/peer-book.ts'
import type { OnMessage } from './peers/verdict.ts'
import { createWhereabouts, type Whereabouts } from './peers/whereabouts.ts'
import { createRangeClient, type RangeClient } from './range/range-client.ts'
import { type BlockSource, createRangeServer, type RangeServer } from './range/range-server.ts'
import {
  type Answerer,
  type Answers,
  type Asker,
  createAnswerer,
  createAsker,
  questionNames,
  questionProtocol,
} from './streams/questions.ts'
import { createPacer, createRequestGate } from './streams/request-gate.ts'

export interface RoomOptions {
  readonly peerSeed: Uint8Array
  readonly listen: readonly string[]
  readonly network: string
  readonly limits: P2pLimits
}

export interface RoomParts {
  readonly log: Logger
  readonly registry: Registry
  readonly source: BlockSource
  readonly onBlock?: OnMessage
  readonly onHead?: OnMessage
  readonly answers: Answers
  readonly own: OwnAddresses
}

export interface Room {
  readonly book: PeerBook
  readonly whereabouts: Whereabouts
  readonly networks: OtherNetworks
  readonly gossip: Gossip
  readonly server: RangeServer
  readonly client: RangeClient
  readonly ask: Asker
  readonly answer: Answerer
  readonly doorman: Doorman
  readonly node: P2pNode
  readonly bootstrap: Bootstrap
  readonly closing: AbortController
}

const closeMs = 1500
/** Time for gossipsub to look up peers that have gone before they are forgotten. */
const forgetMs = 1000

/** Makes the parts without starting anything. */
export async function assembleRoom(options: RoomOptions, parts: RoomParts): Promise<Room> {
  const { limits, network } = options
  const { log, onBlock, onHead } = parts
  const metrics = createP2pMetrics(parts.registry, {
    peers: () => node.getPeers().length,
    activeStreams: () => protocols.server.activeStreams(),
    banned: () => book.bans(),
    bannedAddresses: () => book.addressBans(),
  })
  const disconnect = (peer: string, reason: string): void => {
    const connections = node.getConnections(peerIdFromString(peer))
    for (const connection of connections) connection.abort(new Error(reason))
  }
  const isConfigured = (peer: string): boolean => bootstrap.has(peer)
  const whereabouts = createWhereabouts(isConfigured, limits.maxRemembered)
  const { partyOf } = whereabouts
  const book = createPeerBook(limits, { log, metrics, whereabouts, disconnect })
  const received = createRates(limits.receivedBytes, {
    maxParties: limits.maxRemembered,
    burstSeconds: 1,
  })
  const gossip = createGossip(
    { network, limits },
    {
      ...watching(book, whereabouts, parts, metrics),
      received,
      disconnect,
      connections: () => node.getConnections(),
      isBanned: book.isBanned,
      checks: {
        ...(onBlock !== undefined && { block: onBlock }),
        ...(onHead !== undefined && { head: onHead }),
      },
    },
  )
  const protocols = createProtocols(options, {
    ...watching(book, whereabouts, parts, metrics),
    source: parts.source,
    answers: parts.answers,
    openStream: (peer, protocol, signal) => openStream(node, peer, protocol, signal),
  })
  const doorman = createDoorman(limits, { book, metrics, isConfigured })
  const node = await createNode(options, {
    pubsub: gossip.service,
    gater: doorman.gater,
    meter: createReceivedMeter(streamWindowBytes, { rates: received, partyOf }),
    withAnnounced: parts.own.withAnnounced,
  })
  const bootstrap = createBootstrap(node.peerId.toString(), limits, {
    log,
    metrics,
    dial: (address, signal) => node.dial(address, { signal }),
    isConnected: (id) => node.getConnections(id).length > 0,
    isBanned: book.isBanned,
  })
  const networks = createOtherNetworks(network)
  const closing = new AbortController()
  return { book, whereabouts, networks, gossip, ...protocols, doorman, node, bootstrap, closing }
}

/** What every part that hears from peers is given. */
function watching(
  book: PeerBook,
  { partyOf }: Whereabouts,
  { log }: RoomParts,
  metrics: P2pMetrics,
): Watching {
  const { fault: onFault, status: onStatus, verdict: onVerdict } = book
  return { log, metrics, partyOf, onFault, onStatus, onVerdict }
}

interface Watching {
  readonly log: Logger
  readonly metrics: P2pMetrics
  readonly partyOf: Whereabouts['partyOf']
  readonly onFault: PeerBook['fault']
  readonly onStatus: PeerBook['status']
  readonly onVerdict: PeerBook['verdict']
}

interface ProtocolParts extends Watching, Pick<RoomParts, 'source' | 'answers'> {
  openStream(peer: string, protocol: string, signal: AbortSignal): Promise<Stream>
}

/** The two sides of our own protocols: ranges and questions. */
function createProtocols(
  { limits, network }: RoomOptions,
  { openStream, source, answers, ...watch }: ProtocolParts,
): Pick<Room, 'server' | 'client' | 'answer' | 'ask'> {
  const gate = createRequestGate(limits, watch)
  const pacer = createPacer(limits)
  return {
    server: createRangeServer(limits, { ...watch, source, gate }),
    client: createRangeClient(limits, {
      ...watch,
      pacer,
      openStream: (peer, signal) => openStream(peer, rangeProtocol(network), signal),
      ownRange: () => source.range(),
    }),
    answer: createAnswerer(limits, { ...watch, answers, gate }),
    ask: createAsker(limits, {
      ...watch,
      pacer,
      openStream: (peer, name, signal) => openStream(peer, questionProtocol(network, name), signal),
    }),
  }
}

/** Leads what the node reports to the parts it concerns. */
export async function connectRoom(
  room: Room,
  { limits, network }: RoomOptions,
  log: Logger,
): Promise<void> {
  const { book, bootstrap, closing, doorman, networks, node } = room
  const refresh = createRefresh(room, log)
  const forget = createForgetting(room, log)
  node.addEventListener('connection:open', ({ detail }) => {
    book.arrived(detail.remotePeer.toString(), detail.remoteAddr)
    doorman.opened(detail)
  })
  node.addEventListener('peer:identify', ({ detail }) => {
    const peer = detail.peerId.toString()
    if (!room.whereabouts.isHere(peer)) return
    if (!networks.identified(peer, detail.protocols)) {
      const level = bootstrap.has(peer) ? 'warn' : 'debug'
      log[level]({ peer, network }, 'a connected peer does not serve our network')
      return
    }
    book.connected(peer)
    void refresh(peer)
  })
  node.addEventListener('peer:disconnect', ({ detail }) => {
    const peer = detail.toString()
    book.disconnected(peer)
    networks.left(peer)
    bootstrap.disconnected(peer)
    forget.gone(detail)
  })
  node.addEventListener('start', () => {
    const timer = setInterval(() => {
      for (const peer of book.serving()) void refresh(peer)
      forget.now()
    }, limits.statusIntervalMs)
    closing.signal.addEventListener('abort', () => clearInterval(timer))
  })
  await handleProtocols(room, network)
}

async function handleProtocols({ answer, node, server }: Room, network: string): Promise<void> {
  const options = { maxInboundStreams: streamsPerConnection }
  await node.handle(
    rangeProtocol(network),
    (stream, { remotePeer }) => server.serve(remotePeer.toString(), stream),
    options,
  )
  for (const name of questionNames) {
    await node.handle(
      questionProtocol(network, name),
      (stream, { remotePeer }) => answer(name, remotePeer.toString(), stream),
      options,
    )
  }
}

/** Asks a peer for its heights, once at a time; a failure is the log's business alone. */
function createRefresh(room: Room, log: Logger): (peer: string) => Promise<void> {
  const asking = new Set<string>()
  return async (peer) => {
    if (asking.has(peer)) return
    asking.add(peer)
    try {
      await room.client.status(peer, room.closing.signal)
    } catch (error) {
      log.debug({ err: error, peer }, 'a peer did not tell its heights')
    } finally {
      asking.delete(peer)
    }
  }
}

/** Makes the node forget peers that have gone, soon when there are many of them. */
function createForgetting(
  { node, bootstrap, closing }: Room,
  log: Logger,
): { gone(id: Parameters<ReturnType<typeof createPeerSweep>['gone']>[0]): void; now(): void } {
  const { gone, sweep } = createPeerSweep(node, bootstrap.has)
  const now = (): void => {
    if (closing.signal.aborted) return
    sweep().catch((error: unknown) => log.debug({ err: error }, 'peers could not be forgotten'))
  }
  return {
    now,
    gone: (id) => {
      if (gone(id)) setTimeout(now, forgetMs).unref()
    },
  }
}

/** Leaves within two seconds, whatever the peers do. */
export async function closeRoom({ bootstrap, closing, node, server }: Room): Promise<void> {
  closing.abort(new Error('the node is closing'))
  bootstrap.close()
  server.close()
  const stopped = new AbortController()
  const tooLong = delay(closeMs, undefined, { signal: stopped.signal })
  try {
    await Promise.race([node.stop(), tooLong])
  } finally {
    stopped.abort()
  }
}
