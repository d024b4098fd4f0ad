/** Our side of the stand-in for the API server. */
import { Registry } from 'prom-client'
import {
  type ApiOptions,
  type KubernetesApi,
  openApi,
} from '../../../operator/runtime/client/api.ts'
import type { Connection } from '../../../operator/runtime/client/connection.ts'
import type { WriteGuard } from '../../../operator/runtime/client/requests.ts'
import { openRuntimeMetrics, type RuntimeMetrics } from '../../../operator/runtime/metrics.ts'
import { type CapturedLog, captureLog } from '../../support/captured-log.ts'
import type { KubernetesServer } from './kubernetes-server.ts'

export interface Client {
  readonly api: KubernetesApi
  readonly log: CapturedLog
  readonly metrics: RuntimeMetrics
  readonly registry: Registry
}

export interface ClientOptions extends Partial<ApiOptions> {
  readonly guards?: readonly WriteGuard[]
  readonly connection?: Partial<Connection>
}

/** Our side of it. */
export function openClient(
  server: Pick<KubernetesServer, 'url'>,
  options: ClientOptions = {},
): Client {
  const log = captureLog()
  const registry = new Registry()
  const metrics = openRuntimeMetrics(registry)
  const connection: Connection = {
    server: server.url,
    tls: {},
    namespace: 'apps',
    authorization: async () => null,
    forgetAuthorization: () => undefined,
    ...options.connection,
  }
  const api = openApi(
    { fieldManager: 'tester', userAgent: 'tester/1', ...options },
    { connection, log: log.log, metrics, guards: options.guards ?? [] },
  )
  return { api, log, metrics, registry }
}
