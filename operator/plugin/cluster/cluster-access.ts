/** The cluster that a command is about, found as kubectl finds it: by flags, KUBECONFIG, or the file at home. */
import { KubeConfig, VersionApi } from '@kubernetes/client-node'
import { Registry } from 'prom-client'
import { ServiceError } from '../../../src/errors.ts'
import { openLog } from '../../../src/service/log.ts'
import { readVersion } from '../../../src/service/version.ts'
import { type KubernetesApi, openApi } from '../../runtime/client/api.ts'
import { connectionOf } from '../../runtime/client/connection.ts'
import { openRuntimeMetrics } from '../../runtime/metrics.ts'
import { type ContainerExec, createExec } from './exec.ts'

/** Where a command looks; what is left out is as for kubectl. */
export interface ClusterFlags {
  readonly kubeconfig?: string
  readonly context?: string
  readonly namespace?: string
}

/** What commands ask of a cluster. */
export interface ClusterAccess {
  readonly api: KubernetesApi
  readonly exec: ContainerExec
  /** Of Kubernetes, such as v1.34.1. */
  serverVersion(): Promise<string>
  /** Of the flag, or of the context. */
  readonly namespace: string
  close(): Promise<void>
}

/** Owner of the fields that the plugin writes. */
const fieldManager = 'kubectl-viewmesh'

/** Opens no connection yet. Throws OPERATOR_CONNECTION_MISSING where no cluster is named. */
export async function openClusterAccess(flags: ClusterFlags): Promise<ClusterAccess> {
  const config = loadConfig(flags)
  const source = flags.kubeconfig ?? 'the kubeconfig'
  const proxy = config.getCurrentCluster()?.proxyUrl
  if (proxy !== undefined) throw noProxy(source)
  const connection = await connectionOf(config, source)
  const api = openApi(
    { fieldManager, userAgent: `${fieldManager}/${readVersion()}` },
    {
      connection,
      log: openLog({ name: fieldManager, level: 'error' }),
      metrics: openRuntimeMetrics(new Registry()),
    },
  )
  return {
    api,
    exec: createExec(config),
    serverVersion: async () => (await config.makeApiClient(VersionApi).getCode()).gitVersion,
    namespace: flags.namespace ?? connection.namespace,
    close: () => api.close(),
  }
}

function loadConfig({ kubeconfig, context }: ClusterFlags): KubeConfig {
  const config = new KubeConfig()
  try {
    if (kubeconfig === undefined) config.loadFromDefault()
    else config.loadFromFile(kubeconfig)
  } catch (cause) {
    throw new ServiceError('OPERATOR_CONNECTION_MISSING', 'the kubeconfig cannot be read', {
      remedy: 'Name a file that kubectl reads, with --kubeconfig or KUBECONFIG.',
      cause,
    })
  }
  if (context === undefined) return config
  if (config.getContextObject(context) === null) {
    throw new ServiceError('OPERATOR_CONNECTION_MISSING', `there is no context ${context}`, {
      remedy: 'Choose one of kubectl config get-contexts.',
    })
  }
  config.setCurrentContext(context)
  return config
}

function noProxy(source: string): ServiceError {
  return new ServiceError(
    'OPERATOR_CONNECTION_MISSING',
    `${source} has a proxy-url, and a proxy is not supported`,
    {
      remedy:
        'Use a context that reaches the API server without a proxy, such as one of kubectl proxy.',
    },
  )
}
