/** The metrics that Generators, Hosts and the operator declare, as their own code declares them. */
import type { Registry } from 'prom-client'
import { declareResourceCounts } from '../../operator/reconcile/resource-counts.ts'
import { openRuntimeMetrics } from '../../operator/runtime/metrics.ts'
import { declareUnread } from '../../operator/runtime/unread.ts'
import { createChainMetrics } from '../../src/chain/metrics.ts'
import { createIngestMetrics } from '../../src/generator/ingest/ingest-metrics.ts'
import { declareGauges } from '../../src/generator/status.ts'
import { createGraphqlMetrics } from '../../src/graphql/graphql-metrics.ts'
import { createHostMetrics } from '../../src/host/metrics.ts'
import { createSchemaMetrics } from '../../src/host/schema/schema-sync.ts'
import { createP2pMetrics } from '../../src/p2p/limits/metrics.ts'
import { openMetrics } from '../../src/service/metrics.ts'
import { createWriterMetrics, declareVolumeMetrics } from '../../src/store/metrics.ts'

/** Label names by the name under which Prometheus keeps a series. */
export type DeclaredMetrics = ReadonlyMap<string, readonly string[]>

/** Every metric that a dashboard or an alert may ask for. */
export function declaredMetrics(): DeclaredMetrics {
  const { registry, close } = openMetrics({ thread: 'main' })
  declareAll(registry)
  close()
  return new Map(registry.getMetricsAsArray().flatMap(({ name }) => seriesOf(registry, name)))
}

function declareAll(registry: Registry): void {
  const never = (): number => 0
  createChainMetrics(registry)
  createIngestMetrics(registry)
  declareGauges({ state: never } as never, registry)
  createGraphqlMetrics(registry, { heldBytes: never, planBytes: never })
  createHostMetrics(registry, {
    head: never,
    lag: never,
    gapBlocks: never,
    signers: never,
    countedSigners: never,
    waitingBlocks: never,
    waitingBytes: never,
  })
  createSchemaMetrics(registry)
  createP2pMetrics(registry, {
    peers: never,
    activeStreams: never,
    banned: never,
    bannedAddresses: never,
  })
  createWriterMetrics(registry, { bytes: never, blocks: never })
  declareVolumeMetrics(registry, () => null)
  openRuntimeMetrics(registry)
  declareResourceCounts(registry, [])
  declareUnread(registry, () => [])
}

function seriesOf(registry: Registry, name: string): [string, readonly string[]][] {
  const metric = registry.getSingleMetric(name) ?? {}
  const labels: readonly string[] = Reflect.get(metric, 'labelNames') ?? []
  if (Reflect.get(metric, 'type') !== 'histogram') return [[name, labels]]
  return [
    [`${name}_bucket`, [...labels, 'le']],
    [`${name}_sum`, labels],
    [`${name}_count`, labels],
  ]
}
