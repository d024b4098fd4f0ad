/**
 * One prom-client registry per thread. The main thread's `text()` merges in what other threads
 * report; each thread's blocked event loop is a metric.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { AggregatorRegistry, collectDefaultMetrics, Gauge, Registry } from 'prom-client'

/** A registry's content as structured-cloneable data. */
export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

interface MetricsOptions {
  /** Label of this thread's event loop metric: `main`, `writer`. */
  readonly thread: string
  /** Memory, CPU, descriptors under prom-client's usual names. Default: on in the thread `main`. */
  readonly process?: boolean
}

export interface Metrics {
  /** Where rooms register their own metrics. */
  readonly registry: Registry
  readonly contentType: string
  snapshot(): Promise<MetricsSnapshot>
  /** Adds another thread's metrics to `text()`; returns the function that takes them out again. */
  addSource(read: () => Promise<MetricsSnapshot>): () => void
  /** Prometheus text of this thread and all sources. A source that is late keeps its last values. */
  text(): Promise<string>
  close(): void
}

const resolutionMs = 10
const sourceTimeoutMs = 1_000

/** Opens this thread's registry and starts measuring its event loop. */
export function openMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry()
  const stopLoop = watchEventLoop(options.thread, registry)
  if (options.process ?? options.thread === 'main') {
    collectDefaultMetrics({ register: registry })
  }
  const sources = new Set<() => Promise<MetricsSnapshot>>()
  const snapshot = (): Promise<MetricsSnapshot> => registry.getMetricsAsJSON()
  return {
    registry,
    contentType: registry.contentType,
    snapshot,
    addSource(read) {
      const source = lastKnown(read)
      sources.add(source)
      return () => void sources.delete(source)
    },
    async text() {
      const snapshots = await Promise.all([snapshot(), ...[...sources].map((read) => read())])
      return AggregatorRegistry.aggregate(snapshots.map((metrics) => [...metrics])).metrics()
    },
    close: stopLoop,
  }
}

/** Reads a source, but returns its last values when it is late or fails. */
function lastKnown(read: () => Promise<MetricsSnapshot>): () => Promise<MetricsSnapshot> {
  let last: MetricsSnapshot = []
  return async () => {
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, sourceTimeoutMs)
    const updated = read().then(
      (metrics) => {
        last = metrics
      },
      () => undefined,
    )
    await Promise.race([updated, late.promise])
    clearTimeout(timer)
    return last
  }
}

function watchEventLoop(thread: string, registry: Registry): () => void {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  new Gauge({
    name: 'viewmesh_service_event_loop_delay_seconds',
    help: 'How long the event loop of a thread was blocked since the last scrape, in seconds.',
    labelNames: ['thread', 'quantile'],
    registers: [registry],
    collect() {
      for (const percentile of [50, 99, 100]) {
        const blocked = Math.max(0, delay.percentile(percentile) / 1e9 - resolutionMs / 1_000)
        this.set({ thread, quantile: String(percentile / 100) }, blocked)
      }
      delay.reset()
    },
  })
  return () => void delay.disable()
}
