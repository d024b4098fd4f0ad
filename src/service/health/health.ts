/**
 * The health server: opened before anything else, `/health` returns 503 until the program is open, and `/ready` until it
 * has data as well. The Generator's schema endpoints are routes on it. A second address, if configured, serves the same
 * `/health` and nothing else, so that it can be public.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Logger } from 'pino'
import { environment, type ProgramName, paths } from '../contract.ts'
import type { Metrics } from '../metrics.ts'
import type { Address } from '../settings/setting-kinds.ts'
import {
  type Counters,
  type HealthState,
  type ReportContext,
  toHealthReport,
  toMetricsJson,
  toReadyReport,
} from './health-report.ts'
import { type HttpServer, openHttpServer } from './http-server.ts'

interface HealthServerOptions {
  readonly address: Address
  /** Where `/health` alone is served as well; null for nowhere. */
  readonly publicAddress: Address | null
  readonly program: ProgramName
  readonly version: string
}

interface HealthServerParts {
  readonly log: Logger
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>
  readonly state: () => HealthState
  /** Counters of the JSON form of `/metrics`. */
  readonly counters?: () => Counters
  /** Further routes of this port. */
  readonly routes?: (server: FastifyInstance) => void | Promise<void>
}

interface HealthServer extends HttpServer {
  /** The bound port with `/health` alone; null where none is configured. */
  readonly publicPort: number | null
}

/** Listens on the health port, and on the public one if there is one. Throws SERVICE_PORT_UNAVAILABLE. */
export async function openHealthServer(
  options: HealthServerOptions,
  parts: HealthServerParts,
): Promise<HealthServer> {
  const startedMs = Date.now()
  const context = (): ReportContext => ({
    program: options.program,
    version: options.version,
    startedMs,
    nowMs: Date.now(),
  })
  const healthRoute = (server: FastifyInstance): void => {
    server.get(paths.health, (_request, reply) => {
      const report = toHealthReport(parts.state(), context())
      return uncached(reply)
        .code(report.status === 'healthy' ? 200 : 503)
        .send(report)
    })
  }
  const routes = async (server: FastifyInstance): Promise<void> => {
    healthRoute(server)
    server.get(paths.ready, (_request, reply) => {
      const report = toReadyReport(parts.state())
      return uncached(reply)
        .code(report.ready ? 200 : 503)
        .send(report)
    })
    server.get(paths.metrics, async (request, reply) => {
      if (wantsJson(request.headers.accept)) {
        return uncached(reply).send(
          toMetricsJson(parts.state(), parts.counters?.() ?? {}, context()),
        )
      }
      return uncached(reply)
        .type(parts.metrics.contentType)
        .send(await parts.metrics.text())
    })
    server.get('/', (_request, reply) =>
      uncached(reply).send({
        service: `viewmesh ${options.program}`,
        version: options.version,
        status: 'running',
        timestamp: new Date().toISOString(),
        endpoints: [paths.health, paths.ready, paths.metrics, ...further],
      }),
    )
    const further: string[] = []
    server.addHook('onRoute', ({ url, method }) => {
      if (method === 'GET') further.push(url)
    })
    await parts.routes?.(server)
  }
  const { address, publicAddress } = options
  const { log } = parts
  const inner = await openHttpServer({ address, setting: 'HEALTH_ADDR' }, { log, routes })
  if (publicAddress === null) return { ...inner, publicPort: null }
  const outer = await openHttpServer(
    { address: publicAddress, setting: environment.publicHealthAddress },
    { log, routes: healthRoute },
  ).catch(async (error: unknown) => {
    await inner.close()
    throw error
  })
  const close = async (): Promise<void> => {
    await Promise.all([inner.close(), outer.close()])
  }
  return { port: inner.port, publicPort: outer.port, close }
}

function uncached(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-cache')
}

function wantsJson(accept: string | undefined): boolean {
  return accept?.includes('application/json') === true
}
