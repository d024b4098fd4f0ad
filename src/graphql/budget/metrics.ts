/** What this room counts. */
import { Counter, Histogram, type Registry } from 'prom-client'
import { declareScrapedGauge } from '../../scraped-gauge.ts'
import type { Usage } from './query-budget.ts'

/** How a request ended. */
export type RequestOutcome = 'ok' | 'refused' | 'failed'

/** The room's metrics. */
interface GraphqlMetrics {
  /** Counts a finished request. */
  finish(outcome: RequestOutcome, usage: Usage): void
  planned(from: 'cache' | 'text'): void
  /** Counts a request for which there was no memory. */
  busy(): void
  /** Counts a client that was disconnected because it read too slowly. */
  cutOff(): void
}

/** Values that are read at each scrape. */
interface GraphqlGauges {
  heldBytes(): number
  planBytes(): number
}

/** Declares the metrics. */
export function createGraphqlMetrics(registry: Registry, gauges: GraphqlGauges): GraphqlMetrics {
  const registers = [registry]
  declareScrapedGauge(registry, {
    name: 'viewmesh_graphql_held_bytes',
    help: 'Bytes that GraphQL requests hold: what they sent, what is kept to answer them, and unread answers.',
    read: gauges.heldBytes,
  })
  declareScrapedGauge(registry, {
    name: 'viewmesh_graphql_plan_bytes',
    help: 'Bytes that kept GraphQL queries and their plans take, roughly.',
    read: gauges.planBytes,
  })
  const requests = new Counter({
    name: 'viewmesh_graphql_requests_total',
    help: 'Finished GraphQL requests by outcome: ok, refused (invalid or beyond a limit), failed.',
    labelNames: ['outcome'] as const,
    registers,
  })
  const duration = new Histogram({
    name: 'viewmesh_graphql_request_duration_seconds',
    help: 'Seconds from a GraphQL request to its answer, waiting for other requests included.',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
    registers,
  })
  const rows = new Counter({
    name: 'viewmesh_graphql_rows_total',
    help: 'Documents in the lists of GraphQL answers.',
    registers,
  })
  const documents = new Counter({
    name: 'viewmesh_graphql_documents_total',
    help: 'Documents that GraphQL requests read.',
    registers,
  })
  const plans = new Counter({
    name: 'viewmesh_graphql_plans_total',
    help: 'GraphQL query texts by where their plan came from: cache, or text (parsed and compiled).',
    labelNames: ['from'] as const,
    registers,
  })
  const busy = new Counter({
    name: 'viewmesh_graphql_busy_total',
    help: 'GraphQL requests that were refused because others held too much memory.',
    registers,
  })
  const slowReaders = new Counter({
    name: 'viewmesh_graphql_slow_readers_total',
    help: 'Clients that were cut off because they read their GraphQL answers too slowly.',
    registers,
  })
  return {
    busy: () => busy.inc(),
    cutOff: () => slowReaders.inc(),
    finish(outcome, usage) {
      requests.inc({ outcome })
      duration.observe(usage.elapsedMs / 1_000)
      rows.inc(usage.rows)
      documents.inc(usage.cost)
    },
    planned: (from) => plans.inc({ from }),
  }
}
