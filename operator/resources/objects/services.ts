/** The Services of a resource. */
import type { V1Service, V1ServicePort, V1ServiceSpec } from '@kubernetes/client-node'
import { ports } from '../../../src/service/contract.ts'
import { labels } from '../../api/annotations.ts'
import type { Generator, Host, Workload } from '../../api.ts'
import { childMetadata, selectorLabels } from '../names/metadata.ts'
import { childNames, p2pServiceName, specOrdinals } from '../names/names.ts'

type PortName = keyof typeof ports

/** Gives pods names and addresses; also before they are ready, since peers are what makes them ready. */
export function nodesService(resource: Workload): V1Service {
  return service(resource, childNames(resource).nodes, {
    clusterIP: 'None',
    publishNotReadyAddresses: true,
    selector: selectorLabels(resource),
    ports: portsOf('p2p', 'health'),
  })
}

/**
 * Answers from the ready pods: GraphQL, a Host's playground, health and a Generator's schema. Health
 * also shows metrics, so it stays inside the cluster: outside there is the API alone.
 */
export function apiService(resource: Workload): V1Service {
  const isHost = resource.kind === 'Host'
  const { type, annotations } = isHost
    ? resource.spec.services.api
    : { type: 'ClusterIP', annotations: undefined }
  const shown: PortName[] = isHost ? ['api', 'playground'] : ['api']
  const spec: V1ServiceSpec = {
    type,
    selector: selectorLabels(resource),
    ports: portsOf(...shown, ...(type === 'ClusterIP' ? (['health'] as const) : [])),
  }
  return service(resource, childNames(resource).base, spec, annotations)
}

/**
 * Show each replica's peer-to-peer port at an address of its own; none where the spec says None. Health
 * is the port of that name there, whichever port of the pod of an ordinal answers it to everybody.
 */
export function p2pServices(
  resource: Workload,
  publicHealth: (ordinal: number) => number,
): V1Service[] {
  const { type } = p2pExposure(resource)
  if (type === 'None') return []
  return specOrdinals(resource).map((ordinal) =>
    p2pService(resource, ordinal, publicHealth(ordinal)),
  )
}

/** Stands in front of pods that a Generator's `podSelector` selects; null for other upstreams. */
export function upstreamService(generator: Generator): V1Service | null {
  const { podSelector } = generator.spec.upstream
  if (podSelector === undefined) return null
  const { matchLabels, httpPort, wsPort } = podSelector
  const hasSecondPort = wsPort !== undefined && wsPort !== httpPort
  return service(generator, childNames(generator).upstream, {
    type: 'ClusterIP',
    selector: { ...matchLabels },
    ports: [
      { name: 'http', port: httpPort, targetPort: httpPort, protocol: 'TCP' },
      ...(hasSecondPort ? [{ name: 'ws', port: wsPort, targetPort: wsPort, protocol: 'TCP' }] : []),
    ],
  })
}

interface P2pExposure {
  readonly type: 'None' | 'ClusterIP' | 'NodePort' | 'LoadBalancer'
  readonly annotations?: Readonly<Record<string, string>>
  readonly loadBalancerClass?: string
  readonly nodePort?: number
  readonly publicHealth: boolean
}

/** How the spec shows the peer-to-peer port; dashboards ask Hosts for their health, not Generators. */
export function p2pExposure(resource: Generator | Host): P2pExposure {
  return resource.kind === 'Generator'
    ? { ...resource.spec.p2p.service, publicHealth: false }
    : resource.spec.services.p2p
}

/** `Local` keeps a load balancer's traffic and health checks on the machine that has the one pod. */
function p2pService(resource: Workload, ordinal: number, healthPort: number): V1Service {
  const { type, annotations, loadBalancerClass, nodePort, publicHealth } = p2pExposure(resource)
  const spec: V1ServiceSpec = {
    type,
    ...(type === 'LoadBalancer' ? { externalTrafficPolicy: 'Local' } : {}),
    ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }),
    publishNotReadyAddresses: true,
    selector: { ...selectorLabels(resource), [labels.podIndex]: String(ordinal) },
    ports: [
      { ...portOf('p2p'), ...(nodePort === undefined ? {} : { nodePort }) },
      ...(publicHealth ? [{ ...portOf('health'), targetPort: healthPort }] : []),
    ],
  }
  return service(resource, p2pServiceName(resource, ordinal), spec, annotations)
}

function service(
  resource: Workload,
  name: string,
  spec: V1ServiceSpec,
  annotations?: Readonly<Record<string, string>>,
): V1Service {
  const metadata = childMetadata(resource, name, { annotations })
  return { apiVersion: 'v1', kind: 'Service', metadata, spec }
}

function portsOf(...names: readonly PortName[]): V1ServicePort[] {
  return names.map(portOf)
}

function portOf(name: PortName): V1ServicePort {
  return { name, port: ports[name], targetPort: ports[name], protocol: 'TCP' }
}
