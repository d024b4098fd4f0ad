/** What the room counts. A registry gets each of them once, however many parts of the room use it. */
import { Counter, Histogram, type Registry } from 'prom-client'
import { declareScrapedGauge } from '../../scraped-gauge.ts'

/** Lookups in one cache. */
interface HitCount {
  hits: number
  misses: number
}

/** Lookups in the caches of opened bodies and chunks; plain counters, as there are so many. */
export interface CacheReads {
  readonly bodies: HitCount
  readonly chunks: HitCount
}

/** What the readers of a thread count together. */
export interface ReaderMetrics {
  readonly cacheReads: CacheReads
  countExpired(): void
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

/** Gauges of the volume that a store lies on; `read` returns null while that is not known. */
export function declareVolumeMetrics(
  registry: Registry,
  read: () => { readonly bytes: number; readonly freeBytes: number } | null,
): void {
  declareScrapedGauge(registry, {
    name: 'viewmesh_store_volume_bytes',
    help: 'Size of the volume that the store lies on in bytes, without what is kept back for root.',
    read: () => read()?.bytes ?? null,
  })
  declareScrapedGauge(registry, {
    name: 'viewmesh_store_volume_free_bytes',
    help: 'Bytes that are free on the volume that the store lies on.',
    read: () => read()?.freeBytes ?? null,
  })
}

const declared = new WeakMap<Registry, ReaderMetrics>()

/** The readers' metrics in this registry, the same for each of them; without a registry there are none. */
export function createReaderMetrics(registry: Registry | undefined): ReaderMetrics {
  const known = registry && declared.get(registry)
  if (known !== undefined) return known
  const cacheReads = { bodies: { hits: 0, misses: 0 }, chunks: { hits: 0, misses: 0 } }
  if (registry === undefined) return { cacheReads, countExpired: () => undefined }
  const metrics = { cacheReads, countExpired: declareReaderMetrics(registry, cacheReads) }
  declared.set(registry, metrics)
  return metrics
}

function declareReaderMetrics(registry: Registry, cacheReads: CacheReads): () => void {
  const registers = [registry]
  new Counter({
    name: 'viewmesh_store_cache_reads_total',
    help: 'Look-ups in the caches of opened bodies and chunks, by cache and result (hit, miss).',
    labelNames: ['cache', 'result'],
    registers,
    collect() {
      this.reset()
      for (const cache of ['bodies', 'chunks'] as const) {
        this.inc({ cache, result: 'hit' }, cacheReads[cache].hits)
        this.inc({ cache, result: 'miss' }, cacheReads[cache].misses)
      }
    },
  })
  const expired = new Counter({
    name: 'viewmesh_store_expired_snapshots_total',
    help: 'Snapshots that were held for too long and taken from their holders.',
    registers,
  })
  return () => expired.inc()
}

/** The writer's metrics in this registry. */
export function createWriterMetrics(registry: Registry, figures: WriterFigures): WriterMetrics {
  const registers = [registry]
  declareScrapedGauge(registry, {
    name: 'viewmesh_store_bytes',
    help: 'Size of the store’s file in bytes.',
    read: figures.bytes,
  })
  declareScrapedGauge(registry, {
    name: 'viewmesh_store_blocks',
    help: 'Blocks that are visible.',
    read: figures.blocks,
  })
  return {
    commitSeconds: new Histogram({
      name: 'viewmesh_store_commit_seconds',
      help: 'Seconds from putting a write together until it has reached the disk, by kind (documents, seals, rows, statements, records, compaction).',
      labelNames: ['kind'],
      buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5],
      registers,
    }),
  }
}
