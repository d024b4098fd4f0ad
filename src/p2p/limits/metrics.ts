/** What the room counts. */
import { Counter, type Registry } from 'prom-client'
import { declareScrapedGauges } from '../../scraped-gauge.ts'

export interface P2pMetrics {
  readonly messages: Counter<'verdict'>
  readonly gossipBytes: Counter<'direction'>
  readonly faults: Counter<'fault'>
  readonly bans: Counter<string>
  readonly refusedConnections: Counter<'reason'>
  readonly dialFailures: Counter<'reason'>
  readonly rangeBlocks: Counter<'direction'>
  readonly rangeBytes: Counter<'direction'>
}

/** What the gauges read when they are scraped. */
interface P2pFigures {
  peers(): number
  activeStreams(): number
  banned(): number
  bannedAddresses(): number
}

export function createP2pMetrics(registry: Registry, figures: P2pFigures): P2pMetrics {
  const registers = [registry]
  declareScrapedGauges(registry, 'viewmesh_p2p_', [
    ['peers', 'Peers connected now.', figures.peers],
    ['range_streams', 'Range streams being served now.', figures.activeStreams],
    ['banned_peers', 'Peers banned now.', figures.banned],
    [
      'banned_addresses',
      'Addresses from which no strangers are let in now.',
      figures.bannedAddresses,
    ],
  ])
  return {
    messages: new Counter({
      name: 'viewmesh_p2p_messages_total',
      help: 'Gossip messages received, by verdict (accept, ignore, reject, dropped).',
      labelNames: ['verdict'],
      registers,
    }),
    gossipBytes: new Counter({
      name: 'viewmesh_p2p_gossip_bytes_total',
      help: 'Bytes of gossip: received from peers before any check, or published by us (counted once).',
      labelNames: ['direction'],
      registers,
    }),
    faults: new Counter({
      name: 'viewmesh_p2p_faults_total',
      help: 'Faults of peers, by kind.',
      labelNames: ['fault'],
      registers,
    }),
    bans: new Counter({
      name: 'viewmesh_p2p_bans_total',
      help: 'Peers disconnected and banned for their faults.',
      registers,
    }),
    refusedConnections: new Counter({
      name: 'viewmesh_p2p_refused_connections_total',
      help: 'Connections refused or closed for others, by reason (rate, handshakes, banned, address, full, evicted).',
      labelNames: ['reason'],
      registers,
    }),
    dialFailures: new Counter({
      name: 'viewmesh_p2p_dial_failures_total',
      help: 'Failed dials to addresses of bootstrap peers, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    rangeBlocks: new Counter({
      name: 'viewmesh_p2p_range_blocks_total',
      help: 'Sealed blocks moved by the range protocol, received by us or sent by us.',
      labelNames: ['direction'],
      registers,
    }),
    rangeBytes: new Counter({
      name: 'viewmesh_p2p_range_bytes_total',
      help: 'Bytes of sealed blocks moved by the range protocol, received by us or sent by us.',
      labelNames: ['direction'],
      registers,
    }),
  }
}
