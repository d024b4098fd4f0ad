/**
 * A fake: a source of metrics of which only the number is made up. It is served by this process behind an
 * APIService, so that a real HorizontalPodAutoscaler reads it by way of the real API server.
 */
import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { V1APIService, V1Node } from '@kubernetes/client-node'
import { type Cluster, expectStatus } from './cluster.ts'
import { eventually } from './cluster-resources.ts'

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
const label = 'viewmesh.io/test'
const name = 'viewmesh-test-load'

/** Why the metric cannot be served here; null where it can. What a killed test left is no reason. */
export async function reasonAgainstLoadMetrics(cluster: Cluster): Promise<string | null> {
  const { status, body } = await cluster.request('GET', registrationPath)
  if (status === 404 || labelsOf(body)[label] !== undefined) return null
  return `NOT RUN: this cluster has external metrics of its own (APIService ${registration}), which the test would replace`
}

/** Serves it by a Service of this namespace; says 0 at first. */
export async function openLoadMetrics(cluster: Cluster, namespace: string): Promise<LoadMetrics> {
  let load = 0
  const pem = makeCertificate()
  const server = createServer({ key: pem, cert: pem }, (request, response) => {
    answer(request, response, load)
  })
  const close = async (): Promise<void> => {
    try {
      await expectStatus(cluster.request('DELETE', registrationPath), 200)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }
  const address = await addressTowards(await nodeAddress(cluster))
  server.listen(0, address)
  await once(server, 'listening')
  await lead(cluster, namespace, { address, port: portOf(server) })
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
  { address, port }: { readonly address: string; readonly port: number },
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
    metadata: { name: registration, labels: { [label]: 'load-metrics' } },
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

/** The address of any machine of the cluster. */
async function nodeAddress(cluster: Cluster): Promise<string> {
  const { body } = await expectStatus(cluster.request('GET', '/api/v1/nodes'), 200)
  const { items = [] } = body as { readonly items?: readonly V1Node[] }
  const addresses = items.flatMap(({ status }) => status?.addresses ?? [])
  const found = addresses.find(({ type }) => type === 'InternalIP')
  if (found === undefined) throw new Error('no machine of the cluster has an address')
  return found.address
}

/** Ours, as that machine sees it; nothing is sent. */
async function addressTowards(address: string): Promise<string> {
  const socket = createSocket('udp4')
  socket.connect(9, address)
  await once(socket, 'connect')
  const own = socket.address().address
  socket.close()
  return own
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

/** Key and certificate in one text; nobody checks who signed it. */
function makeCertificate(): string {
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc', '-days', '1']
  const out = ['-subj', '/CN=load', '-keyout', '-', '-out', '-']
  return execFileSync('openssl', ['req', '-x509', ...kind, ...out], { encoding: 'utf8' })
}

function labelsOf({ metadata }: { readonly metadata?: object }): Record<string, string> {
  return Reflect.get(metadata ?? {}, 'labels') ?? {}
}
