/** The metrics that Generators, Hosts and the operator declare, as their own code declares them. */
import type { Registry } from 'prom-client'
import { declareResourceCounts } from '../../operator/reconcile/observe/resource-counts.ts'
import { declareUnread } from '../../operator/runtime/cache/unread.ts'
import { openRuntimeMetrics } from '../../operator/runtime/metrics.ts'
import { createChainMetrics } from '../../src/chain/metrics.ts'
import { createIngestMetrics } from '../../src/generator/ingest/ingest-metrics.ts'
import { createPublisher } from '../../src/generator/publisher.ts'
import { createEncodeSeconds } from '../../src/generator/read/encode-seconds.ts'
import { declareGauges } from '../../src/generator/status.ts'
import { createGraphqlMetrics } from '../../src/graphql/budget/metrics.ts'
import {
  defaultSubscriptionLimits,
  openSubscriptions,
} from '../../src/graphql/http/subscriptions.ts'
import { declareFolderMetrics } from '../../src/host/folder/metrics.ts'
import { createFollowMetrics } from '../../src/host/follow/metrics.ts'
import { createHostMetrics } from '../../src/host/metrics.ts'
import { createHostRegistryMetrics } from '../../src/host/registry/metrics.ts'
import { createRowSignerMetrics, declareRowsDiffer } from '../../src/host/row-votes/metrics.ts'
import { createSchemaMetrics } from '../../src/host/schema/schema-sync.ts'
import { createStreamMetrics } from '../../src/host/streams/metrics.ts'
import {
  createEngineMetrics,
  declareViewStates,
} from '../../src/host/views/engine/engine-metrics.ts'
import { createLensMetrics } from '../../src/lens/process/metrics.ts'
import { createP2pMetrics } from '../../src/p2p/limits/metrics.ts'
import { createRegistryMetrics } from '../../src/registry/metrics.ts'
import { openMetrics } from '../../src/service/metrics.ts'
import {
  createReaderMetrics,
  createWriterMetrics,
  declareVolumeMetrics,
} from '../../src/store/disk/metrics.ts'

/** A metric as it is declared. */
export interface DeclaredMetric {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly labels: readonly string[]
  readonly help: string
}

export type MetricsProgram = 'generator' | 'host' | 'operator'

const never = (): number => 0
const graphql = { onHeight: () => () => undefined, onViews: () => () => undefined }

const declarations: Readonly<Record<MetricsProgram, (registry: Registry) => void>> = {
  generator(registry) {
    declareShared(registry)
    createChainMetrics(registry)
    createIngestMetrics(registry)
    createEncodeSeconds(registry)
    createPublisher({ registry } as never)
    declareGauges({ state: never } as never, registry)
  },
  host(registry) {
    declareShared(registry)
    createHostMetrics(registry, {
      head: never,
      lag: never,
      gapBlocks: never,
      standsStillSeconds: never,
      signers: never,
      countedSigners: never,
      siblings: never,
      waitingBlocks: never,
      waitingBytes: never,
    })
    createSchemaMetrics(registry)
    createRegistryMetrics(registry)
    createHostRegistryMetrics(registry, { following: () => null, report: () => null })
    createEngineMetrics(registry)
    declareViewStates(registry, () => [])
    declareFolderMetrics(registry, () => null)
    createLensMetrics(registry)
    createStreamMetrics(registry)
    createRowSignerMetrics(registry)
    createFollowMetrics(registry, never)
    declareRowsDiffer(registry, () => [])
  },
  operator(registry) {
    openRuntimeMetrics(registry)
    declareResourceCounts(registry, [])
    declareUnread(registry, () => [])
  },
}

/** What Generator and Host have alike. */
function declareShared(registry: Registry): void {
  createGraphqlMetrics(registry, { heldBytes: never, planBytes: never })
  openSubscriptions(defaultSubscriptionLimits, { registry, graphql } as never).close()
  createP2pMetrics(registry, {
    peers: never,
    activeStreams: never,
    banned: never,
    bannedAddresses: never,
  })
  createReaderMetrics(registry)
  createWriterMetrics(registry, { bytes: never, blocks: never })
  declareVolumeMetrics(registry, () => null)
}

/** Every metric of a program, in the order of their names. */
export function metricsOf(program: MetricsProgram): DeclaredMetric[] {
  const { registry, close } = openMetrics({ thread: 'main' })
  declarations[program](registry)
  close()
  return registry
    .getMetricsAsArray()
    .filter((metric) => !isOmitted(metric))
    .map(({ name }) => declaredAs(registry, name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Whether it is left out where the metrics of several threads are put together. */
function isOmitted(metric: object): boolean {
  return Reflect.get(metric, 'aggregator') === 'omit'
}

function declaredAs(registry: Registry, name: string): DeclaredMetric {
  const metric = registry.getSingleMetric(name) ?? {}
  const labels: readonly string[] = Reflect.get(metric, 'labelNames') ?? []
  const help = String(Reflect.get(metric, 'help'))
  return { name, type: Reflect.get(metric, 'type'), labels, help }
}

/** Label names by the name under which Prometheus keeps a series. */
type DeclaredSeries = ReadonlyMap<string, readonly string[]>

/** Every series that a dashboard or an alert may ask for. */
export function declaredSeries(): DeclaredSeries {
  const programs: readonly MetricsProgram[] = ['generator', 'host', 'operator']
  return new Map(programs.flatMap((program) => metricsOf(program).flatMap(seriesOf)))
}

function seriesOf({ name, type, labels }: DeclaredMetric): [string, readonly string[]][] {
  if (type !== 'histogram') return [[name, labels]]
  return [
    [`${name}_bucket`, [...labels, 'le']],
    [`${name}_sum`, labels],
    [`${name}_count`, labels],
  ]
}
