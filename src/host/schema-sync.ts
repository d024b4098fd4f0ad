/**
 * Keeps our schema compared with a Generator's. Ours is embedded and always the one that is
 * served, with its own indexes; what differs is told in the log, in metrics and in `/health`.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Counter, Gauge, type Registry } from 'prom-client'
import { ServiceError } from '../errors.ts'
import { schemaSdl } from '../primitives/sdl.ts'
import type { SchemaState } from '../service/contract.ts'
import {
  type FetchedSchema,
  fetchSchema,
  type SchemaSource,
  schemaDifferences,
} from './schema-client.ts'

export interface SchemaSyncOptions {
  /** Null keeps the embedded schema without asking anybody. */
  readonly source: SchemaSource | null
  /** Default 5,000; doubles with each failure up to a minute. */
  readonly retryMs?: number
}

export interface SchemaSyncParts {
  readonly log: Logger
  readonly registry: Registry
  /** Ends the first attempt; the call then throws its reason. */
  readonly signal: AbortSignal
}

export interface SchemaReport {
  readonly state: SchemaState
  /** One sentence a field, the first 50. */
  readonly differing: readonly string[]
}

export interface SchemaSync {
  /** The Generator's prefix where the first attempt succeeded, else null. */
  readonly fetchedNetwork: string | null
  /** Says which network this Host runs; from then on the report compares with it. */
  use(network: string): void
  report(): SchemaReport
  close(): Promise<void>
}

const maxRetryMs = 60_000
const maxReported = 50

/** Asks once, and goes on asking in the background until the Generator answers. Never throws for what it answers. */
export async function openSchemaSync(
  options: SchemaSyncOptions,
  parts: SchemaSyncParts,
): Promise<SchemaSync> {
  const { source } = options
  const { log } = parts
  const metrics = createMetrics(parts.registry)
  const closing = new AbortController()
  const signal = AbortSignal.any([closing.signal, parts.signal])
  let fetched: FetchedSchema | null = null
  let network: string | null = null
  let report: SchemaReport = { state: 'embedded', differing: [] }
  let lastCode: string | null = null

  const compare = (): void => {
    if (fetched === null || network === null) return
    const differing = schemaDifferences(fetched, network, schemaSdl(network))
    metrics.differing.set(differing.length)
    report = {
      state: differing.length === 0 ? 'current' : 'different',
      differing: differing.slice(0, maxReported),
    }
    if (differing.length === 0) log.info({ network }, 'schema equals the Generator’s')
    else log.warn({ differing: report.differing }, 'schema differs from the Generator’s')
  }

  const attempt = async (from: SchemaSource): Promise<boolean> => {
    try {
      fetched = await fetchSchema(from, signal)
      metrics.fetches.inc({ result: 'fetched' })
      return true
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      metrics.fetches.inc({ result: error.code })
      const { message, remedy, code } = error
      const level = code === lastCode ? 'debug' : 'warn'
      lastCode = code
      log[level]({ code, cause: message, remedy }, 'schema fetch failed, using embedded schema')
      return false
    }
  }

  const retry = async (from: SchemaSource): Promise<void> => {
    let waitMs = options.retryMs ?? 5_000
    do {
      await delay(waitMs, undefined, { signal, ref: false })
      waitMs = Math.min(maxRetryMs, waitMs * 2)
    } while (!(await attempt(from)))
    compare()
  }

  const isFetched = source === null || (await attempt(source))
  const retrying = isFetched ? Promise.resolve() : retry(source).catch(ignoreAbort)

  return {
    fetchedNetwork: fetched === null ? null : (fetched as FetchedSchema).network,
    use: (own) => {
      network = own
      compare()
    },
    report: () => report,
    close: async () => {
      closing.abort()
      await retrying
    },
  }
}

function ignoreAbort(error: unknown): void {
  if (!(error instanceof Error && error.name === 'AbortError')) throw error
}

interface SchemaMetrics {
  readonly fetches: Counter<'result'>
  readonly differing: Gauge
}

function createMetrics(registry: Registry): SchemaMetrics {
  return {
    fetches: new Counter({
      name: 'viewmesh_host_schema_fetches_total',
      help: 'Requests for the Generator’s schema, by result: fetched, or an error code.',
      labelNames: ['result'],
      registers: [registry],
    }),
    differing: new Gauge({
      name: 'viewmesh_host_schema_differing_fields',
      help: 'Fields in which our schema and the Generator’s differ; 0 also while it is unknown.',
      registers: [registry],
    }),
  }
}
