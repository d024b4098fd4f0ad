/** External addresses of replicas: discovered from Services and nodes, or given in the spec. */
import { ports } from '../../../src/service/contract.ts'
import type { ReasonOf } from '../../api/conditions.ts'
import type { Workload } from '../../api.ts'
import {
  externalAddresses,
  givenAddresses,
  hasIP,
  isPrivate,
} from '../../resources/names/addresses.ts'
import {
  p2pServiceName,
  podName,
  specOrdinals,
  wantedOrdinals,
  wantedReplicas,
} from '../../resources/names/names.ts'
import { p2pExposure } from '../../resources/objects/services.ts'
import type { Ingress } from '../observe/ingress.ts'
import type { KeptPod } from '../observe/pod.ts'
import type { Statement } from '../statements/problem.ts'
import { listed } from '../statements/sentences.ts'
import {
  type ExternalFinding,
  externalHealthStatement,
  isHealthBalanced,
} from './external-health.ts'

/** What external addresses are discovered from. */
interface AddressSources {
  /** By name of the Service. */
  readonly ingress: ReadonlyMap<string, Ingress>
  /** By name of the pod. */
  readonly pods: ReadonlyMap<string, KeptPod>
}

/** By ordinal: the discovered external addresses, as multiaddrs without peer IDs. */
export function discoveredAddresses(resource: Workload, sources: AddressSources): string[][] {
  return specOrdinals(resource).map((ordinal) => {
    const balanced = sources.ingress.get(p2pServiceName(resource, ordinal)) ?? []
    const { type } = p2pExposure(resource)
    const pod = sources.pods.get(podName(resource, ordinal))
    if (type === 'LoadBalancer') return balanced.flatMap(addressOfIngress)
    return pod?.isHostNetwork && pod.hostIP !== null ? [ipAddress(pod.hostIP)] : []
  })
}

/** By ordinal. */
type Addresses = readonly (readonly string[])[]

type AddressStatement = Statement<ReasonOf<'AddressPublished'>>

/** What to report of addresses, given those that `discoveredAddresses` found, and what answers there. */
export function addressStatement(
  resource: Workload,
  discovered: Addresses,
  external: ReadonlyMap<number, ExternalFinding> = new Map(),
): AddressStatement {
  const { type } = p2pExposure(resource)
  if (wantedReplicas(resource) === 0) {
    const kept = resource.spec.suspend
      ? ' Services and addresses are kept while it is suspended.'
      : ''
    return { reason: 'NotNeeded', message: `No pods are wanted.${kept}` }
  }
  const reported = wantedOrdinals(resource).map((ordinal) =>
    externalAddresses(resource, ordinal, discovered),
  )
  if (type === 'LoadBalancer') {
    return (
      balancerProblem(resource, reported) ??
      externalHealthStatement(resource, discovered, external) ?? {
        reason: 'LoadBalancer',
        message: announcedMessage(reported),
      }
    )
  }
  if (type === 'NodePort' && reported.some(isEmpty)) return nodePortStatement(resource, reported)
  if (wantedOrdinals(resource).some((ordinal) => givenAddresses(resource, ordinal).length > 0)) {
    return manualStatement(resource, reported)
  }
  if (resource.spec.podTemplate?.spec?.hostNetwork === true && type !== 'ClusterIP') {
    return machineStatement(resource, discovered)
  }
  return { reason: 'InCluster', message: 'Reached from within the cluster only.' }
}

function machineStatement(resource: Workload, discovered: Addresses): AddressStatement {
  const waiting = unknownOrdinals(discovered)
  if (waiting.length === 0) {
    return {
      reason: 'HostNetwork',
      message: `Those of the machines: ${listed(discovered.flat())}.`,
    }
  }
  const names = waiting.map((ordinal) => podName(resource, ordinal))
  return { reason: 'Pending', message: `Not on a machine yet: ${listed(names)}; see Ready.` }
}

function manualStatement(resource: Workload, reported: Addresses): AddressStatement {
  const names = unknownOrdinals(reported).map((ordinal) => podName(resource, ordinal))
  const rest = names.length === 0 ? '' : ` From within the cluster only: ${listed(names)}.`
  return { reason: 'Manual', message: `${announcedMessage(reported)}${rest}` }
}

/** Null where each replica has an address that works from outside the cluster. */
function balancerProblem(resource: Workload, reported: Addresses): AddressStatement | null {
  const waiting = unknownOrdinals(reported)
  if (waiting.length > 0) {
    const names = waiting.map((ordinal) => p2pServiceName(resource, ordinal))
    return {
      reason: 'Pending',
      message: `No address yet from the load balancer of ${listed(names)}: see whether this cluster has one for Services of type LoadBalancer.`,
    }
  }
  const named = reported.filter((addresses) => !addresses.some(hasIP))
  if (isHealthBalanced(resource) && named.length > 0) return hostnameStatement(named)
  const hidden = reported.filter((addresses) => addresses.every(isPrivate))
  return hidden.length === 0 ? null : privateStatement(resource, hidden.flat())
}

function hostnameStatement(reported: Addresses): AddressStatement {
  const message = `Registry dashboards ask for health by IP address, and there are only names in ${listed(reported.flat())}: give the load balancer fixed IP addresses, mostly by spec.services.p2p.annotations, and write those that it does not report to spec.services.p2p.announce. Where no dashboard asks, set spec.services.p2p.publicHealth to false.`
  return { reason: 'HostnameOnly', message }
}

function privateStatement(resource: Workload, addresses: readonly string[]): AddressStatement {
  const service = resource.kind === 'Generator' ? 'p2p.service' : 'services.p2p'
  const remedy = `ask this cluster for a public load balancer by spec.${service}.annotations, or write the external address to spec.${announceField(resource)}`
  const message = `Private networks only reach ${listed(addresses)}: ${remedy}.`
  return { reason: 'PrivateAddress', message }
}

function nodePortStatement(resource: Workload, reported: Addresses): AddressStatement {
  const names = unknownOrdinals(reported).map((ordinal) => podName(resource, ordinal))
  const message = `A Service of type NodePort does not report the address of the machines: write that of ${listed(names)} to ${announceField(resource)}, or use LoadBalancer.`
  return { reason: 'AddressUnknown', message }
}

function announceField({ kind }: Workload): string {
  return kind === 'Generator' ? 'p2p.announce' : 'services.p2p.announce'
}

function announcedMessage(reported: Addresses): string {
  return `Published to peers: ${listed(reported.flat())}.`
}

function addressOfIngress({ ip, hostname }: Ingress[number]): string[] {
  if (ip !== undefined) return [ipAddress(ip)]
  return hostname === undefined ? [] : [`/dns4/${hostname}/tcp/${ports.p2p}`]
}

function ipAddress(ip: string): string {
  return `/${ip.includes(':') ? 'ip6' : 'ip4'}/${ip}/tcp/${ports.p2p}`
}

/** Replicas of which no address is known. */
function unknownOrdinals(addresses: Addresses): number[] {
  return addresses.flatMap((known, ordinal) => (isEmpty(known) ? [ordinal] : []))
}

function isEmpty(addresses: readonly string[]): boolean {
  return addresses.length === 0
}
