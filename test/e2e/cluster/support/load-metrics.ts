/**
 * A fake: a source of metrics of which only the number is made up. It is served by this process behind an
 * APIService, so that a real HorizontalPodAutoscaler reads it by way of the real API server.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { V1APIService } from '@kubernetes/client-node'
import { type Cluster, expectStatus } from './cluster.ts'
import { eventually } from './cluster-resources.ts'
import { testLabel, testLabels } from './leftovers.ts'
import { openReachableServer, type ReachableServer } from './reachable-server.ts'

interface LoadMetrics {
  /** Name of the external metric, in all namespaces. */
  readonly name: string
  /** What it says from now on. */
  set(load: number): void
  /** Takes it away from the cluster: what is registered and does not answer keeps namespaces from going. */
  close(): Promise<void>
}

const groupVersion = 'external.metrics.k8s.io/v1beta1'
const registration = 'v1beta1.external.metrics.k8s.io'
const registrationPath = `/apis/apiregistration.k8s.io/v1/apiservices/${registration}`
const name = 'viewmesh-test-load'

/** Why the metric cannot be served here; null where it can. What a killed test left is no reason. */
export async function reasonAgainstLoadMetrics(cluster: Cluster): Promise<string | null> {
  const { status, body } = await cluster.request('GET', registrationPath)
  if (status === 404 || labelsOf(body)[testLabel] !== undefined) return null
  return `NOT RUN: this cluster has external metrics of its own (APIService ${registration}), which the test would replace`
}

/** Serves it by a Service of this namespace; says 0 at first. */
export async function openLoadMetrics(cluster: Cluster, namespace: string): Promise<LoadMetrics> {
  let load = 0
  const server = await openReachableServer(cluster, (request, response) => {
    answer(request, response, load)
  })
  const close = async (): Promise<void> => {
    try {
      await expectStatus(cluster.request('DELETE', registrationPath), 200)
    } finally {
      server.close()
    }
  }
  await lead(cluster, namespace, server)
  await cluster.apply(registrationPath, apiServiceOf(namespace))
  try {
    await available(cluster)
  } catch (error) {
    await close()
    throw error
  }
  return {
    name,
    set(value) {
      load = value
    },
    close,
  }
}

function answer(request: IncomingMessage, response: ServerResponse, load: number): void {
  const { pathname } = new URL(request.url ?? '/', 'https://metrics')
  const body = answerAt(pathname, load)
  response.writeHead(body === null ? 404 : 200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

function answerAt(path: string, load: number): object | null {
  if (path === `/apis/${groupVersion}`) {
    return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: [] }
  }
  if (!path.startsWith(`/apis/${groupVersion}/namespaces/`) || !path.endsWith(`/${name}`))
    return null
  const timestamp = new Date().toISOString()
  const item = { metricName: name, metricLabels: {}, timestamp, value: String(load) }
  return { kind: 'ExternalMetricValueList', apiVersion: groupVersion, metadata: {}, items: [item] }
}

/** A Service that leads out of the cluster, to this process. */
async function lead(
  cluster: Cluster,
  namespace: string,
  { address, port }: Pick<ReachableServer, 'address' | 'port'>,
): Promise<void> {
  await cluster.apply(`/api/v1/namespaces/${namespace}/services/${name}`, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { ports: [{ name: 'https', port: 443, targetPort: port }] },
  })
  const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`
  await cluster.apply(`${slices}/${name}`, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ name: 'https', port, protocol: 'TCP' }],
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
  })
}

function apiServiceOf(namespace: string): object {
  const [group, version] = groupVersion.split('/')
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: registration, labels: testLabels() },
    spec: {
      group,
      version,
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
      service: { namespace, name, port: 443 },
    },
  }
}

async function available(cluster: Cluster): Promise<void> {
  await eventually(async () => {
    const { body } = await expectStatus(cluster.request('GET', registrationPath), 200)
    const { conditions = [] } = (body.status ?? {}) as NonNullable<V1APIService['status']>
    const found = conditions.find(({ type }) => type === 'Available')
    if (found?.status !== 'True') {
      throw new Error(`the cluster does not reach this process: ${found?.message}`)
    }
  })
}

function labelsOf({ metadata }: { readonly metadata?: object }): Record<string, string> {
  return Reflect.get(metadata ?? {}, 'labels') ?? {}
}
