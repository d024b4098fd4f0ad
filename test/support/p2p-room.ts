/** Opens peer-to-peer rooms on loopback for one test, and closes them after it. */
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Registry } from 'prom-client'
import type { P2pLimits } from '../../src/p2p/limits/limits.ts'
import { openP2p, type P2p, type P2pOptions, type P2pParts } from '../../src/p2p/p2p.ts'
import type { PeerEvent } from '../../src/p2p/peers/peer-book.ts'
import { type CapturedLog, captureLog } from './captured-log.ts'
import { metricValue } from './metric-value.ts'

export const testNetwork = 'Local__Devnet'

/** Room for every peer of a test, although all of them come from one address. */
const manyConnections = {
  connectionsPerSecond: 1000,
  handshakesPerSecond: 1000,
  handshakesPerAddress: 1000,
  handshakesTotal: 1000,
}

export interface TestRoom {
  readonly p2p: P2p
  readonly id: string
  /** Where others dial it, with its peer ID. */
  readonly address: string
  readonly captured: CapturedLog
  readonly registry: Registry
  readonly subscribes: boolean
  /** What the room serves; a test adds to it. */
  readonly blocks: Map<number, Uint8Array>
  /** The value of a metric with these labels; 0 when it was never touched. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>
  /** The next event of this type about this peer. */
  event(type: PeerEvent['type'], peer: string): Promise<PeerEvent>
}

export interface RoomSetup {
  readonly options?: Partial<Omit<P2pOptions, 'limits'>>
  readonly limits?: Partial<P2pLimits>
  readonly onBlock?: P2pParts['onBlock']
  readonly onHead?: P2pParts['onHead']
  /** Refuses every question by default. */
  readonly answers?: Partial<P2pParts['handlers']>
  readonly source?: P2pParts['source']
  readonly channels?: P2pParts['channels']
}

export async function openRoom(t: TestContext, setup: RoomSetup = {}): Promise<TestRoom> {
  const captured = captureLog()
  const registry = new Registry()
  const blocks = new Map<number, Uint8Array>()
  const p2p = await openP2p(
    {
      peerSeed: randomBytes(32),
      listen: ['/ip4/127.0.0.1/tcp/0'],
      bootstrapPeers: [],
      network: testNetwork,
      limits: { redialMinMs: 50, redialMaxMs: 200, ...manyConnections, ...setup.limits },
      ...setup.options,
    },
    {
      log: captured.log,
      registry,
      source: setup.source ?? sourceOf(blocks),
      channels: setup.channels ?? {},
      ...(setup.onBlock === undefined ? {} : { onBlock: setup.onBlock }),
      ...(setup.onHead === undefined ? {} : { onHead: setup.onHead }),
      handlers: { identity: () => null, votes: () => null, ...setup.answers },
    },
  )
  t.after(() => p2p.close())
  const { id, addresses } = p2p.self()
  return {
    p2p,
    id,
    address: `${addresses.at(-1)}/p2p/${id}`,
    captured,
    registry,
    subscribes: setup.onBlock !== undefined,
    blocks,
    metric: (name, labels = {}) => metricValue(registry, name, labels),
    event: (type, peer) => nextEvent(p2p, type, peer),
  }
}

/** Resolves when the condition holds; for what no event tells. Gives up after a minute. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const tooLate = new Error('what is awaited here has not come within a minute')
  const deadlineMs = performance.now() + 60_000
  while (!(await condition())) {
    if (performance.now() > deadlineMs) throw tooLate
    await delay(10)
  }
}

/** Connects `from` to `to`; resolves when `from` knows what `to` serves and hears its gossip. */
export async function connect(from: TestRoom, to: TestRoom): Promise<void> {
  const announced =
    to.blocks.size === 0 ? from.event('connected', to.id) : from.event('announced', to.id)
  const seen = to.event('connected', from.id)
  from.p2p.setBootstrapPeers([to.address])
  await Promise.all([announced, seen])
  if (from.subscribes) await until(() => isSubscribed(to, from))
  if (to.subscribes) await until(() => isSubscribed(from, to))
  await from.p2p.status(to.id, AbortSignal.timeout(60_000))
}

function isSubscribed(publisher: TestRoom, reader: TestRoom): boolean {
  return publisher.p2p.peers().some((peer) => peer.id === reader.id && peer.subscribed)
}

/** The heights of a map from `from` to `to`, ascending. */
export function heightsOf(
  blocks: ReadonlyMap<number, unknown>,
  from: number,
  to: number,
): number[] {
  const heights = [...blocks.keys()].filter((height) => height >= from && height <= to)
  return heights.toSorted((a, b) => a - b)
}

function sourceOf(blocks: ReadonlyMap<number, Uint8Array>): P2pParts['source'] {
  return {
    range: () => {
      const heights = [...blocks.keys()]
      if (heights.length === 0) return null
      return { tail: Math.min(...heights), head: Math.max(...heights) }
    },
    heights: (from, to, limit) => heightsOf(blocks, from, to).slice(0, limit),
    sealedBlock: (height) => blocks.get(height) ?? null,
  }
}

function nextEvent(p2p: P2p, type: PeerEvent['type'], peer: string): Promise<PeerEvent> {
  return new Promise((resolve) => {
    const stop = p2p.onPeer((event) => {
      if (event.type !== type || event.peer !== peer) return
      stop()
      resolve(event)
    })
  })
}
