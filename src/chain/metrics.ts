/** The metrics of the node client. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

export interface ChainMetrics {
  readonly calls: Counter<'method'>
  readonly failures: Counter<'code'>
  readonly responseBytes: Counter
  readonly blockSeconds: Histogram
  readonly headHeight: Gauge
  readonly websocket: Gauge
  readonly batchLimit: Gauge<'endpoint'>
  readonly unverifiedHeaders: Counter
}

/** Registers the room's metrics; once per registry. */
export function createChainMetrics(registry: Registry): ChainMetrics {
  const registers = [registry]
  return {
    calls: new Counter({
      name: 'viewmesh_chain_calls_total',
      help: 'JSON-RPC calls sent to execution nodes, calls inside batches counted one by one.',
      labelNames: ['method'],
      registers,
    }),
    failures: new Counter({
      name: 'viewmesh_chain_failures_total',
      help: 'Attempts that failed and were or will be repeated, by error code.',
      labelNames: ['code'],
      registers,
    }),
    responseBytes: new Counter({
      name: 'viewmesh_chain_answer_bytes_total',
      help: 'Bytes of response bodies received over HTTP from execution nodes.',
      registers,
    }),
    blockSeconds: new Histogram({
      name: 'viewmesh_chain_block_read_seconds',
      help: 'Seconds to read and check one whole block, failed attempts not included.',
      buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30],
      registers,
    }),
    headHeight: new Gauge({
      name: 'viewmesh_chain_head_height',
      help: 'Height of the newest head received from the execution node.',
      registers,
    }),
    websocket: new Gauge({
      name: 'viewmesh_chain_websocket_connected',
      help: '1 while new heads arrive over the WebSocket, 0 while they are polled over HTTP.',
      registers,
    }),
    batchLimit: new Gauge({
      name: 'viewmesh_chain_batch_limit',
      help: 'Most calls in one HTTP request; 1 means no batches.',
      labelNames: ['endpoint'],
      registers,
    }),
    unverifiedHeaders: new Counter({
      name: 'viewmesh_chain_unverified_headers_total',
      help: 'Blocks accepted although their hash could not be recomputed from the known header fields.',
      registers,
    }),
  }
}
