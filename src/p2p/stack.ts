/** The parts of the peer-to-peer node, put together in the order in which they depend on each other. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Stream } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { framePrices } from './connections/frame-price.ts'
import { createGater, type Gater } from './connections/gater.ts'
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
import { createKnownAddresses, type KnownAddresses } from './peers/known-addresses.ts'
import { createOtherNetworks, type OtherNetworks, rangeProtocol } from './peers/networks.ts'
import type { OwnAddresses } from './peers/own-addresses.ts'
import { createPeerBook, type PeerBook } from './peers/peer-book.ts'
import type { OnMessage } from './peers/verdict.ts'
import { createRangeClient, type RangeClient } from './range/range-client.ts'
import { type BlockSource, createRangeServer, type RangeServer } from './range/range-server.ts'
import {
  type ChannelClient,
  type ChannelHandlers,
  type ChannelName,
  type ChannelServer,
  channelProtocol,
  channelsOf,
  createChannelClient,
  createChannelServer,
} from './streams/channels.ts'
import { createPacer, createRequestGate } from './streams/request-gate.ts'
import {
  createRequestClient,
  createRequestServer,
  type RequestClient,
  type RequestHandlers,
  type RequestName,
  type RequestServer,
  requestProtocol,
  requestsOf,
} from './streams/requests.ts'

interface StackOptions {
  readonly peerSeed: Uint8Array
  readonly listen: readonly string[]
  readonly network: string
  readonly limits: P2pLimits
}

interface StackParts {
  readonly log: Logger
  readonly registry: Registry
  readonly source: BlockSource
  readonly onBlock?: OnMessage
  readonly onHead?: OnMessage
  readonly handlers: RequestHandlers
  readonly channels: ChannelHandlers
  readonly own: OwnAddresses
}

export interface Stack {
  readonly book: PeerBook
  readonly knownAddresses: KnownAddresses
  readonly networks: OtherNetworks
  readonly gossip: Gossip
  readonly server: RangeServer
  readonly client: RangeClient
  readonly request: RequestClient
  /** The protocols of requests that are responded to. */
  readonly requests: readonly RequestName[]
  readonly respond: RequestServer
  readonly openChannel: ChannelClient
  /** The channels that are served. */
  readonly channels: readonly ChannelName[]
  readonly channelServer: ChannelServer
  readonly gater: Gater
  readonly node: P2pNode
  readonly bootstrap: Bootstrap
  readonly closing: AbortController
}

const closeMs = 1500
/** Time for gossipsub to read the records of peers that have gone before they are forgotten. */
const forgetMs = 1_000

/** Makes the parts without starting anything. */
export async function assembleStack(options: StackOptions, parts: StackParts): Promise<Stack> {
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
  const knownAddresses = createKnownAddresses(isConfigured, limits.maxRemembered)
  const { remoteOf } = knownAddresses
  const book = createPeerBook(limits, { log, metrics, knownAddresses, disconnect })
  const received = createRates(limits.receivedBytes, {
    maxRemotes: limits.maxRemembered,
    burstSeconds: 1,
  })
  const watch: Watching = {
    ...{ log, metrics, remoteOf },
    onFault: book.fault,
    onStatus: book.status,
    onVerdict: book.verdict,
    onFrame: (peer) => void received.owe(remoteOf(peer), framePrices.any),
  }
  const gossip = createGossip(
    { network, limits },
    {
      ...watch,
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
    ...watch,
    source: parts.source,
    handlers: parts.handlers,
    channels: parts.channels,
    openStream: (peer, protocol, signal) => openStream(node, peer, protocol, signal),
  })
  const gater = createGater(limits, { book, metrics, isConfigured })
  const node = await createNode(options, {
    pubsub: gossip.service,
    gater: gater.connectionGater,
    meter: createReceivedMeter(streamWindowBytes, { rates: received, remoteOf }),
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
  return { book, knownAddresses, networks, gossip, ...protocols, gater, node, bootstrap, closing }
}

/** What every part that hears from peers is given. */
interface Watching {
  readonly log: Logger
  readonly metrics: P2pMetrics
  readonly remoteOf: KnownAddresses['remoteOf']
  readonly onFault: PeerBook['fault']
  readonly onStatus: PeerBook['status']
  readonly onVerdict: PeerBook['verdict']
  /** A peer sent a frame of a protocol, which has its price however short it is. */
  onFrame(peer: string): void
}

interface ProtocolParts extends Watching, Pick<StackParts, 'source' | 'handlers' | 'channels'> {
  openStream(peer: string, protocol: string, signal: AbortSignal): Promise<Stream>
}

/** The two sides of our own protocols: ranges, requests and channels. */
function createProtocols(
  { limits, network }: StackOptions,
  { openStream, source, handlers, channels, ...watch }: ProtocolParts,
): Pick<
  Stack,
  | 'server'
  | 'client'
  | 'requests'
  | 'respond'
  | 'request'
  | 'openChannel'
  | 'channels'
  | 'channelServer'
> {
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
    requests: requestsOf(handlers),
    respond: createRequestServer(limits, { ...watch, handlers, gate }),
    request: createRequestClient(limits, {
      ...watch,
      pacer,
      openStream: (peer, name, signal) => openStream(peer, requestProtocol(network, name), signal),
    }),
    channels: channelsOf(channels),
    channelServer: createChannelServer(limits, { ...watch, handlers: channels, gate }),
    openChannel: createChannelClient(limits, {
      ...watch,
      pacer,
      openStream: (peer, name, signal) => openStream(peer, channelProtocol(network, name), signal),
    }),
  }
}

/** Leads what the node reports to the parts it concerns. */
export async function connectStack(
  stack: Stack,
  { limits, network }: StackOptions,
  log: Logger,
): Promise<void> {
  const { book, bootstrap, closing, gater, networks, node } = stack
  const refresh = createRefresh(stack, log)
  const forget = createForgetting(stack, log)
  node.addEventListener('connection:open', ({ detail }) => {
    book.arrived(detail.remotePeer.toString(), detail.remoteAddr)
    gater.opened(detail)
  })
  node.addEventListener('peer:identify', ({ detail }) => {
    const peer = detail.peerId.toString()
    if (!stack.knownAddresses.isConnected(peer)) return
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
  await handleProtocols(stack, network)
}

async function handleProtocols(
  { respond, requests, node, server, channels, channelServer }: Stack,
  network: string,
): Promise<void> {
  const options = { maxInboundStreams: streamsPerConnection }
  await node.handle(
    rangeProtocol(network),
    (stream, { remotePeer }) => server.serve(remotePeer.toString(), stream),
    options,
  )
  for (const name of requests) {
    await node.handle(
      requestProtocol(network, name),
      (stream, { remotePeer }) => respond(name, remotePeer.toString(), stream),
      options,
    )
  }
  for (const name of channels) {
    await node.handle(
      channelProtocol(network, name),
      (stream, { remotePeer }) => channelServer.serve(name, remotePeer.toString(), stream),
      options,
    )
  }
}

/** Asks a peer for its heights, once at a time; a failure is the log's business alone. */
function createRefresh(stack: Stack, log: Logger): (peer: string) => Promise<void> {
  const asking = new Set<string>()
  return async (peer) => {
    if (asking.has(peer)) return
    asking.add(peer)
    try {
      await stack.client.status(peer, stack.closing.signal)
    } catch (error) {
      log.debug({ err: error, peer }, 'a peer did not report its heights')
    } finally {
      asking.delete(peer)
    }
  }
}

/** Makes the node forget peers that have gone, soon when there are many of them. */
function createForgetting(
  { node, bootstrap, closing }: Stack,
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
export async function closeStack({
  bootstrap,
  closing,
  node,
  server,
  channelServer,
}: Stack): Promise<void> {
  closing.abort(new Error('the node is closing'))
  bootstrap.close()
  server.close()
  channelServer.close()
  const stopped = new AbortController()
  const tooLong = delay(closeMs, undefined, { signal: stopped.signal })
  try {
    await Promise.race([node.stop(), tooLong])
  } finally {
    stopped.abort()
  }
}
