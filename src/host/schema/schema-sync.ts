/**
 * Keeps our schema compared with a Generator's. Ours is embedded and always the one that is
 * served, with its own indexes; what differs, and a Generator that refuses our token, is reported in
 * the log, in metrics and in `/health`.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import { Counter, Gauge, type Registry } from 'prom-client'
import { ServiceError } from '../../errors.ts'
import { backoffMs } from '../../primitives/backoff.ts'
import { schemaSdl } from '../../primitives/sdl.ts'
import type { SchemaState } from '../../service/contract.ts'
import { readSecretFile } from '../../service/settings/secret-file.ts'
import {
  type FetchedSchema,
  fetchSchema,
  type SchemaSource,
  schemaDifferences,
} from './schema-client.ts'

export interface SchemaSyncOptions {
  /** Null keeps the embedded schema without asking anybody. */
  readonly source: SchemaSource | null
  /** Where the token came from: it is read again before each attempt. None by default. */
  readonly tokenFile?: string | undefined
  /** Default 5,000; doubles with each failure up to a minute. */
  readonly retryMs?: number
  /** Pause after an answer: keys and schemas change while a Host runs. Default 300,000. */
  readonly recheckMs?: number
  /** How long a Generator may be out of reach before that is a failure. Default 60,000. */
  readonly lastingMs?: number
}

interface SchemaSyncParts {
  readonly log: Logger
  readonly registry: Registry
  /** Ends the first attempt; the call then throws its reason. */
  readonly signal: AbortSignal
}

interface SchemaReport {
  readonly state: SchemaState
  /** One sentence a field, the first 50. */
  readonly differing: readonly string[]
}

export interface SchemaSync {
  /** The Generator's prefix where an attempt has succeeded, else null. */
  fetchedNetwork(): string | null
  /** Resolves with the Generator's prefix as soon as it is known; rejects when this is closed. */
  awaitNetwork(): Promise<string>
  /** Says which network this Host runs; from then on the report compares with it. */
  use(network: string): void
  report(): SchemaReport
  /** Why the last attempt failed: HOST_SCHEMA_UNAUTHORIZED at once, anything else when it has lasted. */
  failure(): ServiceError | null
  close(): Promise<void>
}

const maxRetryMs = 60_000
const maxReported = 50

/**
 * Asks once, and goes on asking in the background: soon where there was no schema, else now and then.
 * Never throws for what the Generator answers.
 */
export async function openSchemaSync(
  options: SchemaSyncOptions,
  parts: SchemaSyncParts,
): Promise<SchemaSync> {
  const { source, recheckMs = 300_000 } = options
  const { log } = parts
  const metrics = createSchemaMetrics(parts.registry)
  const closing = new AbortController()
  const signal = AbortSignal.any([closing.signal, parts.signal])
  let fetched: FetchedSchema | null = null
  let network: string | null = null
  let report: SchemaReport = { state: 'embedded', differing: [] }
  let failure: ServiceError | null = null
  let failingSinceMs = 0
  const known = Promise.withResolvers<string>()
  known.promise.catch(() => undefined)
  signal.addEventListener('abort', () => known.reject(signal.reason))

  const compare = (): void => {
    if (fetched === null || network === null) return
    const differing = schemaDifferences(fetched, network, schemaSdl(network))
    metrics.differing.set(differing.length)
    const next: SchemaReport = {
      state: differing.length === 0 ? 'current' : 'different',
      differing: differing.slice(0, maxReported),
    }
    if (isDeepStrictEqual(next, report)) return
    report = next
    if (differing.length === 0) log.info({ network }, 'schema equals the Generator’s')
    else log.warn({ differing: report.differing }, 'schema differs from the Generator’s')
  }

  const attempt = async (from: SchemaSource): Promise<void> => {
    try {
      fetched = await fetchSchema({ ...from, token: tokenOf(from, options.tokenFile) }, signal)
      metrics.fetches.inc({ result: 'fetched' })
      failure = null
      known.resolve(fetched.network)
      compare()
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const { message, remedy, code } = error
      metrics.fetches.inc({ result: code })
      const level = code === failure?.code ? 'debug' : 'warn'
      if (failure === null) failingSinceMs = performance.now()
      failure = error
      log[level]({ code, cause: message, remedy }, 'schema fetch failed, using embedded schema')
    }
  }

  const goOn = async (from: SchemaSource): Promise<never> => {
    const backoff = { minMs: options.retryMs ?? 5_000, maxMs: maxRetryMs }
    for (let failures = 0; ; await attempt(from)) {
      failures = failure === null ? 0 : failures + 1
      const waitMs = failure === null ? recheckMs : backoffMs(backoff, failures, Math.random())
      await delay(waitMs, undefined, { signal, ref: false })
    }
  }

  if (source !== null) await attempt(source)
  const asking = source === null ? Promise.resolve() : goOn(source).catch(ignoreAbort)

  return {
    fetchedNetwork: () => fetched?.network ?? null,
    awaitNetwork: () => known.promise,
    use: (own) => {
      network = own
      compare()
    },
    report: () => report,
    failure: () => {
      const isLasting = performance.now() - failingSinceMs >= (options.lastingMs ?? 60_000)
      return failure?.code !== 'HOST_SCHEMA_UNREACHABLE' || isLasting ? failure : null
    },
    close: async () => {
      closing.abort()
      await asking
    },
  }
}

/** What the file holds now; while it cannot be read, what it held when the Host started. */
function tokenOf({ token }: SchemaSource, file: string | undefined): string | null {
  if (file === undefined) return token
  return readSecretFile('GENERATOR_SCHEMA_AUTH_TOKEN_FILE', file).value ?? token
}

function ignoreAbort(error: unknown): void {
  if (!(error instanceof Error && error.name === 'AbortError')) throw error
}

/** What fetching a Generator’s schema counts. */
interface SchemaMetrics {
  readonly fetches: Counter<'result'>
  readonly differing: Gauge
}

/** Declares the metrics in `registry`. */
export function createSchemaMetrics(registry: Registry): SchemaMetrics {
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
