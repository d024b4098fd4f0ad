/** The parts of the room, put together in the order in which they depend on each other. */
import { setTimeout as delay } from 'node:timers/promises'
import { peerIdFromString } from '@libp2p/peer-id'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { createDoorman, type Doorman } from './connections/doorman.ts'
import { createReceivedMeter } from './connections/received-meter.ts'
import { createGossip, type Gossip } from './gossip/gossip.ts'
import type { P2pLimits } from './limits/limits.ts'
import { createP2pMetrics } from './limits/metrics.ts'
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
  const { log, registry, source, onBlock, onHead } = parts
  const metrics = createP2pMetrics(registry, {
    peers: () => node.getPeers().length,
    activeStreams: () => server.activeStreams(),
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
  const watch = {
    log,
    metrics,
    partyOf,
    onFault: book.fault,
    onStatus: book.status,
    onVerdict: book.verdict,
  }
  const gossip = createGossip(
    { network, limits },
    {
      ...watch,
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
  const gate = createRequestGate(limits, watch)
  const pacer = createPacer(limits)
  const server = createRangeServer(limits, { ...watch, source, gate })
  const client = createRangeClient(limits, {
    ...watch,
    pacer,
    openStream: (peer, signal) => openStream(node, peer, rangeProtocol(network), signal),
    ownRange: () => source.range(),
  })
  const answer = createAnswerer(limits, { ...watch, answers: parts.answers, gate })
  const ask = createAsker(limits, {
    ...watch,
    pacer,
    openStream: (peer, name, signal) =>
      openStream(node, peer, questionProtocol(network, name), signal),
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
  return {
    book,
    whereabouts,
    networks,
    gossip,
    server,
    client,
    ask,
    answer,
    doorman,
    node,
    bootstrap,
    closing,
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
