/** The programs in this process, to compare what pages say of them with what they serve. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { openOperator } from '../../../operator/operator.ts'
import { operatorSettings } from '../../../operator/settings.ts'
import type { Closeable } from '../../../src/service/run.ts'
import { loadSettings } from '../../../src/service/settings/settings.ts'
import { captureLog } from '../../support/captured-log.ts'
import { startAnvil } from '../../support/chain/anvil.ts'
import { openGeneratorInProcess } from '../../support/generator-in-process.ts'
import { openHostInProcess } from '../../support/host-in-process.ts'
import { testDirectory } from '../../support/test-store.ts'

/** One HTTP server of a program. */
export interface Server {
  readonly url: string
  /** `GET /health`, without HEAD, which is wherever GET is. */
  readonly routes: readonly string[]
}

const anywhere = '127.0.0.1:0'
const account = `0x${'11'.repeat(20)}`

/** Everything that a Generator serves once it runs. */
export async function serversOfGenerator(t: TestContext): Promise<Server[]> {
  const seen = watchServers(t)
  const anvil = await startAnvil()
  t.after(() => anvil.close())
  const generator = await openGeneratorInProcess(t, testDirectory(t), {
    NODE_RPC_URL: anvil.url,
    SCHEMA_API_KEYS: 'key',
    REGISTRATION_ADDRESS: account,
    HEALTH_PUBLIC_ADDR: anywhere,
  })
  await generator.reports(({ status }) => status === 'healthy')
  return seen()
}

/** Everything that a Host serves once it runs. */
export async function serversOfHost(t: TestContext): Promise<Server[]> {
  const seen = watchServers(t)
  const host = await openHostInProcess(t, testDirectory(t), {
    HEALTH_PUBLIC_ADDR: anywhere,
    HOST_ADMIN_TOKEN: 'key',
    REGISTRATION_ADDRESS: account,
    MAX_VIEWS: '1',
  })
  await host.opened
  return seen()
}

/** Everything that the operator serves; it finds no cluster and serves all the same. */
export async function serversOfOperator(t: TestContext): Promise<Server[]> {
  const seen = watchServers(t)
  const owned: Closeable[] = []
  t.after(async () => {
    for (let part = owned.pop(); part !== undefined; part = owned.pop()) await part.close()
  })
  const settings = loadSettings(operatorSettings, {
    argv: [],
    env: {
      GENERATOR_IMAGE: 'generator:1',
      HOST_IMAGE: 'host:1',
      HEALTH_ADDR: anywhere,
      METRICS_ADDR: anywhere,
      SERVICE_ACCOUNT_DIR: join(testDirectory(t), 'none'),
    },
  })
  const running = {
    signal: new AbortController().signal,
    fail: () => undefined,
    own<T extends Closeable>(_name: string, part: T): T {
      owned.push(part)
      return part
    },
  }
  const service = { host: null, port: null }
  const { log } = captureLog()
  const opening = openOperator(settings, { log, running, service, guards: [] } as never)
  await opening.catch((error: { readonly code?: string }) => {
    if (error.code !== 'OPERATOR_CONNECTION_MISSING') throw error
  })
  return seen()
}

/** Notes the servers that are made from now on; the function that is returned tells them. */
function watchServers(t: TestContext): () => Server[] {
  const made: { readonly server: FastifyInstance; readonly routes: Set<string> }[] = []
  const note = (message: unknown): void => {
    const { fastify: server } = message as { readonly fastify: FastifyInstance }
    const routes = new Set<string>()
    made.push({ server, routes })
    server.addHook('onRoute', ({ method, url }) => {
      for (const one of [method].flat()) if (one !== 'HEAD') routes.add(`${one} ${url}`)
    })
  }
  subscribe('fastify.initialization', note)
  t.after(() => unsubscribe('fastify.initialization', note))
  return () =>
    made.map(({ server, routes }) => {
      const { port } = server.addresses()[0] as AddressInfo
      return { url: `http://127.0.0.1:${port}`, routes: [...routes] }
    })
}
