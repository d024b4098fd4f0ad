/** What the room counts. A registry gets each of them once, however many parts of the room use it. */
import { Counter, Gauge, Histogram, type Metric, type Registry } from 'prom-client'

/** What readers count; several threads may, and their numbers add up. */
export interface ReaderMetrics {
  readonly cacheReads: Counter<'cache' | 'result'>
  readonly expiredSnapshots: Counter<string>
}

/** What the writer measures. */
export interface WriterMetrics {
  readonly commitSeconds: Histogram<'kind'>
}

/** What the gauges read when they are scraped. */
export interface WriterFigures {
  bytes(): number
  blocks(): number
}

/** The readers' metrics in this registry. */
export function readerMetrics(registry: Registry): ReaderMetrics {
  const registers = [registry]
  return {
    cacheReads: once(
      registry,
      'viewmesh_store_cache_reads_total',
      (name) =>
        new Counter({
          name,
          help: 'Look-ups in the caches of opened bodies and chunks, by cache and result (hit, miss).',
          labelNames: ['cache', 'result'],
          registers,
        }),
    ),
    expiredSnapshots: once(
      registry,
      'viewmesh_store_expired_snapshots_total',
      (name) =>
        new Counter({
          name,
          help: 'Snapshots that were held for too long and taken from their holders.',
          registers,
        }),
    ),
  }
}

/** The writer's metrics in this registry. */
export function createWriterMetrics(registry: Registry, figures: WriterFigures): WriterMetrics {
  const registers = [registry]
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read())
      },
    })
  }
  gauge('viewmesh_store_bytes', 'Size of the store’s file in bytes.', figures.bytes)
  gauge('viewmesh_store_blocks', 'Blocks that are visible.', figures.blocks)
  return {
    commitSeconds: new Histogram({
      name: 'viewmesh_store_commit_seconds',
      help: 'Seconds from putting a write together until it has reached the disk, by kind (documents, seals, upkeep).',
      labelNames: ['kind'],
      buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5],
      registers,
    }),
  }
}

function once<M extends Metric>(registry: Registry, name: string, make: (name: string) => M): M {
  return (registry.getSingleMetric(name) as M | undefined) ?? make(name)
}
